#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <tresse/base/errors.hpp>
#include <tresse/bodies/rigid_body.hpp>
#include <tresse/scene/check_fields.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene {

void FieldCheck::fail(std::string_view key, std::string_view message) const {
  throw InvalidInput(fmt::format("{}.{} {}", owner_, key, message));
}

void FieldCheck::number(std::string_view key, double value, const Range& range) const {
  if (range.contains(value)) return;
  fail(key, fmt::format("is {}; expected {} {} and at most {}", value, range.open ? "more than" : "at least",
                        range.least, range.most));
}

void FieldCheck::unit(std::string_view key, const Vector3& value) const {
  if (!(std::abs(value.squaredNorm() - 1.0) <= limits::unit_error))
    fail(key, fmt::format("has length {}; expected a unit vector", value.norm()));
}

void FieldCheck::rotation(std::string_view key, const Matrix3& value) const {
  const double error = (value.transpose() * value - Matrix3::Identity()).cwiseAbs().maxCoeff();
  if (!(error <= limits::unit_error) || value.determinant() < 0.0)
    fail(key, "is no rotation; expected orthonormal columns n0, n1, n2 = n0 x n1");
}

void FieldCheck::count(std::string_view key, std::size_t size, std::size_t wanted) const {
  if (size != wanted) fail(key, fmt::format("has {} entries; expected {}, one for each element", size, wanted));
}

void FieldCheck::operator()(const Field& field, const Root& value) const {
  const FieldCheck own(owner_ + "." + std::string(field.key));
  if (value.condition == rods::RootCondition::carried) return own.table<BranchRoot>(value);
  own.table<Root>(value);
}

void Table<Simulation>::check(const Simulation& x, const Complain& complain) {
  if (x.duration / x.time_step > limits::steps)
    complain("time_step", fmt::format("is {} s for a duration of {} s; expected at most {} steps", x.time_step,
                                      x.duration, limits::steps));
  if (x.scheme == dynamics::Scheme::carried && x.theta < 1.0)
    complain("theta", fmt::format("is {} in the scheme \"carried\"; expected 1, or another scheme", x.theta));
  if (x.step_error && x.theta == 0.5)
    complain("step_error", "is above 0 with a theta of 0.5; expected theta above 0.5: the estimate needs it");
}

void Table<FrictionRegion>::check(const FrictionRegion& x, const Complain& complain) {
  if (x.kinetic && *x.kinetic > x.friction)
    complain("friction_kinetic", fmt::format("is {}; expected at most the friction, {}", *x.kinetic, x.friction));
}

void Table<Growth>::check(const Growth& x, const Complain& complain) {
  if (x.factor != 1.0 && !(x.end > x.begin))
    complain("end", fmt::format("is {} s; expected a time after begin, {} s", x.end, x.begin));
}

void Table<Grid>::check(const Grid& x, const Complain& complain) {
  if (x.axis_1.cross(x.axis_2).norm() < 1e-6) complain("axis_2", "lies along axis_1; expected a direction across it");
  if (x.jitter > 0.0 && !(2.0 * x.jitter < x.spacing))
    complain("jitter", fmt::format("is {} m; expected less than half the spacing, {} m", x.jitter, x.spacing));
}

void Table<Cap>::check(const Cap& x, const Complain& complain) {
  if (!(x.jitter < x.radius))
    complain("jitter", fmt::format("is {} m; expected less than the radius, {} m", x.jitter, x.radius));
}

void Table<Ring>::check(const Ring& x, const Complain& complain) {
  if (x.first && x.first->cross(x.axis).norm() < 1e-6)
    complain("first", "lies along axis; expected a direction across it");
}

void Table<bodies::Motion>::check(const bodies::Motion& x, const Complain& complain) {
  if (x.keyframes.size() > limits::keyframes)
    complain("keyframes", fmt::format("has {} entries; expected at most {}", x.keyframes.size(), limits::keyframes));
  for (std::size_t i = 1; i < x.keyframes.size(); ++i) {
    if (!(x.keyframes[i].time > x.keyframes[i - 1].time))
      complain(fmt::format("keyframes[{}].time", i),
               fmt::format("is {} s; expected one after the keyframe before it, {} s", x.keyframes[i].time,
                           x.keyframes[i - 1].time));
  }
  if (x.stop && !(*x.stop > x.start))
    complain("stop", fmt::format("is {} s; expected a time after start, {} s", *x.stop, x.start));
}

