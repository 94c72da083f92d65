#include <fmt/format.h>

#include <cmath>
#include <set>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;
using rods::CrossSection;

const Wanted wanted_turn{files::dimensions::angle, limits::rotation, true};

/// One number for every element, or an array of one number an element.
std::vector<double> read_per_element(ReaderContext& context, const TomlNode& node, const std::string& path,
                                     std::size_t elements, const Wanted& wanted) {
  if (!node.is(TomlNode::Kind::array)) return std::vector<double>(elements, read_number(context, node, path, wanted));
  if (node.items.size() != elements) {
    context.fail(
        node, fmt::format("{} is {}; expected one value, or {}, one for each element", path, describe(node), elements));
  }
  std::vector<double> out;
  out.reserve(elements);
  for (std::size_t i = 0; i < elements; ++i)
    out.push_back(read_number(context, node.items[i], fmt::format("{}[{}]", path, i), wanted));
  return out;
}

/// Nodal values of what is given by element: the neighbours' mean, weighted by length.
std::vector<Vector3> at_nodes(const std::vector<Vector3>& by_element, const std::vector<double>& lengths) {
  std::vector<Vector3> out{by_element.front()};
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    out.push_back((lengths[i - 1] * by_element[i - 1] + lengths[i] * by_element[i]) / (lengths[i - 1] + lengths[i]));
  }
  out.push_back(by_element.back());
  return out;
}

std::vector<Vector3> at_elements(const std::vector<Vector3>& by_node) {
  std::vector<Vector3> out;
  for (std::size_t i = 0; i + 1 < by_node.size(); ++i) out.push_back(0.5 * (by_node[i] + by_node[i + 1]));
  return out;
}

/// One number (k2), one triplet (twist, k1, k2), or an array of triplets, one for each element or for each node; as
/// many as the model has.
std::vector<Vector3> read_curvatures(ReaderContext& context, const TomlNode& node, const std::string& path,
                                     const scene::FibreGroup& group, const Wanted& wanted) {
  const std::size_t elements = group.element_lengths.size();
  const std::size_t count = scene::curvature_count(group.model, elements);
  if (!node.is(TomlNode::Kind::array))
    return std::vector<Vector3>(count, Vector3(0.0, 0.0, read_number(context, node, path, wanted)));
  if (node.items.empty() || !node.items.front().is(TomlNode::Kind::array)) {
    if (node.items.size() != 3) {
      context.fail(
          node, fmt::format("{} is {}; expected one number (k2), a triplet [twist, k1, k2], or an array of {} triplets",
                            path, describe(node), elements));
    }
    return std::vector<Vector3>(count, read_vector(context, node, path, wanted));
  }
  const std::size_t given = node.items.size();
  if (given != elements && given != elements + 1) {
    context.fail(node,
                 fmt::format("{} is {}; expected {} triplets [twist, k1, k2], one for each element, or {}, one for "
                             "each node",
                             path, describe(node), elements, elements + 1));
  }
  std::vector<Vector3> out;
  out.reserve(given);
  for (std::size_t i = 0; i < given; ++i)
    out.push_back(read_vector(context, node.items[i], fmt::format("{}[{}]", path, i), wanted));
  if (given == count) return out;
  return given == elements ? at_nodes(out, group.element_lengths) : at_elements(out);
}

/// A geometric progression that sums to `length`, the last `grading` times the first.
std::vector<double> graded_lengths(int elements, double length, double grading) {
  std::vector<double> out(static_cast<std::size_t>(elements), length / elements);
  if (grading == 1.0 || elements == 1) return out;
  double sum = 0.0;
  for (int i = 0; i < elements; ++i)
    sum += out[static_cast<std::size_t>(i)] = std::pow(grading, static_cast<double>(i) / (elements - 1));
  for (double& l : out) l *= length / sum;
  return out;
}

