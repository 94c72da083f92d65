#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <numeric>
#include <set>
#include <span>
#include <string_view>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <tresse/base/errors.hpp>
#include <tresse/bodies/rigid_body.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene/scene.hpp>

namespace tresse::scene {
namespace {

using limits::Range;

/// Names the field that a message is about.
struct Field {
  std::string owner;

  [[noreturn]] void fail(std::string_view field, std::string_view message) const {
    throw InvalidInput(fmt::format("{}.{} {}", owner, field, message));
  }
  void range(std::string_view field, double value, const Range& wanted) const {
    if (wanted.contains(value)) return;
    fail(field, fmt::format("is {}; expected {} {} and at most {}", value, wanted.open ? "more than" : "at least",
                            wanted.least, wanted.most));
  }
  void range(std::string_view field, const Vector3& value, const Range& wanted) const {
    for (int i = 0; i < 3; ++i) range(fmt::format("{}[{}]", field, i), value[i], wanted);
  }
  void word(std::string_view field, std::string_view value, std::span<const std::string_view> words) const {
    std::string expected;
    for (const std::string_view word : words) {
      if (word == value) return;
      expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", word);
    }
    fail(field, fmt::format("is \"{}\"; expected one of {}", value, expected));
  }
  void word(std::string_view field, std::string_view value, std::initializer_list<std::string_view> words) const {
    word(field, value, std::span(words.begin(), words.size()));
  }
  void unit(std::string_view field, const Vector3& v) const {
    if (!(std::abs(v.squaredNorm() - 1.0) <= limits::unit_error))
      fail(field, fmt::format("has length {}; expected a unit vector", v.norm()));
  }
  void count(std::string_view field, std::size_t size, std::size_t wanted) const {
    if (size != wanted) fail(field, fmt::format("has {} entries; expected {}, one for each element", size, wanted));
  }
};

void validate_motion(const bodies::Motion& motion, const Field& field) {
  if (motion.keyframes.size() > limits::keyframes)
    field.fail("keyframes",
               fmt::format("has {} entries; expected at most {}", motion.keyframes.size(), limits::keyframes));
  for (std::size_t i = 0; i < motion.keyframes.size(); ++i) {
    const bodies::Keyframe& key = motion.keyframes[i];
    const Field own{fmt::format("{}.keyframes[{}]", field.owner, i)};
    own.range("time", key.time, {-limits::time.most, limits::time.most});
    own.range("displacement", key.displacement, limits::coordinate);
    own.range("rotation", key.rotation, limits::rotation);
    if (i > 0 && !(key.time > motion.keyframes[i - 1].time))
      own.fail("time", fmt::format("is {}; expected one after {}", key.time, motion.keyframes[i - 1].time));
  }
  field.range("velocity", motion.velocity, limits::speed);
  field.range("angular_velocity", motion.angular_velocity, limits::rotation);
  field.range("start", motion.start, {-limits::time.most, limits::time.most});
  if (!(motion.stop > motion.start))
    field.fail("stop", fmt::format("is {}; expected one after start, {}", motion.stop, motion.start));
}

void validate_root(const Root& root, const Field& field) {
  field.range("position", root.position, limits::coordinate);
  const double error = (root.frame.transpose() * root.frame - Matrix3::Identity()).cwiseAbs().maxCoeff();
  if (!(error <= limits::unit_error) || root.frame.determinant() < 0.0)
    field.fail("frame", "is no rotation; expected orthonormal columns n0, n1, n2 = n0 x n1");
  field.range("velocity", root.velocity, limits::speed);
  field.range("angular_velocity", root.angular_velocity, limits::rotation);
  validate_motion(root.motion, {field.owner + ".motion"});
  if (root.reference) field.range("reference", *root.reference, limits::coordinate);
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
  const Field group_field{"fibres." + group.name};
  if (group.holds.size() > static_cast<std::size_t>(limits::holds))
    group_field.fail("holds", fmt::format("has {} entries; expected at most {}", group.holds.size(), limits::holds));
  if (!group.holds.empty() && group.growth_factor != 1.0)
    group_field.fail("holds", "are given for a fibre that grows; expected a length that stays");
  for (std::size_t i = 0; i < group.holds.size(); ++i) {
    const Hold& hold = group.holds[i];
    const Field field{fmt::format("{}.holds[{}]", group_field.owner, i)};
    if (hold.name.empty()) field.fail("name", "is empty; expected a name");
    for (std::size_t j = 0; j < i; ++j) {
      if (group.holds[j].name == hold.name)
        field.fail("name", fmt::format("is \"{}\", which holds[{}] has; expected one of its own", hold.name, j));
    }
    field.range("at", hold.at, {0.0, length(group) * (1.0 + limits::unit_error)});
    if (!hold.slide.isZero(0.0)) field.unit("slide", hold.slide);
    if (hold.clamp && !curvature_model(group.model)) {
      field.fail("clamp", fmt::format("is given for a {}; expected a super-helix or a super-clothoid, or clamp = false",
                                      group.model));
    }
    validate_motion(hold.motion, {field.owner + ".motion"});
    field.range("release", hold.release, limits::onset);
  }
}

/// Points alone say neither which way a section lies nor how far it has turned.
void validate_mass_spring(const FibreGroup& group, const Field& field) {
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
  const Field field{"fibres." + group.name + ".root"};
  if (root.condition != rods::RootCondition::carried) {
    if (!root.parent.empty() || !root.at.empty() || root.roll_step != 0.0)
      field.fail("parent", "is given for a clamped or free root; expected a carried one");
    return;
  }
  const int p = parent_index(groups, index);
  if (group.growth_factor != 1.0 || (p >= 0 && groups[static_cast<std::size_t>(p)].growth_factor != 1.0))
    field.fail("parent", "joins fibres of which one grows; expected lengths that stay");
  if (p < 0) field.fail("parent", fmt::format("is \"{}\"; expected the name of fibres above", root.parent));
  const FibreGroup& parent = groups[static_cast<std::size_t>(p)];
  if (!parent.strands.empty()) field.fail("parent", "names fibres of a file, which carry no branches");
  if (!curvature_model(parent.model) || !curvature_model(group.model)) {
    field.fail("parent", fmt::format("joins a {} to a {}; expected super-helices and super-clothoids", group.model,
                                     parent.model));
  }
  if (root.at.empty() || root.at.size() > limits::branches)
    field.fail("at", fmt::format("has {} entries; expected 1 to {}", root.at.size(), limits::branches));
  for (std::size_t i = 0; i < root.at.size(); ++i)
    field.range(fmt::format("at[{}]", i), root.at[i], {0.0, length(parent) * (1.0 + limits::unit_error)});
  field.range("roll_step", root.roll_step, limits::rotation);
  if (!(root.velocity.isZero(0.0) && root.angular_velocity.isZero(0.0)))
    field.fail("velocity", "is given for a branch; its parent carries it");
  if (group.grid.count != 1)
    Field{"fibres." + group.name}.fail("grid", "is given for branches; expected places, root.at");
  if (group.cap) Field{"fibres." + group.name}.fail("cap", "is given for branches; expected places, root.at");
}

void validate_grid(const Grid& grid, const Field& field) {
  field.range("count", grid.count, {1.0, limits::fibres});
  field.unit("axis_1", grid.axis_1);
  field.unit("axis_2", grid.axis_2);
  if (grid.axis_1.cross(grid.axis_2).norm() < 1e-6)
    field.fail("axis_2", "lies along axis_1; expected a direction across it");
  field.range("spacing", grid.spacing, grid.count > 1 ? limits::length : Range{0.0, limits::length.most});
  field.range("jitter", grid.jitter, {0.0, limits::length.most});
  if (grid.jitter > 0.0 && !(2.0 * grid.jitter < grid.spacing))
    field.fail("jitter", fmt::format("is {}; expected less than half the spacing, {}", grid.jitter, grid.spacing));
  field.range("twist", grid.twist, limits::twist);
}

void validate_cap(const FibreGroup& group, const Field& field) {
  const Cap& cap = *group.cap;
  field.range("count", cap.count, {1.0, limits::fibres});
  field.range("radius", cap.radius, limits::length);
  field.range("center", cap.center, limits::coordinate);
  field.unit("axis", cap.axis);
  field.range("angle", cap.angle, limits::cap);
  field.range("jitter", cap.jitter, {0.0, limits::length.most});
  if (!(cap.jitter < cap.radius))
    field.fail("jitter", fmt::format("is {}; expected less than the radius, {}", cap.jitter, cap.radius));
  field.range("twist", cap.twist, limits::twist);
  if (group.grid.count != 1) field.fail("count", "is given beside a grid; expected one of the two");
}

void validate_fibres(const FibreGroup& group) {
  const Field field{"fibres." + group.name};
  field.word("model", group.model, {"super-helix", "super-clothoid", "discrete-elastic-rod", "mass-spring"});
  field.range("material.density", group.material.density, limits::density);
  field.range("material.young_modulus", group.material.young_modulus, limits::young_modulus);
  field.range("material.poisson_ratio", group.material.poisson_ratio, limits::poisson_ratio);
  field.range("material.damping_time", group.material.damping_time, limits::damping_time);
  const std::size_t elements = group.element_lengths.size();
  if (elements < 1 || elements > limits::elements)
    field.fail("element_lengths", fmt::format("has {} entries; expected 1 to {}", elements, limits::elements));
  field.count("sections", group.sections.size(), elements);
  const std::size_t curvatures = curvature_count(group.model, elements);
  field.count("natural_curvature", group.natural_curvature.size(), curvatures);
  field.count("initial_curvature", group.initial_curvature.size(), curvatures);
  field.count("initial_curvature_rate", group.initial_curvature_rate.size(), curvatures);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto at = [&](std::string_view name) { return fmt::format("{}[{}]", name, i); };
    field.range(at("element_lengths"), group.element_lengths[i], limits::length);
    field.range(at("sections") + ".half_axis_1", group.sections[i].half_axis_1, limits::radius);
    field.range(at("sections") + ".half_axis_2", group.sections[i].half_axis_2, limits::radius);
  }
  for (std::size_t i = 0; i < curvatures; ++i) {
    const auto at = [&](std::string_view name) { return fmt::format("{}[{}]", name, i); };
    field.range(at("natural_curvature"), group.natural_curvature[i], limits::curvature);
    field.range(at("initial_curvature"), group.initial_curvature[i], limits::curvature);
    field.range(at("initial_curvature_rate"), group.initial_curvature_rate[i], limits::curvature_rate);
  }
  validate_root(group.root, {field.owner + ".root"});
  validate_holds(group);
  validate_grid(group.grid, {field.owner + ".grid"});
  if (group.cap) validate_cap(group, {field.owner + ".cap"});
  field.range("natural_curvature_onset", group.natural_curvature_onset, limits::onset);
  field.range("growth.factor", group.growth_factor, limits::growth);
  field.range("growth.begin", group.growth_begin, limits::onset);
  field.range("growth.end", group.growth_end, limits::onset);
  if (group.growth_factor != 1.0 && !(group.growth_end > group.growth_begin))
    field.fail("growth.end",
               fmt::format("is {} s; expected a time after growth.begin, {} s", group.growth_end, group.growth_begin));
  if (group.growth_factor != 1.0 && !curvature_model(group.model))
    field.fail("growth",
               fmt::format("is given for the model \"{}\"; expected a super-helix or a super-clothoid", group.model));
  if (group.model == "mass-spring") validate_mass_spring(group, field);
  field.range("drag", group.drag, limits::drag);
}

void validate_strands(const FibreGroup& group) {
  if (group.strands.empty()) return;
  const Field field{"fibres." + group.name};
  if (!group.holds.empty()) field.fail("holds", "are given for strands; expected none");
  if (group.grid.count != 1) field.fail("grid", "is given for strands; expected none");
  if (group.root.condition == rods::RootCondition::carried)
    field.fail("root.parent", "is given for strands; expected clamped or free roots");
  for (std::size_t i = 0; i < group.strands.size(); ++i) {
    FibreGroup strand = strand_group(group, i);
    strand.name += fmt::format(".strands[{}]", i);
    validate_fibres(strand);
  }
}

/// `count`: fibres that the group has with those that are left out.
void validate_left_out(const FibreGroup& group, double count) {
  const Field field{"fibres." + group.name};
  for (std::size_t i = 0; i < group.leave_out.size(); ++i) {
    const int member = group.leave_out[i];
    const std::string own = fmt::format("leave_out[{}]", i);
    field.range(own, member, {0.0, count - 1.0});
    if (i > 0 && member <= group.leave_out[i - 1])
      field.fail(own, fmt::format("is {} behind {}; expected numbers that ascend", member, group.leave_out[i - 1]));
  }
}

struct ShapeCheck {
  const Field& field;