namespace {

void validate_root(const Root& root, const FieldCheck& field) {
  const bool clamped = root.condition == rods::RootCondition::clamped;
  if (clamped && !(root.velocity.isZero(0.0) && root.angular_velocity.isZero(0.0)))
    field.fail("velocity", "is given for a clamped root; expected a free one, or a motion");
  if (!clamped && !root.motion.at_rest())
    field.fail("motion", fmt::format("is given for {}; expected a clamped root",
                                     root.condition == rods::RootCondition::free ? "a free root" : "a branch"));
  if (!clamped && root.reference) field.fail("reference", "is given for a root that is not clamped; expected none");
  if (!clamped && !root.embedded_in.empty())
    field.fail("embedded_in", "is given for a root that is not clamped; expected none");
}

void validate_holds(const FibreGroup& group) {
  const std::string owner = "fibres." + group.name;
  const FieldCheck group_field(owner);
  if (group.holds.size() > static_cast<std::size_t>(limits::holds))
    group_field.fail("holds", fmt::format("has {} entries; expected at most {}", group.holds.size(), limits::holds));
  if (!group.holds.empty() && group.growth.factor != 1.0)
    group_field.fail("holds", "are given for a fibre that grows; expected a length that stays");
  for (std::size_t i = 0; i < group.holds.size(); ++i) {
    const Hold& hold = group.holds[i];
    const FieldCheck field(fmt::format("{}.holds[{}]", owner, i));
    if (hold.name.empty()) field.fail("name", "is empty; expected a name");
    for (std::size_t j = 0; j < i; ++j) {
      if (group.holds[j].name == hold.name)
        field.fail("name", fmt::format("is \"{}\", which holds[{}] has; expected one of its own", hold.name, j));
    }
    field.number("at", hold.at, {0.0, length(group) * (1.0 + limits::unit_error)});
    if (hold.clamp && !curvature_model(group.model)) {
      field.fail("clamp", fmt::format("is given for a {}; expected a super-helix or a super-clothoid, or clamp = false",
                                      word(group.model)));
    }
  }
}

/// Points alone say neither which way a section lies nor how far it has turned.
void validate_mass_spring(const FibreGroup& group, const FieldCheck& field) {
  for (std::size_t i = 0; i < group.sections.size(); ++i) {
    if (group.sections[i].half_axis_1 != group.sections[i].half_axis_2)
      field.fail(fmt::format("sections[{}]", i), "is elliptic; expected a round one for the model \"mass-spring\"");
  }
  for (std::size_t i = 0; i < group.natural_curvature.size(); ++i) {
    const double first = group.natural_curvature_onset > 0.0 ? group.initial_curvature[i][0] : 0.0;
    if (group.natural_curvature[i][0] != 0.0 || first != 0.0)
      field.fail(fmt::format("natural_curvature[{}]", i), "twists; expected no twist for the model \"mass-spring\"");
  }
}

/// Of what grows on another group, and of what does not.
void validate_branches(const std::vector<FibreGroup>& groups, std::size_t index) {
  const FibreGroup& group = groups[index];
  const Root& root = group.root;
  const FieldCheck group_field("fibres." + group.name), field("fibres." + group.name + ".root");
  if (root.condition != rods::RootCondition::carried) {
    if (!root.parent.empty() || !root.at.empty() || root.roll_step != 0.0)
      field.fail("parent", "is given for a clamped or free root; expected a carried one");
    return;
  }
  const int p = parent_index(groups, index);
  if (group.growth.factor != 1.0 || (p >= 0 && groups[static_cast<std::size_t>(p)].growth.factor != 1.0))
    field.fail("parent", "joins fibres of which one grows; expected lengths that stay");
  if (p < 0) field.fail("parent", fmt::format("is \"{}\"; expected the name of fibres above", root.parent));
  const FibreGroup& parent = groups[static_cast<std::size_t>(p)];
  if (!parent.strands.empty()) field.fail("parent", "names fibres of a file, which carry no branches");
  if (!curvature_model(parent.model) || !curvature_model(group.model)) {
    field.fail("parent", fmt::format("joins a {} to a {}; expected super-helices and super-clothoids",
                                     word(group.model), word(parent.model)));
  }
  if (root.at.empty() || root.at.size() > limits::branches)
    field.fail("at", fmt::format("has {} entries; expected 1 to {}", root.at.size(), limits::branches));
  for (std::size_t i = 0; i < root.at.size(); ++i)
    field.number(fmt::format("at[{}]", i), root.at[i], {0.0, length(parent) * (1.0 + limits::unit_error)});
  if (!(root.velocity.isZero(0.0) && root.angular_velocity.isZero(0.0)))
    field.fail("velocity", "is given for a branch; its parent carries it");
  if (group.grid.count != 1) group_field.fail("grid", "is given for branches; expected places, root.at");
  if (group.cap) group_field.fail("cap", "is given for branches; expected places, root.at");
  if (group.ring) group_field.fail("ring", "is given for branches; expected places, root.at");
}

/// What is the same of a group and of each of its strands.
void validate_shape(const FibreGroup& group, const FieldCheck& field) {
  const std::size_t elements = group.element_lengths.size();
  if (elements < 1 || elements > limits::elements)
    field.fail("element_lengths", fmt::format("has {} entries; expected 1 to {}", elements, limits::elements));
  field.count("sections", group.sections.size(), elements);
  const std::size_t curvatures = curvature_count(group.model, elements);
  field.count("natural_curvature", group.natural_curvature.size(), curvatures);
  field.count("initial_curvature", group.initial_curvature.size(), curvatures);
  field.count("initial_curvature_rate", group.initial_curvature_rate.size(), curvatures);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::string at = fmt::format("sections[{}]", i);
    field.number(at + ".half_axis_1", group.sections[i].half_axis_1, limits::radius);
    field.number(at + ".half_axis_2", group.sections[i].half_axis_2, limits::radius);
  }
  if (group.model == RodModel::mass_spring) validate_mass_spring(group, field);
}