std::vector<double> read_element_lengths(const TableReader& table) {
  table.exclusive("element_lengths", {"length", "grading"});
  int elements = 0;
  table.read("elements", elements, 1, limits::elements);
  if (const TomlNode* lengths = table.find("element_lengths")) {
    if (!lengths->is(TomlNode::Kind::array) || lengths->items.empty() || lengths->items.size() > limits::elements) {
      table.fail("element_lengths",
                 fmt::format("is {}; expected an array of 1 to {} lengths", describe(*lengths), limits::elements));
    }
    if (elements != 0 && lengths->items.size() != static_cast<std::size_t>(elements)) {
      table.fail("elements",
                 fmt::format("is {}; expected {}, as many as element_lengths has", elements, lengths->items.size()));
    }
    return read_per_element(table.context(), *lengths, table.path("element_lengths"), lengths->items.size(),
                            wanted_length);
  }
  table.require("elements", "the number of elements");
  const double length = table.required("length", wanted_length, "the fibre's length, or element_lengths");
  if (length / elements < limits::length.least)
    table.fail("length", fmt::format("is {} m for {} elements; expected elements of at least 1e-9 m",
                                     files::number(length), elements));
  double grading = 1.0;
  table.read("grading", grading, {files::dimensions::ratio, limits::grading});
  return graded_lengths(elements, length, grading);
}

std::vector<CrossSection> read_sections(const TableReader& table, std::size_t elements) {
  table.exclusive("section", {"radius"});
  std::vector<CrossSection> out;
  out.reserve(elements);
  if (const TomlNode* section = table.find("section")) {
    const TableReader axes(table.context(), *section, table.path("section"), {"half_axis_1", "half_axis_2"});
    const auto read = [&](std::string_view key) {
      return read_per_element(table.context(), axes.require(key, "both half-axes of the ellipse"), axes.path(key),
                              elements, wanted_radius);
    };
    const auto first = read("half_axis_1"), second = read("half_axis_2");
    for (std::size_t i = 0; i < elements; ++i) out.push_back({first[i], second[i]});
    return out;
  }
  const TomlNode& radius = table.require("radius", "the fibre's radius, or section = { half_axis_1, half_axis_2 }");
  for (const double r : read_per_element(table.context(), radius, table.path("radius"), elements, wanted_radius))
    out.push_back(CrossSection::circle(r));
  return out;
}

/// Columns (n0, n1, n2) from a tangent and, if given, the normal n1 made orthogonal to it. Without one, n1 is as near
/// to +y as the tangent allows, or to +z when the tangent lies along y.
Matrix3 frame_from(const TableReader& table) {
  Vector3 tangent(1.0, 0.0, 0.0);
  table.read_direction("tangent", tangent);
  Vector3 normal = std::abs(tangent.y()) < 0.99 ? Vector3(0.0, 1.0, 0.0) : Vector3(0.0, 0.0, 1.0);
  table.read_direction("normal", normal);
  normal -= normal.dot(tangent) * tangent;
  if (normal.norm() < 1e-6) table.fail("normal", "lies along the tangent; expected a direction across it");
  Matrix3 frame;
  frame.col(0) = tangent;
  frame.col(1) = normalised(normal);
  frame.col(2) = frame.col(0).cross(frame.col(1));
  return frame;
}

Matrix3 given_frame(const TableReader& table, const TomlNode& node) {
  if (!node.is(TomlNode::Kind::array) || node.items.size() != 3) {
    table.fail("frame", fmt::format("is {}; expected the three axes [[n0], [n1], [n2]]", describe(node)));
  }
  Matrix3 frame;
  for (int i = 0; i < 3; ++i) {
    frame.col(i) = read_vector(table.context(), node.items[static_cast<std::size_t>(i)],
                               fmt::format("{}[{}]", table.path("frame"), i), {{}, {-2.0, 2.0}});
  }
  const double error = (frame.transpose() * frame - Matrix3::Identity()).cwiseAbs().maxCoeff();
  if (error > limits::unit_error || frame.determinant() < 0.0) {
    table.fail("frame", "is no rotation; expected three orthogonal unit axes n0, n1, n2 = n0 x n1");
  }
  return frame;
}

