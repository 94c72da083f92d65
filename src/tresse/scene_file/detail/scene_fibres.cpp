#include <fmt/format.h>

#include <array>
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
  const TomlNode* given = table.find("elements");
  const int elements =
      given == nullptr
          ? 0
          : static_cast<int>(read_whole(table.context(), *given, table.path("elements"), table.wanted("elements")));
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
                            table.wanted("element_lengths"));
  }
  table.require("elements", "the number of elements");
  table.require("length", "the fibre's length, element_lengths or stretches");
  const double length = table.number("length", 0.0);
  if (length / elements < limits::length.least)
    table.fail("length", fmt::format("is {} m for {} elements; expected elements of at least 1e-9 m",
                                     files::number(length), elements));
  return graded_lengths(elements, length, table.number("grading", 1.0));
}

/// One number (k2) or a triplet (twist, k1, k2); 0 without the key.
Vector3 read_curvature(const TableReader& table) {
  const TomlNode* node = table.find("curvature");
  if (node == nullptr) return Vector3::Zero();
  const std::string path = table.path("curvature");
  const Wanted wanted = table.wanted("curvature");
  if (!node->is(TomlNode::Kind::array)) return Vector3(0.0, 0.0, read_number(table.context(), *node, path, wanted));
  if (node->items.size() != 3)
    table.fail("curvature",
               fmt::format("is {}; expected one number (k2) or a triplet [twist, k1, k2]", describe(*node)));
  return read_vector(table.context(), *node, path, wanted);
}

/// The first element behind a node, and how far the rod turns at that node.
using Corner = std::pair<std::size_t, Vector3>;

/// Curvatures of elements whose rod of nodes turns so at these nodes, and elsewhere as it does with the given ones: at
/// a node it turns as far as the two halves of elements beside it.
std::vector<Vector3> with_corners(const std::vector<Vector3>& curvatures, const std::vector<double>& lengths,
                                  const std::vector<Corner>& corners) {
  std::vector<Vector3> out = curvatures;
  std::size_t next = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool first = i == 0;
    Vector3 turn = 0.5 * lengths[i] * curvatures[i];
    if (!first) turn += 0.5 * lengths[i - 1] * curvatures[i - 1];
    if (next < corners.size() && corners[next].first == i) turn = corners[next++].second;
    if (!first) turn -= 0.5 * lengths[i - 1] * out[i - 1];
    out[i] = 2.0 / lengths[i] * turn;
  }
  return out;
}

/// Lengths and natural curvature of a fibre that is given by its stretches.
void read_stretches(const TableReader& table, scene::FibreGroup& group) {
  table.exclusive("stretches", {"length", "elements", "element_lengths", "grading", "natural_curvature"});
  const TomlNode& node = *table.find("stretches");
  if (!node.is(TomlNode::Kind::array) || node.items.empty() || node.items.size() > limits::elements) {
    table.fail("stretches", fmt::format("is {}; expected an array of 1 to {} tables such as {{ length = \"2 cm\", "
                                        "elements = 4, curvature = 30 }}",
                                        describe(node), limits::elements));
  }
  std::vector<Vector3> curvatures;  // one an element
  std::vector<Corner> corners;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const TableReader own(table.context(), node.items[i], fmt::format("{}[{}]", table.path("stretches"), i),
                          description<scene::Stretch>());
    scene::Stretch stretch;
    own.read<scene::Stretch>(stretch);
    const double length = stretch.length / stretch.elements;
    if (length < limits::length.least) {
      own.fail("length", fmt::format("is {} m for {} elements; expected elements of at least 1e-9 m",
                                     files::number(stretch.length), stretch.elements));
    }
    const std::size_t elements = curvatures.size() + static_cast<std::size_t>(stretch.elements);
    if (elements > limits::elements) {
      own.fail("elements", fmt::format("is {}, which makes {} with those before; expected at most {} in all",
                                       stretch.elements, elements, limits::elements));
    }
    group.element_lengths.resize(elements, length);
    if (!stretch.corner.isZero(0.0)) {
      if (scene::curvature_model(group.model))
        own.fail("corner",
                 fmt::format("is given for a {}; expected a discrete-elastic-rod or a mass-spring", word(group.model)));
      if (curvatures.empty() && group.model == scene::RodModel::mass_spring)
        own.fail("corner", "is given for the first stretch; expected a later one: a chain is not bent at its root");
      corners.emplace_back(curvatures.size(), stretch.corner);
    }
    curvatures.resize(elements, read_curvature(own));
  }
  if (!corners.empty()) curvatures = with_corners(curvatures, group.element_lengths, corners);
  const bool by_element = scene::curvature_count(group.model, curvatures.size()) == curvatures.size();
  group.natural_curvature = by_element ? curvatures : at_nodes(curvatures, group.element_lengths);
}