void validate_fibres(const FibreGroup& group) {
  const std::string owner = "fibres." + group.name;
  const FieldCheck field(owner);
  field.table<FibreGroup>(group);
  FieldCheck(owner + ".material").table<rods::Material>(group.material);
  validate_shape(group, field);
  validate_root(group.root, FieldCheck(owner + ".root"));
  validate_holds(group);
  if (group.cap && group.grid.count != 1) field.fail("cap.count", "is given beside a grid; expected one of the two");
  if (group.ring && (group.cap || group.grid.count != 1))
    field.fail("ring.count", "is given beside a grid or a cap; expected one of them");
  if (group.growth.factor != 1.0 && !curvature_model(group.model))
    field.fail("growth", fmt::format("is given for the model \"{}\"; expected a super-helix or a super-clothoid",
                                     word(group.model)));
}

void validate_strands(const FibreGroup& group) {
  if (group.strands.empty()) return;
  const FieldCheck field("fibres." + group.name);
  if (!group.holds.empty()) field.fail("holds", "are given for strands; expected none");
  if (group.grid.count != 1) field.fail("grid", "is given for strands; expected none");
  if (group.root.condition == rods::RootCondition::carried)
    field.fail("root.parent", "is given for strands; expected clamped or free roots");
  for (std::size_t i = 0; i < group.strands.size(); ++i) {
    validate_shape(strand_group(group, i), FieldCheck(fmt::format("fibres.{}.strands[{}]", group.name, i)));
  }
}

void validate_friction(const FibreGroup& group) {
  const FieldCheck field("fibres." + group.name);
  const std::vector<FrictionRegion>& regions = group.friction;
  const bool equal = std::none_of(regions.begin(), regions.end(), [](const auto& region) { return region.to; });
  double last = 0.0;
  for (std::size_t i = 0; i < regions.size() && !equal; ++i) {
    const std::string own = fmt::format("friction[{}].to", i);
    if (!regions[i].to && i + 1 == regions.size()) break;
    if (!regions[i].to) field.fail(own, "is missing; expected where the region ends: only the last may leave it out");
    if (!(*regions[i].to > last))
      field.fail(own, fmt::format("is {} m behind {} m; expected arc lengths that ascend", *regions[i].to, last));
    last = *regions[i].to;
  }
  if (group.strands.empty() && last > length(group) * (1.0 + 1e-9))
    field.fail("friction",
               fmt::format("goes to {} m; expected at most the length of the fibre, {} m", last, length(group)));
}