rods::Material find_material(const TableReader& table, const std::string& name, const Materials& materials) {
  const auto found = materials.table.find(name);
  if (found != materials.table.end()) return found->second;
  std::vector<std::string> known = material_presets();
  for (const std::string& preset : known) {
    if (preset == name) return material_preset(name);
  }
  for (const auto& entry : materials.table) known.insert(known.begin(), entry.first);
  const std::string hint = files::did_you_mean(name, known);
  table.fail("material", fmt::format("is {}, which no table [materials.NAME] defines{}", files::in_quotes(name, 40),
                                     !hint.empty() ? hint : "; expected " + files::alternatives(known)));
}

std::string read_group_name(ReaderContext& context, const TomlNode& node, const std::string& place) {
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", place, describe(node)));
  const TomlNode& name = require_member(context, node, place, "name", "a name of its own");
  std::string text = read_text(context, name, place + ".name");
  if (text.empty()) context.fail(name, fmt::format("{}.name is empty; expected a name of its own", place));
  return text;
}

std::vector<std::string> names_of(const std::vector<scene::FibreGroup>& groups) {
  std::vector<std::string> out;
  for (const scene::FibreGroup& group : groups) out.push_back(group.name);
  return out;
}

/// The group that a branch grows on. Only those above it are read yet.
const scene::FibreGroup& find_parent(const TableReader& table, const TomlNode& nodes,
                                     const std::vector<scene::FibreGroup>& above) {
  ReaderContext& context = table.context();
  const std::string name = read_text(context, table.require("parent", "a name"), table.path("parent"));
  for (const scene::FibreGroup& group : above) {
    if (group.name != name) continue;
    if (!scene::curvature_model(group.model))
      table.fail("parent",
                 fmt::format("is {}, a {}; expected a super-helix or super-clothoid, which can carry branches",
                             files::in_quotes(name, 40), group.model));
    return group;
  }
  for (std::size_t i = above.size(); i < nodes.items.size(); ++i) {
    const TomlNode* later = nodes.items[i].find("name");
    if (later == nullptr || !later->is(TomlNode::Kind::text) || read_text(context, *later, "name") != name) continue;
    table.fail("parent", fmt::format("is {}, {}; expected fibres that stand above it", files::in_quotes(name, 40),
                                     i == above.size() ? "the branch itself" : "which stands below its branch"));
  }
  const std::string hint = files::did_you_mean(name, names_of(above));
  table.fail("parent", fmt::format("is {}, the name of no fibres above{}", files::in_quotes(name, 40),
                                   hint.empty() ? "; expected one" : hint));
}

/// Places on the parent, one number or an array.
std::vector<double> read_places(const TableReader& table, double length) {
  const TomlNode& node = table.require("at", "arc lengths on the parent, a branch each");
  // A parent's length is a sum: what is meant as its tip may lie beyond by rounding.
  const Wanted wanted{files::dimensions::length, {0.0, length * (1.0 + limits::unit_error)}};
  if (!node.is(TomlNode::Kind::array)) return {read_number(table.context(), node, table.path("at"), wanted)};
  if (node.items.empty() || node.items.size() > static_cast<std::size_t>(limits::branches))
    table.fail("at", fmt::format("is {}; expected 1 to {} arc lengths", describe(node), limits::branches));
  return read_per_element(table.context(), node, table.path("at"), node.items.size(), wanted);
}

scene::Root read_branch_root(ReaderContext& context, const TomlNode& node, const std::string& path,
                             const TomlNode& nodes, const std::vector<scene::FibreGroup>& above) {
  const TableReader table(
      context, node, path,
      {"parent", "at", "position", "frame", "tangent", "normal", "yaw_deg", "pitch_deg", "roll_deg", "roll_step",
       "roll_step_deg", "condition", "motion", "reference", "velocity", "angular_velocity"});
  for (const std::string_view key : {"condition", "motion", "reference", "velocity", "angular_velocity"})
    table.refuse(key, "is given for a branch, which its parent carries; expected none");
  scene::Root root;
  root.condition = rods::RootCondition::carried;
  const scene::FibreGroup& parent = find_parent(table, nodes, above);
  root.parent = parent.name;
  root.at = read_places(table, scene::length(parent));
  table.read("position", root.position, wanted_position);
  root.frame = read_frame(table);
  table.exclusive("roll_step", {"roll_step_deg"});
  table.read("roll_step", root.roll_step, {files::dimensions::angle, limits::rotation});
  table.read("roll_step_deg", root.roll_step, wanted_turn);
  return root;
}