  void operator()(const bodies::Plane& s) const {
    field.range("point", s.point, limits::coordinate);
    field.unit("normal", s.normal);
  }
  void operator()(const bodies::Sphere& s) const {
    field.range("center", s.center, limits::coordinate);
    field.range("radius", s.radius, limits::radius);
  }
  void operator()(const bodies::Capsule& s) const {
    field.range("from", s.from, limits::coordinate);
    field.range("to", s.to, limits::coordinate);
    field.range("radius", s.radius, limits::radius);
  }
  void operator()(const bodies::Cylinder& s) const {
    field.range("center", s.center, limits::coordinate);
    field.unit("axis", s.axis);
    field.range("radius", s.radius, limits::radius);
    field.range("length", s.length, limits::length);
  }
  void operator()(const bodies::Comb& s) const {
    field.range("base", s.base, limits::coordinate);
    field.unit("tooth_direction", s.tooth_direction);
    field.unit("row_direction", s.row_direction);
    if (!(std::abs(s.tooth_direction.dot(s.row_direction)) <= limits::unit_error))
      field.fail("row_direction", "is not at a right angle to tooth_direction; expected orthogonal directions");
    field.range("teeth", s.teeth, {1.0, limits::teeth});
    field.range("tooth_diameter", s.tooth_diameter, limits::radius);
    field.range("tooth_spacing", s.tooth_spacing, limits::radius);
    field.range("tooth_length", s.tooth_length, limits::length);
    field.range("handle_diameter", s.handle_diameter, limits::radius);
  }
  void operator()(const bodies::Mesh& s) const {
    if (!s.surface) field.fail("file", "was not read; expected a mesh");
    field.range("thickness", s.thickness, limits::thickness);
  }
};

void validate_free_body(const bodies::Obstacle& body, const Field& field) {
  if (!bodies::can_be_free(body.shape))
    field.fail("mass", "is given for a plane, a comb or a mesh; expected a sphere, a capsule or a cylinder");
  field.range("mass", body.mass, limits::mass);
  field.range("velocity", body.velocity.linear, limits::speed);
  field.range("angular_velocity", body.velocity.angular, limits::rotation);
  if (!(body.motion.keyframes.empty() && body.motion.at_rest()))
    field.fail("motion", "is given for a free body; expected its velocity");
  if (!bodies::is_centre(body.shape, body.reference, limits::unit_error))
    field.fail("reference", "is not the centre of mass of a free body");
}

void validate_obstacle(const Obstacle& obstacle) {
  const Field field{"obstacles." + obstacle.body.name};
  std::visit(ShapeCheck{field}, obstacle.body.shape);
  field.range("reference", obstacle.body.reference, limits::coordinate);
  validate_motion(obstacle.body.motion, {field.owner + ".motion"});
  if (obstacle.body.mass != 0.0) validate_free_body(obstacle.body, field);
}

void validate_settings(const Scene& scene) {
  const Field simulation{"simulation"}, contact{"contact"}, friction{"friction"}, solver{"solver"}, output{"output"},
      statics{"statics"};
  const Range iterations{1.0, limits::iterations};
  simulation.range("gravity", scene.gravity, limits::acceleration);
  simulation.range("wind", scene.wind, limits::speed);
  simulation.range("wind.gust", scene.gust, limits::speed);
  simulation.range("wind.period", scene.gust_period, limits::gust_period);
  simulation.word("scheme", scene.integrator.scheme, scheme_names);
  simulation.range("time_step", scene.integrator.time_step, limits::time_step);
  simulation.range("duration", scene.integrator.duration, limits::time);
  simulation.range("theta", scene.integrator.theta, limits::theta);
  if (scene.integrator.scheme == "carried" && scene.integrator.theta < 1.0)
    simulation.fail("theta", fmt::format("is {:g} in the scheme \"carried\"; expected 1, or another scheme",
                                         scene.integrator.theta));
  simulation.range("step_error", scene.integrator.step_error, limits::step_error);
  if (scene.integrator.step_error > 0.0 && scene.integrator.theta == 0.5)
    simulation.fail("step_error", "is above 0 with a theta of 0.5; expected theta above 0.5: the estimate needs it");
  simulation.range("nonlinear_tolerance", scene.integrator.nonlinear_tolerance, limits::tolerance);
  simulation.range("max_nonlinear_iterations", scene.integrator.max_nonlinear_iterations, iterations);
  contact.word("detection", scene.contact.detection, {"certified", "branch-and-bound", "segments"});
  contact.range("tolerance", scene.contact.tolerance, limits::tolerance);
  contact.range("proxy_segments", scene.contact.proxy_segments, {1.0, limits::proxy_segments});
  contact.range("margin", scene.contact.margin, limits::margin);
  contact.range("push_out_speed", scene.contact.push_out_speed, limits::push_out_speed);
  contact.range("overlap", scene.contact.overlap, limits::overlap);
  contact.range("relinearisations", scene.contact.relinearisations, {-1.0, limits::relinearisations});
  contact.range("max_relinearisations", scene.contact.max_relinearisations, {0.0, limits::max_relinearisations});
  contact.range("max_halvings", scene.contact.max_halvings, {0.0, limits::max_halvings});
  friction.range("default", scene.friction.default_coefficient, limits::friction);
  for (const auto& [names, coefficient] : scene.friction.pairs) {
    friction.range(fmt::format("pairs({}, {})", names.first, names.second), coefficient, limits::friction);
  }
  solver.word("name", scene.solver.name, friction::solver_names);
  if (scene.solver.facets != 0) solver.range("facets", scene.solver.facets, {3, limits::facets});
  solver.range("tolerance", scene.solver.tolerance, limits::tolerance);
  solver.range("max_iterations", scene.solver.max_iterations, iterations);
  output.range("every", scene.output.every, iterations);
  output.range("checkpoint_every", scene.output.checkpoint_every, iterations);
  output.range("points_per_element", scene.output.points_per_element, {1.0, limits::points_per_element});
  statics.range("tolerance", scene.statics.tolerance, limits::tolerance);
  statics.range("max_iterations", scene.statics.max_iterations, iterations);
  statics.range("load_steps", scene.statics.load_steps, iterations);
}

}  // namespace