/// `count`: fibres that the group has with those that are left out.
void validate_left_out(const FibreGroup& group, double count) {
  const FieldCheck field("fibres." + group.name);
  for (std::size_t i = 0; i < group.leave_out.size(); ++i) {
    const int member = group.leave_out[i];
    const std::string own = fmt::format("leave_out[{}]", i);
    field.number(own, member, {0.0, count - 1.0});
    if (i > 0 && member <= group.leave_out[i - 1])
      field.fail(own, fmt::format("is {} behind {}; expected numbers that ascend", member, group.leave_out[i - 1]));
  }
}

void validate_free_body(const Obstacle& obstacle, const FieldCheck& field) {
  const bodies::Obstacle& body = obstacle.body;
  if (!bodies::can_be_free(body.shape))
    field.fail("mass", fmt::format("is given for {}; expected {}", bodies::fixed_kinds(), bodies::free_kinds()));
  field.table<FreeBody>(obstacle);
  if (!(body.motion.keyframes.empty() && body.motion.at_rest()))
    field.fail("motion", "is given for a free body; expected its velocity");
  if (!bodies::is_centre(body.shape, body.reference, limits::unit_error))
    field.fail("reference", "is not the centre of mass of a free body");
}

void validate_obstacle(const Obstacle& obstacle) {
  const FieldCheck field("obstacles." + obstacle.body.name);
  const auto check_shape = [&]<class Shape>(const Shape& shape) {
    if constexpr (bodies::FromFile<Shape>) {
      if (!shape.surface) field.fail("file", "was not read; expected a mesh");
      field.table<Shape>(obstacle);
    } else {
      field.table<Shape>(shape);
    }
  };
  std::visit(check_shape, obstacle.body.shape);
  field.table<Obstacle>(obstacle);
  if (obstacle.body.mass != 0.0) validate_free_body(obstacle, field);
}

template <class OfTable>
void validate_pairs(const OfTable& table, const Range& range) {
  const FieldCheck check{std::string(Table<OfTable>::name)};
  check.template table<OfTable>(table);
  for (const auto& [names, coefficient] : table.pairs)
    check.number(fmt::format("pairs({}, {})", names.first, names.second), coefficient, range);
}

void validate_settings(const Scene& scene) {
  for_each_settings_table(scene, []<class Settings>(const Settings& x) {
    FieldCheck(std::string(Table<Settings>::name)).template table<Settings>(x);
  });
  validate_pairs(scene.friction, limits::friction);
  validate_pairs(scene.friction_kinetic, limits::friction);
  for (const auto& [names, coefficient] : scene.friction_kinetic.pairs) {
    const double friction = scene.friction.coefficient(names.first, names.second);
    if (coefficient > friction)
      FieldCheck("friction_kinetic")
          .fail(fmt::format("pairs({}, {})", names.first, names.second),
                fmt::format("is {}; expected at most the friction of the pair, {}", coefficient, friction));
  }
  validate_pairs(scene.restitution, limits::restitution);
  const auto& pairs = scene.restitution.pairs;
  const bool bounces = scene.restitution.default_coefficient > 0.0 ||
                       std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.second > 0.0; });
  if (bounces && scene.simulation.theta < 1.0)
    FieldCheck("restitution")
        .fail("default",
              "or a pair is above 0; expected simulation.theta = 1, as below it what "
              "touches bounces by the scheme");
}

}  // namespace

std::size_t curvature_count(RodModel model, std::size_t elements) {
  return model == RodModel::super_clothoid ? elements + 1 : elements;
}

bool curvature_model(RodModel model) { return model == RodModel::super_helix || model == RodModel::super_clothoid; }

int parent_index(const std::vector<FibreGroup>& groups, std::size_t index) {
  for (std::size_t p = 0; p < index; ++p) {
    if (groups[p].name == groups[index].root.parent) return static_cast<int>(p);
  }
  return -1;
}

int copy_count(const FibreGroup& group) {
  if (group.ring) return group.ring->count;
  return group.cap ? group.cap->count : group.grid.count;
}

std::vector<double> fibre_counts(const std::vector<FibreGroup>& groups) {
  std::vector<double> out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Root& root = groups[i].root;
    if (root.condition != rods::RootCondition::carried) {
      const FibreGroup& group = groups[i];
      out.push_back(group.strands.empty() ? copy_count(group) : static_cast<double>(group.strands.size()));
      continue;
    }
    const int parent = parent_index(groups, i);
    out.push_back(parent < 0 ? 0.0 : out[static_cast<std::size_t>(parent)] * static_cast<double>(root.at.size()));
  }
  return out;
}