scene::Root read_root(ReaderContext& context, const TomlNode* node, const std::string& path) {
  scene::Root root;
  if (node == nullptr) return root;
  const TableReader table(context, *node, path,
                          {"condition", "position", "frame", "tangent", "normal", "yaw_deg", "pitch_deg", "roll_deg",
                           "motion", "reference", "embedded_in", "velocity", "angular_velocity"});
  static const std::vector<std::string> conditions{"clamped", "free"};
  std::string condition = conditions[0];
  table.read("condition", condition, conditions);
  root.condition = condition == "free" ? rods::RootCondition::free : rods::RootCondition::clamped;
  table.read("position", root.position, wanted_position);
  root.frame = read_frame(table);
  if (const TomlNode* motion = table.find("motion")) {
    if (condition == "free") table.fail("motion", "is given for a free root; expected it for a clamped one only");
    root.motion = read_motion(context, *motion, table.path("motion"));
  }
  if (const TomlNode* reference = table.find("reference")) {
    if (condition == "free") table.fail("reference", "is given for a free root; expected it for a clamped one only");
    root.reference = read_vector(context, *reference, table.path("reference"), wanted_position);
  }
  if (const TomlNode* obstacle = table.find("embedded_in")) {
    if (condition == "free") table.fail("embedded_in", "is given for a free root; expected it for a clamped one only");
    root.embedded_in = read_text(context, *obstacle, table.path("embedded_in"));
  }
  for (const std::string_view key : {"velocity", "angular_velocity"}) {
    if (condition != "free")
      table.refuse(key, "is given for a clamped root; expected condition = \"free\", or motion = { ... }");
  }
  table.read("velocity", root.velocity, {files::dimensions::velocity, limits::speed});
  table.read("angular_velocity", root.angular_velocity, {files::dimensions::angular_velocity, limits::rotation});
  return root;
}

}  // namespace

Matrix3 read_frame(const TableReader& table) {
  table.exclusive("frame", {"tangent", "normal"});
  const TomlNode* given = table.find("frame");
  Matrix3 frame = given != nullptr ? given_frame(table, *given) : frame_from(table);
  double yaw = 0.0, pitch = 0.0, roll = 0.0;
  table.read("yaw_deg", yaw, wanted_turn);
  table.read("pitch_deg", pitch, wanted_turn);
  table.read("roll_deg", roll, wanted_turn);
  using Eigen::AngleAxisd;
  if (roll != 0.0) frame = frame * AngleAxisd(roll, Vector3::UnitX()).toRotationMatrix();
  if (pitch != 0.0) frame = AngleAxisd(pitch, -Vector3::UnitY()).toRotationMatrix() * frame;
  if (yaw != 0.0) frame = AngleAxisd(yaw, Vector3::UnitZ()).toRotationMatrix() * frame;
  return frame;
}

const std::vector<std::string>& models() {
  static const std::vector<std::string> names{"super-helix", "super-clothoid", "discrete-elastic-rod", "mass-spring"};
  return names;
}

void read_growth(ReaderContext& context, const TomlNode& node, const std::string& path, scene::FibreGroup& group) {
  const TableReader table(context, node, path, {"factor", "begin", "end"});
  group.growth_factor = table.required("factor", {files::dimensions::ratio, limits::growth},
                                       "how many times its length the fibre becomes");
  table.read("begin", group.growth_begin, {files::dimensions::time, limits::onset});
  group.growth_end = table.required("end", {files::dimensions::time, limits::onset}, "when growth ends");
}