std::vector<CrossSection> read_sections(const TableReader& table, std::size_t elements) {
  table.exclusive("section", {"radius"});
  std::vector<CrossSection> out;
  out.reserve(elements);
  if (const TomlNode* section = table.find("section")) {
    const TableReader axes(table.context(), *section, table.path("section"), description<scene::Ellipse>());
    const auto read = [&](std::string_view key) {
      return read_per_element(table.context(), axes.require(key), axes.path(key), elements, axes.wanted(key));
    };
    const auto first = read("half_axis_1"), second = read("half_axis_2");
    for (std::size_t i = 0; i < elements; ++i) out.push_back({first[i], second[i]});
    return out;
  }
  const TomlNode& radius = table.require("radius", "the fibre's radius, or section = { half_axis_1, half_axis_2 }");
  for (const double r :
       read_per_element(table.context(), radius, table.path("radius"), elements, table.wanted("radius")))
    out.push_back(CrossSection::circle(r));
  return out;
}

/// Columns (n0, n1, n2) from a tangent and, if given, the normal n1 made orthogonal to it. Without one, n1 is as near
/// to +y as the tangent allows, or to +z when the tangent lies along y.
Matrix3 frame_from(const TableReader& table) {
  const auto direction = [&](std::string_view key, const Vector3& otherwise) {
    const TomlNode* given = table.find(key);
    return given == nullptr ? otherwise : read_direction(table.context(), *given, table.path(key));
  };
  const Vector3 tangent = direction("tangent", Vector3(1.0, 0.0, 0.0));
  Vector3 normal = direction("normal", std::abs(tangent.y()) < 0.99 ? Vector3(0.0, 1.0, 0.0) : Vector3(0.0, 0.0, 1.0));
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
                               fmt::format("{}[{}]", table.path("frame"), i), table.wanted("frame"));
  }
  const double error = (frame.transpose() * frame - Matrix3::Identity()).cwiseAbs().maxCoeff();
  if (error > limits::unit_error || frame.determinant() < 0.0) {
    table.fail("frame", "is no rotation; expected three orthogonal unit axes n0, n1, n2 = n0 x n1");
  }
  return frame;
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
  const std::string name = read_text(context, table.require("parent"), table.path("parent"));
  for (const scene::FibreGroup& group : above) {
    if (group.name != name) continue;
    if (!scene::curvature_model(group.model))
      table.fail("parent",
                 fmt::format("is {}, a {}; expected a super-helix or super-clothoid, which can carry branches",
                             files::in_quotes(name, 40), word(group.model)));
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

/// Along a fibre. Its length is a sum: what is meant as its tip may lie beyond by rounding.
Range up_to(double length) { return {0.0, length * (1.0 + limits::unit_error)}; }

/// Places on the parent, one number or an array.
std::vector<double> read_places(const TableReader& table) {
  const TomlNode& node = table.require("at");
  const Wanted wanted = table.wanted("at");
  if (!node.is(TomlNode::Kind::array)) return {read_number(table.context(), node, table.path("at"), wanted)};
  if (node.items.empty() || node.items.size() > static_cast<std::size_t>(limits::branches))
    table.fail("at", fmt::format("is {}; expected 1 to {} arc lengths", describe(node), limits::branches));
  return read_per_element(table.context(), node, table.path("at"), node.items.size(), wanted);
}

scene::Root read_branch_root(ReaderContext& context, const TomlNode& node, const std::string& path,
                             const TomlNode& nodes, const std::vector<scene::FibreGroup>& above) {
  constexpr std::array<std::string_view, 5> refused{"condition", "motion", "reference", "velocity", "angular_velocity"};
  TableReader table(context, node, path, description<scene::BranchRoot>(), refused);
  for (const std::string_view key : refused)
    table.refuse(key, "is given for a branch, which its parent carries; expected none");
  scene::Root root;
  root.condition = rods::RootCondition::carried;
  const scene::FibreGroup& parent = find_parent(table, nodes, above);
  table.narrow("at", up_to(scene::length(parent)));
  root.at = read_places(table);
  table.read<scene::BranchRoot>(root);
  return root;
}

scene::Root read_root(ReaderContext& context, const TomlNode* node, const std::string& path) {
  scene::Root root;
  if (node == nullptr) return root;
  const TableReader table(context, *node, path, description<scene::Root>());
  if (const TomlNode* condition = table.find("condition"))
    root.condition = *find_word<rods::RootCondition>(
        read_word(context, *condition, table.path("condition"), Words<rods::RootCondition>::list));
  for (const std::string_view key : {"motion", "reference", "embedded_in"}) {
    if (root.condition == rods::RootCondition::free)
      table.refuse(key, "is given for a free root; expected it for a clamped one only");
  }
  for (const std::string_view key : {"velocity", "angular_velocity"}) {
    if (root.condition == rods::RootCondition::clamped)
      table.refuse(key, "is given for a clamped root; expected condition = \"free\", or motion = { ... }");
  }
  table.read<scene::Root>(root);
  return root;
}

}  // namespace