std::size_t curvature_count(const std::string& model, std::size_t elements) {
  return model == "super-clothoid" ? elements + 1 : elements;
}

bool curvature_model(const std::string& model) { return model == "super-helix" || model == "super-clothoid"; }

int parent_index(const std::vector<FibreGroup>& groups, std::size_t index) {
  for (std::size_t p = 0; p < index; ++p) {
    if (groups[p].name == groups[index].root.parent) return static_cast<int>(p);
  }
  return -1;
}

std::vector<double> fibre_counts(const std::vector<FibreGroup>& groups) {
  std::vector<double> out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Root& root = groups[i].root;
    if (root.condition != rods::RootCondition::carried) {
      const FibreGroup& group = groups[i];
      const int count = group.cap ? group.cap->count : group.grid.count;
      out.push_back(group.strands.empty() ? count : static_cast<double>(group.strands.size()));
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

bool has_free_bodies(const Scene& scene) {
  return std::any_of(scene.obstacles.begin(), scene.obstacles.end(),
                     [](const Obstacle& obstacle) { return obstacle.body.mass > 0.0; });
}

void validate(const Scene& scene) {
  validate_settings(scene);
  const Field field{"scene"};
  if (scene.fibres.empty() && !has_free_bodies(scene))
    field.fail("fibres", "is empty; expected at least one group, or a free body");
  std::set<std::string_view> names;
  double fibres = 0.0, unknowns = 0.0;
  const std::vector<double> counts = fibre_counts(scene.fibres);
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) {
    const FibreGroup& group = scene.fibres[i];
    validate_fibres(group);
    validate_strands(group);
    if (!group.holds.empty() && scene.integrator.scheme == "nonlinear")
      field.fail("scheme", "is \"nonlinear\" where points are held; expected another scheme");
    validate_branches(scene.fibres, i);
    if (!names.insert(group.name).second)
      field.fail("fibres", fmt::format("holds \"{}\" twice; expected names that differ", group.name));
    validate_left_out(group, counts[i]);
    fibres += counts[i];
    unknowns += unknown_count(group, counts[i]);
  }
  const double least = scene.fibres.empty() ? 0.0 : 1.0;
  field.range("fibres (in all)", fibres, {least, limits::fibres});
  field.range("unknowns (in all)", unknowns, {least, limits::unknowns});
  names.clear();
  for (const Obstacle& obstacle : scene.obstacles) {
    validate_obstacle(obstacle);
    if (!names.insert(obstacle.body.name).second)
      field.fail("obstacles", fmt::format("holds \"{}\" twice; expected names that differ", obstacle.body.name));
  }
  for (const FibreGroup& group : scene.fibres) {
    const int within = embedding_obstacle(scene, group);
    if (!group.root.embedded_in.empty() && (within < 0 || scene.obstacles[within].body.mass > 0.0))
      Field{"fibres." + group.name + ".root"}.fail(
          "embedded_in",
          fmt::format("is \"{}\"; expected the name of an obstacle without mass", group.root.embedded_in));
  }
}

}  // namespace tresse::scene