std::vector<scene::Hold> read_holds(ReaderContext& context, const TomlNode& node, const std::string& path,
                                    const scene::FibreGroup& group) {
  const double length = scene::length(group);
  if (!node.is(TomlNode::Kind::array) || node.items.size() > static_cast<std::size_t>(limits::holds))
    context.fail(node,
                 fmt::format("{} is {}; expected an array of at most {} tables", path, describe(node), limits::holds));
  std::vector<scene::Hold> out;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const TableReader table(context, node.items[i], fmt::format("{}[{}]", path, i),
                            {"name", "at", "clamp", "slide", "motion", "release"});
    scene::Hold hold;
    hold.name =
        table.has("name") ? read_text(context, *table.find("name"), table.path("name")) : fmt::format("hold {}", i);
    for (std::size_t j = 0; j < i; ++j) {
      if (out[j].name == hold.name)
        table.fail("name", fmt::format("is {}, which {}[{}] has; expected one of its own",
                                       files::in_quotes(hold.name, 40), path, j));
    }
    hold.at = length;
    table.read("at", hold.at, {files::dimensions::length, {0.0, length * (1.0 + limits::unit_error)}});
    table.read("clamp", hold.clamp);
    if (hold.clamp && !scene::curvature_model(group.model))
      table.fail("clamp", fmt::format("is true for a {}; expected a super-helix or a super-clothoid", group.model));
    if (table.has("slide")) table.read_direction("slide", hold.slide);
    if (const TomlNode* motion = table.find("motion"))
      hold.motion = read_motion(context, *motion, table.path("motion"));
    table.read("release", hold.release, {files::dimensions::time, limits::onset});
    out.push_back(hold);
  }
  return out;
}

void read_shape(const TableReader& table, scene::FibreGroup& group) {
  group.element_lengths = read_element_lengths(table);
  const std::size_t elements = group.element_lengths.size();
  group.sections = read_sections(table, elements);

  const Wanted curvature{files::dimensions::curvature, limits::curvature};
  const auto read = [&](std::string_view key, const std::vector<Vector3>& otherwise, const Wanted& wanted) {
    const TomlNode* found = table.find(key);
    return found == nullptr ? otherwise : read_curvatures(table.context(), *found, table.path(key), group, wanted);
  };
  const std::vector<Vector3> zero(scene::curvature_count(group.model, elements), Vector3::Zero());
  group.natural_curvature = read("natural_curvature", zero, curvature);
  group.initial_curvature = read("initial_curvature", group.natural_curvature, curvature);
  group.initial_curvature_rate =
      read("initial_curvature_rate", zero, {files::dimensions::curvature_rate, limits::curvature_rate});
}