rods::Material find_material(const TableReader& table, const std::string& name, const Materials& materials) {
  const auto found = materials.table.find(name);
  if (found != materials.table.end()) return found->second;
  if (const auto preset = material_preset(name)) return *preset;
  std::vector<std::string> known(scene::material_preset_names.begin(), scene::material_preset_names.end());
  for (const auto& entry : materials.table) known.insert(known.begin(), entry.first);
  const std::string hint = files::did_you_mean(name, known);
  table.fail("material", fmt::format("is {}, which no table [materials.NAME] defines{}", files::in_quotes(name, 40),
                                     !hint.empty() ? hint : "; expected " + files::alternatives(known)));
}

Matrix3 read_frame(const TableReader& table) {
  table.exclusive("frame", {"tangent", "normal"});
  const TomlNode* given = table.find("frame");
  Matrix3 frame = given != nullptr ? given_frame(table, *given) : frame_from(table);
  const double yaw = table.number("yaw_deg", 0.0);
  const double pitch = table.number("pitch_deg", 0.0);
  const double roll = table.number("roll_deg", 0.0);
  using Eigen::AngleAxisd;
  if (roll != 0.0) frame = frame * AngleAxisd(roll, Vector3::UnitX()).toRotationMatrix();
  if (pitch != 0.0) frame = AngleAxisd(pitch, -Vector3::UnitY()).toRotationMatrix() * frame;
  if (yaw != 0.0) frame = AngleAxisd(yaw, Vector3::UnitZ()).toRotationMatrix() * frame;
  return frame;
}

std::vector<scene::Hold> read_holds(ReaderContext& context, const TomlNode& node, const std::string& path,
                                    const scene::FibreGroup& group) {
  const double length = scene::length(group);
  if (!node.is(TomlNode::Kind::array) || node.items.size() > static_cast<std::size_t>(limits::holds))
    context.fail(node,
                 fmt::format("{} is {}; expected an array of at most {} tables", path, describe(node), limits::holds));
  std::vector<scene::Hold> out;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    TableReader table(context, node.items[i], fmt::format("{}[{}]", path, i), description<scene::Hold>());
    table.narrow("at", up_to(length));
    scene::Hold hold;
    hold.name = fmt::format("hold {}", i);
    hold.at = length;
    table.read<scene::Hold>(hold);
    for (std::size_t j = 0; j < i; ++j) {
      if (out[j].name == hold.name)
        table.fail("name", fmt::format("is {}, which {}[{}] has; expected one of its own",
                                       files::in_quotes(hold.name, 40), path, j));
    }
    if (hold.clamp && !scene::curvature_model(group.model))
      table.fail("clamp",
                 fmt::format("is true for a {}; expected a super-helix or a super-clothoid", word(group.model)));
    out.push_back(hold);
  }
  return out;
}

void read_shape(const TableReader& table, scene::FibreGroup& group) {
  const bool stretches = table.has("stretches");
  if (stretches)
    read_stretches(table, group);
  else
    group.element_lengths = read_element_lengths(table);
  const std::size_t elements = group.element_lengths.size();
  group.sections = read_sections(table, elements);

  const std::vector<Vector3> zero(scene::curvature_count(group.model, elements), Vector3::Zero());
  const auto read = [&](std::string_view key, const std::vector<Vector3>& otherwise) {
    const TomlNode* found = table.find(key);
    return found == nullptr ? otherwise
                            : read_curvatures(table.context(), *found, table.path(key), group, table.wanted(key));
  };
  if (!stretches) group.natural_curvature = read("natural_curvature", zero);
  group.initial_curvature = read("initial_curvature", group.natural_curvature);
  group.initial_curvature_rate = read("initial_curvature_rate", zero);
}