double unknown_count(const FibreGroup& group, double count) {
  const auto of = [](std::size_t elements) { return 3.0 * static_cast<double>(elements) + 6.0; };
  if (group.strands.empty()) return count * of(group.element_lengths.size());
  double out = 0.0;
  for (const Strand& strand : group.strands) out += of(strand.element_lengths.size());
  return out;
}

double length(const FibreGroup& group) {
  return std::accumulate(group.element_lengths.begin(), group.element_lengths.end(), 0.0);
}

int embedding_obstacle(const Scene& scene, const FibreGroup& group) {
  if (group.root.embedded_in.empty()) return -1;
  const auto found = std::find_if(scene.obstacles.begin(), scene.obstacles.end(), [&](const Obstacle& obstacle) {
    return obstacle.body.name == group.root.embedded_in;
  });
  return found != scene.obstacles.end() ? static_cast<int>(found - scene.obstacles.begin()) : -1;
}

double smallest_radius(const Scene& scene) {
  double out = std::numeric_limits<double>::infinity();
  const auto include = [&](const std::vector<rods::CrossSection>& sections) {
    for (const rods::CrossSection& section : sections) out = std::min({out, section.half_axis_1, section.half_axis_2});
  };
  for (const FibreGroup& group : scene.fibres) {
    include(group.sections);
    for (const Strand& strand : group.strands) include(strand.sections);
  }
  if (!scene.fibres.empty()) return out;
  for (const Obstacle& obstacle : scene.obstacles) {
    if (obstacle.body.mass > 0.0) out = std::min(out, bodies::radius(obstacle.body.shape));
  }
  if (has_free_bodies(scene)) return out;
  for (const Surface& surface : scene.surfaces) out = std::min(out, 0.5 * surface.thickness);
  return out;
}

bool has_free_bodies(const Scene& scene) {
  return std::any_of(scene.obstacles.begin(), scene.obstacles.end(),
                     [](const Obstacle& obstacle) { return obstacle.body.mass > 0.0; });
}

namespace {

/// What a fluid cannot be together with.
void validate_fluid(const Scene& scene) {
  if (scene.fluid.viscosity == 0.0) return;
  const FieldCheck field("fluid");
  const auto refuse = [&](std::string_view what) {
    field.fail("viscosity", fmt::format("is {} Pa s, but {}", scene.fluid.viscosity, what));
  };
  if (scene.simulation.theta < 1.0) refuse("simulation.theta is below 1; expected theta = 1 in a fluid");
  if (scene.simulation.scheme == dynamics::Scheme::nonlinear)
    refuse("the scheme is \"nonlinear\"; expected another in a fluid");
  const Wind& wind = scene.simulation.wind;
  if (!wind.mean.isZero(0.0) || !wind.gust.isZero(0.0))
    refuse("there is a wind; expected one of the two: the fluid is at rest far away");
  for (const FibreGroup& group : scene.fibres) {
    if (group.drag > 0.0) refuse(fmt::format("fibres.{} has a drag of the air; expected one of the two", group.name));
    if (group.growth.factor != 1.0) refuse(fmt::format("fibres.{} grows; expected lengths that stay", group.name));
  }
  if (!scene.surfaces.empty()) refuse("there is a surface, which the fluid does not act on; expected fibres alone");
  if (scene.grains) refuse("there are grains, which the fluid does not act on; expected fibres alone");
  if (has_free_bodies(scene)) refuse("there is a free body, which the fluid does not act on; expected fibres alone");
  double nodes = 0.0;
  const std::vector<double> counts = fibre_counts(scene.fibres);
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) nodes += unknown_count(scene.fibres[i], counts[i]) / 3.0;
  constexpr double most = 12'000.0;  // whose influence on each other takes about 7 GB
  if (nodes > most) refuse(fmt::format("fibres have about {:.0f} nodes; expected at most {:.0f}", nodes, most));
}