namespace {

/// Root, holds and grid.
void read_places(const TableReader& table, const TomlNode& nodes, const std::vector<scene::FibreGroup>& above,
                 scene::FibreGroup& group) {
  ReaderContext& context = table.context();
  const TomlNode* root = table.find("root");
  if (root != nullptr && root->is(TomlNode::Kind::table) && root->find("parent") != nullptr) {
    if (!scene::curvature_model(group.model))
      table.fail("model",
                 fmt::format("is \"{}\" for a branch; expected \"super-helix\" or \"super-clothoid\"", group.model));
    for (const std::string_view key : {"grid", "cap"})
      table.refuse(key, "is given for branches; expected their places on the parent, root.at");
    group.root = read_branch_root(context, *root, table.path("root"), nodes, above);
  } else {
    group.root = read_root(context, root, table.path("root"));
  }
  if (const TomlNode* holds = table.find("holds"))
    group.holds = read_holds(context, *holds, table.path("holds"), group);
  if (const TomlNode* grid = table.find("grid")) group.grid = read_grid(context, *grid, table.path("grid"));
  table.exclusive("cap", {"grid"});
  if (const TomlNode* cap = table.find("cap")) group.cap = read_cap(context, *cap, table.path("cap"));
}

/// Fibres whose shapes and places a file or a list gives.
void read_strand_group(const TableReader& table, scene::FibreGroup& group) {
  ReaderContext& context = table.context();
  const TomlNode* from = table.find("from");
  const std::string_view key = from != nullptr ? "from" : "strands";
  table.exclusive(key, {"length", "elements", "element_lengths", "grading", "section", "initial_curvature",
                        "initial_curvature_rate", "holds", "grid", "cap", from != nullptr ? "strands" : "from"});
  if (from == nullptr) table.exclusive(key, {"radius", "natural_curvature"});
  const TomlNode* root = table.find("root");
  if (root != nullptr) {
    for (const TomlMember& given : root->members) {
      static const std::set<std::string_view> common{"condition",   "motion",   "reference",
                                                     "embedded_in", "velocity", "angular_velocity"};
      if (common.count(given.key) == 0) {
        context.fail(given.location, fmt::format("{}.{} is given beside {}, which places every root; expected one of "
                                                 "them",
                                                 table.path("root"), one_line(given.key, 40), key));
      }
    }
  }
  group.root = read_root(context, root, table.path("root"));
  if (from != nullptr) read_strands_from_file(table, *from, group);
  if (from == nullptr) read_strands(table, *table.find("strands"), group);
  scene::FibreGroup first = scene::strand_group(group, 0);
  first.strands = std::move(group.strands);
  first.remarks = std::move(group.remarks);
  group = std::move(first);
}

std::vector<int> read_left_out(ReaderContext& context, const TomlNode& node, const TableReader& table) {
  const std::string path = table.path("leave_out");
  if (!node.is(TomlNode::Kind::array) || node.items.size() > static_cast<std::size_t>(limits::fibres))
    context.fail(node, fmt::format("{} is {}; expected an array of the numbers of fibres", path, describe(node)));
  std::vector<int> out;
  for (const TomlNode& item : node.items) {
    const std::string own = fmt::format("{}[{}]", path, out.size());
    const int member = read_integer(context, item, own, 0, limits::fibres - 1);
    if (!out.empty() && member <= out.back())
      context.fail(item, fmt::format("{} is {} behind {}; expected numbers that ascend", own, member, out.back()));
    out.push_back(member);
  }
  return out;
}

}  // namespace

scene::FibreGroup read_fibre_group(ReaderContext& context, const TomlNode& nodes,
                                   const std::vector<scene::FibreGroup>& above, const Materials& materials) {
  const TomlNode& node = nodes.items[above.size()];
  scene::FibreGroup group;
  group.name = read_group_name(context, node, fmt::format("fibres[{}]", above.size()));
  group.location = node.location;
  const TableReader table(context, node, "fibres." + one_line(group.name, 40),
                          {"name",
                           "model",
                           "material",
                           "length",
                           "elements",
                           "element_lengths",
                           "grading",
                           "radius",
                           "section",
                           "natural_curvature",
                           "natural_curvature_onset",
                           "growth",
                           "initial_curvature",
                           "initial_curvature_rate",
                           "root",
                           "holds",
                           "grid",
                           "cap",
                           "drag",
                           "from",
                           "strands",
                           "leave_out"});
  table.read("model", group.model, models());
  group.material_name = read_text(context, table.require("material", "the name of a material"), table.path("material"));
  group.material = find_material(table, group.material_name, materials);
  if (table.has("from") || table.has("strands")) {
    read_strand_group(table, group);
  } else {
    read_shape(table, group);
    read_places(table, nodes, above, group);
  }
  table.read("natural_curvature_onset", group.natural_curvature_onset, {files::dimensions::time, limits::onset});
  if (const TomlNode* growth = table.find("growth")) {
    read_growth(context, *growth, table.path("growth"), group);
    if (!group.holds.empty()) table.fail("holds", "are given for a fibre that grows; expected a length that stays");
  }
  table.read("drag", group.drag, {files::dimensions::drag, limits::drag});
  if (const TomlNode* list = table.find("leave_out")) group.leave_out = read_left_out(context, *list, table);
  return group;
}

}  // namespace tresse::scene_file::detail