namespace {

/// Root, holds and grid.
void read_places(const TableReader& table, const TomlNode& nodes, const std::vector<scene::FibreGroup>& above,
                 scene::FibreGroup& group) {
  ReaderContext& context = table.context();
  const TomlNode* root = table.find("root");
  if (root != nullptr && root->is(TomlNode::Kind::table) && root->find("parent") != nullptr) {
    if (!scene::curvature_model(group.model))
      table.fail("model", fmt::format("is \"{}\" for a branch; expected \"super-helix\" or \"super-clothoid\"",
                                      word(group.model)));
    for (const std::string_view key : {"grid", "cap", "ring"})
      table.refuse(key, "is given for branches; expected their places on the parent, root.at");
    group.root = read_branch_root(context, *root, table.path("root"), nodes, above);
  } else {
    group.root = read_root(context, root, table.path("root"));
  }
  if (const TomlNode* holds = table.find("holds"))
    group.holds = read_holds(context, *holds, table.path("holds"), group);
  table.exclusive("cap", {"grid"});
  table.exclusive("ring", {"grid", "cap"});
}

/// Fibres whose shapes and places a file or a list gives.
void read_strand_group(const TableReader& table, scene::FibreGroup& group) {
  ReaderContext& context = table.context();
  const TomlNode* from = table.find("from");
  const std::string_view key = from != nullptr ? "from" : "strands";
  table.exclusive(key,
                  {"length", "elements", "element_lengths", "grading", "stretches", "section", "initial_curvature",
                   "initial_curvature_rate", "holds", "grid", "cap", "ring", from != nullptr ? "strands" : "from"});
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

/// Coefficients of equal parts, or regions with their ends.
std::vector<scene::FrictionRegion> read_friction(ReaderContext& context, const TomlNode& node,
                                                 const TableReader& table) {
  const std::string path = table.path("friction");
  if (!node.is(TomlNode::Kind::array) || node.items.empty())
    context.fail(node, fmt::format("{} is {}; expected an array of coefficients, or of regions such as "
                                   "{{ to = \"2 cm\", friction = 0.4 }}",
                                   path, describe(node)));
  std::vector<scene::FrictionRegion> out;
  const bool regions = node.items.front().is(TomlNode::Kind::table);
  for (const TomlNode& item : node.items) {
    const std::string own = fmt::format("{}[{}]", path, out.size());
    scene::FrictionRegion& region = out.emplace_back();
    if (regions)
      TableReader(context, item, own, description<scene::FrictionRegion>()).read<scene::FrictionRegion>(region);
    else
      region.friction = read_number(context, item, own, table.wanted("friction"));
  }
  return out;
}

std::vector<int> read_left_out(ReaderContext& context, const TomlNode& node, const TableReader& table) {
  const std::string path = table.path("leave_out");
  if (!node.is(TomlNode::Kind::array) || node.items.size() > static_cast<std::size_t>(limits::fibres))
    context.fail(node, fmt::format("{} is {}; expected an array of the numbers of fibres", path, describe(node)));
  std::vector<int> out;
  for (const TomlNode& item : node.items) {
    const std::string own = fmt::format("{}[{}]", path, out.size());
    const int member = static_cast<int>(read_whole(context, item, own, table.wanted("leave_out")));
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
  const TableReader table(context, node, "fibres." + one_line(group.name, 40), description<scene::FibreGroup>());
  table.read<scene::FibreGroup>(group);
  group.material = find_material(table, group.material_name, materials);
  if (table.has("from") || table.has("strands")) {
    read_strand_group(table, group);
  } else {
    read_shape(table, group);
    read_places(table, nodes, above, group);
  }
  if (table.has("growth") && !group.holds.empty())
    table.fail("holds", "are given for a fibre that grows; expected a length that stays");
  if (const TomlNode* list = table.find("friction")) group.friction = read_friction(context, *list, table);
  if (const TomlNode* list = table.find("leave_out")) group.leave_out = read_left_out(context, *list, table);
  return group;
}

}  // namespace tresse::scene_file::detail