/// What a penalty law cannot do, and how soft it may be.
void validate_penalty(const Scene& scene) {
  const Contact& contact = scene.contact;
  if (contact.law == laws::Law::coulomb) return;
  const FieldCheck field("contact");
  const auto refuse = [&](std::string_view what) {
    field.fail("law", fmt::format("is \"{}\", which knows no {}; expected \"coulomb\"", word(contact.law), what));
  };
  if (scene.simulation.theta < 1.0) refuse("simulation.theta below 1");
  if (scene.simulation.scheme == dynamics::Scheme::nonlinear) refuse("scheme \"nonlinear\"");
  const auto above = [](const PairTable& table) {
    return table.default_coefficient > 0.0 ||
           std::any_of(table.pairs.begin(), table.pairs.end(), [](const auto& pair) { return pair.second > 0.0; });
  };
  if (above(scene.restitution)) refuse("restitution above 0");
  if (contact.reference != ContactReference::touch) refuse("contact.reference \"initial\"");
  bool kinetic = scene.friction_kinetic.default_coefficient || !scene.friction_kinetic.pairs.empty();
  for (const FibreGroup& group : scene.fibres) {
    for (const FrictionRegion& region : group.friction) kinetic = kinetic || region.kinetic;
  }
  if (kinetic) refuse("kinetic friction of its own");
  const double most = smallest_radius(scene);
  if (contact.penalty.distance_tolerance > most)
    FieldCheck("contact.penalty")
        .fail("distance_tolerance", fmt::format("is {} m; expected at most the smallest radius, {} m",
                                                contact.penalty.distance_tolerance, most));
}

}  // namespace

void validate(const Scene& scene) {
  validate_settings(scene);
  const FieldCheck field("scene");
  if (scene.fibres.empty() && !has_free_bodies(scene) && scene.surfaces.empty() && !scene.grains)
    field.fail("fibres", "is empty; expected at least one group, a free body, a surface or grains");
  std::set<std::string_view> names;
  double fibres = 0.0, unknowns = 0.0;
  const std::vector<double> counts = fibre_counts(scene.fibres);
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) {
    const FibreGroup& group = scene.fibres[i];
    validate_fibres(group);
    validate_strands(group);
    validate_friction(group);
    if (!group.holds.empty() && scene.simulation.scheme == dynamics::Scheme::nonlinear)
      field.fail("scheme", "is \"nonlinear\" where points are held; expected another scheme");
    validate_branches(scene.fibres, i);
    if (!names.insert(group.name).second)
      field.fail("fibres", fmt::format("holds \"{}\" twice; expected names that differ", group.name));
    validate_left_out(group, counts[i]);
    fibres += counts[i];
    unknowns += unknown_count(group, counts[i]);
  }
  const double least = scene.fibres.empty() ? 0.0 : 1.0;
  field.number("fibres (in all)", fibres, {least, limits::fibres});
  field.number("unknowns (in all)", unknowns, {least, limits::unknowns});
  names.clear();
  for (const Obstacle& obstacle : scene.obstacles) {
    validate_obstacle(obstacle);
    if (!names.insert(obstacle.body.name).second)
      field.fail("obstacles", fmt::format("holds \"{}\" twice; expected names that differ", obstacle.body.name));
  }
  names.clear();
  for (const Surface& surface : scene.surfaces) {
    const FieldCheck own("surfaces." + surface.name);
    if (is_cloth(surface)) {
      own.table<Fabric>(surface.cloth.fabric);
      own.table<ClothSurface>(surface);
      const bool known = surface.cloth.grid || !surface.cloth.from_file.faces.empty();  // a file may be left unread
      if (known)
        check_cloth(surface, [&](std::string_view key, const std::string& message) { own.fail(key, message); });
    } else {
      own.table<rods::Material>(surface.material);
      own.table<Surface>(surface);
    }
    if (!names.insert(surface.name).second)
      field.fail("surfaces", fmt::format("holds \"{}\" twice; expected names that differ", surface.name));
  }
  if (scene.grains) FieldCheck("grains").table<Grains>(*scene.grains);
  for (const FibreGroup& group : scene.fibres) {
    const int within = embedding_obstacle(scene, group);
    if (!group.root.embedded_in.empty() && (within < 0 || scene.obstacles[within].body.mass > 0.0))
      FieldCheck("fibres." + group.name + ".root")
          .fail("embedded_in",
                fmt::format("is \"{}\"; expected the name of an obstacle without mass", group.root.embedded_in));
  }
  validate_penalty(scene);
  validate_fluid(scene);
}

}  // namespace tresse::scene
