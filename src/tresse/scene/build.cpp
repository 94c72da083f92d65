#include <tresse/scene/build.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <tresse/assembly/tree.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/contact/contact_search.hpp>
#include <tresse/contact/intrusions.hpp>
#include <tresse/scene/detail/embedding.hpp>
#include <tresse/scene/detail/fibre_rod.hpp>
#include <tresse/surfaces/cloth.hpp>
#include <tresse/surfaces/developable_patch.hpp>

namespace tresse::scene {
namespace {

/// SplitMix64: the same numbers on every platform, which the standard distributions don't promise. @cite steele2014
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

Pose grid_root(const FibreGroup& group, int index, Random& random) {
  const Grid& grid = group.grid;
  const int side = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(grid.count))));
  const int rows = (grid.count + side - 1) / side;
  const int full_rows = index / side;
  const double column = index % side - 0.5 * (side - 1);
  const double row = full_rows - 0.5 * (rows - 1);
  Pose pose{group.root.position, group.root.frame};
  if (grid.count == 1) return pose;
  const double x = column * grid.spacing + random.uniform(-grid.jitter, grid.jitter);
  const double y = row * grid.spacing + random.uniform(-grid.jitter, grid.jitter);
  pose.position += x * grid.axis_1 + y * grid.axis_2;
  const double angle = random.uniform(-grid.twist, grid.twist);
  pose.frame = pose.frame * Eigen::AngleAxisd(angle, Vector3::UnitX()).toRotationMatrix();
  return pose;
}

/// Places of equal areas, each turned by the golden angle from the last. @cite gonzalez2010
Pose ring_root(const FibreGroup& group, int index) {
  const Ring& ring = *group.ring;
  const Matrix3 turn = Eigen::AngleAxisd(2.0 * std::numbers::pi * index / ring.count, ring.axis).toRotationMatrix();
  const Vector3 given = ring.first.value_or(ring.axis.unitOrthogonal());
  const Vector3 first = (given - given.dot(ring.axis) * ring.axis).normalized();
  return {group.root.position + ring.radius * (turn * first),
          ring.turned ? Matrix3(turn * group.root.frame) : group.root.frame};
}

Pose cap_root(const FibreGroup& group, int index, Random& random) {
  const Cap& cap = *group.cap;
  const double golden_angle = std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double low = std::sin(0.5 * cap.angle);
  // 1 - cos of the way from the pole: the area above, so that equal shares are equal areas.
  const double height = 2.0 * low * low * (index + 0.5) / cap.count;
  const double across = std::sqrt(height * (2.0 - height));
  const double turn = golden_angle * index;
  const Vector3 east = cap.axis.unitOrthogonal();
  const Vector3 out_of_axis = std::cos(turn) * east + std::sin(turn) * cap.axis.cross(east);
  const Vector3 down = across * -cap.axis + (1.0 - height) * out_of_axis;
  Vector3 normal = (1.0 - height) * cap.axis + across * out_of_axis;
  const double x = random.uniform(-cap.jitter, cap.jitter);
  const double y = random.uniform(-cap.jitter, cap.jitter);
  normal = (cap.radius * normal + x * down + y * normal.cross(down)).normalized();
  Matrix3 axes;
  axes << normal, (down - down.dot(normal) * normal).normalized(), Vector3::Zero();
  axes.col(2) = axes.col(0).cross(axes.col(1));
  const double angle = random.uniform(-cap.twist, cap.twist);
  return {cap.center + cap.radius * normal + axes * group.root.position,
          axes * group.root.frame * Eigen::AngleAxisd(angle, Vector3::UnitX()).toRotationMatrix()};
}

/// The obstacle whose motion leads a group's roots, which are embedded in it; nullptr: their own does.
const bodies::Obstacle* leader(const Scene& scene, const FibreGroup& group) {
  const int within = embedding_obstacle(scene, group);
  return within >= 0 && group.root.motion.at_rest() ? &scene.obstacles[within].body : nullptr;
}

/// From what the motion of a clamped root turns about to the root.
Vector3 root_arm(const FibreGroup& group, const bodies::Obstacle* leading, const Pose& root) {
  if (leading != nullptr) return root.position - leading->reference;
  if (group.root.reference) return root.position - *group.root.reference;
  if (group.cap) return root.position - group.cap->center;
  return Vector3::Zero();
}

/// Material names in use, sorted, so that indices don't depend on the order of fibres.
std::vector<std::string> material_names(const Scene& scene) {
  std::set<std::string> names;
  for (const FibreGroup& group : scene.fibres) names.insert(group.material_name);
  for (const Obstacle& obstacle : scene.obstacles) names.insert(obstacle.body.material_name);
  for (const Surface& surface : scene.surfaces) {
    if (is_cloth(surface)) names.insert(surface.material_name);
  }
  return {names.begin(), names.end()};
}

int index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
}

/// Branch `j` of those that a group has on fibre `parent`.
assembly::Attachment attachment(const FibreGroup& group, std::size_t j, int parent, const rods::RodModel& carrier) {
  assembly::Attachment out;
  out.parent = parent;
  std::tie(out.piece, out.u) = rods::piece_at(carrier, group.root.at[j]);
  out.frame = {group.root.position, group.root.frame};
  const double angle = static_cast<double>(j) * group.root.roll_step;
  if (angle != 0.0) {
    const Matrix3 turn = Eigen::AngleAxisd(angle, Vector3::UnitX()).toRotationMatrix();
    out.frame = {turn * out.frame.position, turn * out.frame.frame};
  }
  return out;
}

/// Where each fibre of a group stands, and its number in the group.
struct Place {
  Pose root;
  assembly::Attachment attachment;
  int member = 0;
};

std::vector<Place> places(const Scene& scene, int group_index, Random& random, const assembly::World& world) {
  const FibreGroup& group = scene.fibres[group_index];
  std::vector<Place> out;
  if (group.root.condition != rods::RootCondition::carried) {
    for (int i = 0; i < copy_count(group); ++i) {
      const Pose root = group.ring  ? ring_root(group, i)
                        : group.cap ? cap_root(group, i, random)
                                    : grid_root(group, i, random);
      out.push_back({root, {}, i});
    }
    return out;
  }
  const int parent = parent_index(scene.fibres, static_cast<std::size_t>(group_index));
  const auto branches = static_cast<int>(group.root.at.size());
  for (int f = 0; f < static_cast<int>(world.fibres.size()); ++f) {
    const assembly::Fibre& carrier = world.fibres[f];
    if (carrier.group != parent) continue;
    for (int j = 0; j < branches; ++j)
      out.push_back(
          {{}, attachment(group, static_cast<std::size_t>(j), f, *carrier.model), carrier.member * branches + j});
  }
  return out;
}

bool is_left_out(const FibreGroup& group, int member) {
  return std::binary_search(group.leave_out.begin(), group.leave_out.end(), member);
}

/// What the fibres of a group have in common.
struct Kind {
  int group = 0;
  int material = 0;
};

/// Of a fibre of the group, or of its strand.
std::vector<assembly::FrictionRegion> friction_along(const FibreGroup& group) {
  std::vector<assembly::FrictionRegion> out;
  const std::vector<FrictionRegion>& regions = group.friction;
  const bool equal = std::none_of(regions.begin(), regions.end(), [](const auto& region) { return region.to; });
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const FrictionRegion& region = regions[i];
    const double part = static_cast<double>(i + 1) / static_cast<double>(regions.size());
    const double end = equal || !region.to ? part : std::min(1.0, *region.to / length(group));
    out.push_back({end, region.friction, region.kinetic.value_or(region.friction)});
  }
  return out;
}

/// Fibres of one shape, at their places.
void add_fibres(const Scene& scene, const FibreGroup& group, const Kind& kind, const std::vector<Place>& at,
                Case& out) {
  const auto rod = detail::make_rod(group);
  const bodies::Obstacle* leading = leader(scene, group);
  for (const Place& place : at) {
    assembly::Fibre fibre;
    fibre.root = place.root;
    fibre.attachment = place.attachment;
    fibre.root_motion = leading != nullptr ? leading->motion : group.root.motion;
    fibre.root_arm = root_arm(group, leading, place.root);
    fibre.group = kind.group;
    fibre.member = place.member;
    fibre.material = kind.material;
    fibre.drag = group.drag;
    fibre.friction = friction_along(group);
    fibre.growth = {group.growth.factor, group.growth.begin, group.growth.end};
    out.state.rods.push_back(detail::set_shape(group, *rod, fibre));
    out.world.fibres.push_back(std::move(fibre));
  }
}

void add_group(const Scene& scene, int group_index, const std::vector<std::string>& materials, Random& random,
               Case& out) {
  const FibreGroup& group = scene.fibres[group_index];
  const Kind kind{group_index, index_of(materials, group.material_name)};
  if (group.strands.empty()) {
    std::vector<Place> at = places(scene, group_index, random, out.world);
    std::erase_if(at, [&](const Place& place) { return is_left_out(group, place.member); });
    add_fibres(scene, group, kind, at, out);
  }
  for (int i = 0; i < static_cast<int>(group.strands.size()); ++i) {
    if (is_left_out(group, i)) continue;
    const Strand& strand = group.strands[static_cast<std::size_t>(i)];
    add_fibres(scene, strand_group(group, static_cast<std::size_t>(i)), kind,
               {{{strand.position, strand.frame}, {}, i}}, out);
  }
}

/// Of the stretch between the root and `s`: int ds / EA. [m/N]
double axial_compliance(const FibreGroup& group, double s) {
  double out = 0.0;
  for (std::size_t i = 0; i < group.element_lengths.size() && s > 0.0; ++i) {
    const double length = std::min(s, group.element_lengths[i]);
    out += length / (group.material.young_modulus * rods::area(group.sections[i]));
    s -= group.element_lengths[i];
  }
  return out;
}

/// Points are held where the initial shapes have them.
void add_holds(const Scene& scene, Case& out) {
  for (std::size_t f = 0; f < out.world.fibres.size(); ++f) {
    const assembly::Fibre& fibre = out.world.fibres[f];
    const FibreGroup& group = scene.fibres[fibre.group];
    if (group.holds.empty()) continue;
    const auto rod = fibre.model->make_rod();
    rod->update(detail::start_of(out, f));
    for (const Hold& hold : group.holds) {
      assembly::Hold held;
      held.name = hold.name;
      held.fibre = static_cast<int>(f);
      const auto [piece, u] = rods::piece_at(*fibre.model, hold.at);
      held.piece = piece;
      held.share = u / (rod->piece_begin(piece + 1) - rod->piece_begin(piece));
      held.clamped = hold.clamp;
      held.slide = hold.slide.value_or(Vector3::Zero());
      const rods::RodSection section = rod->section(hold.at);
      held.pose = {section.position, section.frame};
      held.motion = hold.motion;
      held.release = hold.release;
      // The fibre would stretch along its tangent, where a point that slides that way is not held.
      constexpr double aligned = 1e-12;
      const double share = hold.slide ? held.slide.cross(section.frame.col(0)).squaredNorm() : 1.0;
      if (curvature_model(group.model) && share > aligned) held.compliance = share * axial_compliance(group, hold.at);
      out.world.holds.push_back(held);
    }
  }
}

/// With its pins where its shape has them.
void add_cloth(const Surface& surface, int material, Case& out) {
  const Cloth& cloth = surface.cloth;
  auto model = std::make_shared<const surfaces::Cloth>(cloth_shape(cloth), cloth.fabric);
  surfaces::SurfaceState state;
  state.position = cloth_places(cloth, model->shape());
  state.velocity.resize(state.position.size());
  for (Eigen::Index v = 0; v < state.position.size(); v += 3) {
    const Vector3 arm = state.position.segment<3>(v) - cloth.place.position;
    state.velocity.segment<3>(v) = cloth.place.velocity + cloth.place.angular_velocity.cross(arm);
  }
  assembly::SurfaceBody body{surface.name, std::move(model), 0.5 * surface.thickness, material, {}};
  for (const ClothPin& pin : cloth.pins) {
    assembly::ClothPins& pins = body.pins.emplace_back();
    pins.name = pin.name;
    pins.vertices = pinned_vertices(pin, state.position);
    Vector3 middle = Vector3::Zero();
    for (const int vertex : pins.vertices) {
      pins.places.emplace_back(state.position.segment<3>(3 * vertex));
      middle += pins.places.back() / static_cast<double>(pins.vertices.size());
    }
    pins.reference = pin.reference.value_or(middle);
    pins.motion = pin.motion;
    pins.release = pin.release;
  }
  out.state.surfaces.push_back(std::move(state));
  out.world.surfaces.push_back(std::move(body));
}

void add_patch(const Surface& surface, Case& out) {
  const rods::Material& material = surface.material;
  auto patch = std::make_shared<const surfaces::DevelopablePatch>(
      surfaces::PatchMaterial{.length = surface.length,
                              .width = surface.width,
                              .area_density = material.density * surface.thickness,
                              .rigidity = bending_rigidity(surface),
                              .poisson_ratio = material.poisson_ratio,
                              .damping_time = material.damping_time,
                              .natural_curvature = surface.natural_curvature,
                              .natural_angle = surface.natural_angle,
                              .clamped = surface.root.condition == rods::RootCondition::clamped});
  const SurfaceRoot& root = surface.root;
  out.state.surfaces.push_back(
      patch->state_of({.curvature = surface.initial_curvature.value_or(surface.natural_curvature),
                       .angle = surface.initial_angle.value_or(surface.natural_angle),
                       .frame = {root.position, root.frame},
                       .velocity = {root.velocity, root.angular_velocity}}));
  out.world.surfaces.push_back({surface.name, std::move(patch), 0.0, 0, {}});
}

void add_grains(const Scene& scene, Case& out) {
  out.world.grains = medium_of(*scene.grains, scene.obstacles);
  out.state.grains = grains::at_rest(*out.world.grains);
}

constexpr int few_fibres = 10;
constexpr int many_fibres = 100;

dynamics::StepOptions step_options(const Scene& scene) {
  dynamics::StepOptions options;
  const double smallest_radius = scene::smallest_radius(scene);
  double longest = 0.0;
  double fibres = 0;
  for (const double count : fibre_counts(scene.fibres)) fibres += count;
  for (const Obstacle& obstacle : scene.obstacles) fibres += obstacle.body.mass > 0.0 ? 1.0 : 0.0;
  for (const FibreGroup& group : scene.fibres) {
    longest = std::max(longest, length(group));
    for (std::size_t i = 0; i < group.strands.size(); ++i) longest = std::max(longest, length(strand_group(group, i)));
  }
  options.dt = scene.simulation.time_step;
  options.scheme = scene.simulation.scheme;
  options.theta = scene.simulation.theta;
  options.step_error = scene.simulation.step_error;
  options.nonlinear_tolerance = scene.simulation.nonlinear_tolerance;
  options.max_nonlinear_iterations = scene.simulation.max_nonlinear_iterations;
  options.max_relinearisations = scene.contact.max_relinearisations;
  options.max_halvings = scene.contact.max_halvings;
  // In a wisp some contact always jumps: to solve all again for it costs more than it brings.
  const bool few = fibres <= few_fibres;
  options.relinearisations = scene.contact.relinearisations.value_or(few ? 1 : 0);
  const double overlap = scene.contact.overlap.value_or(few ? 0.01 : (fibres <= many_fibres ? 0.09 : 0.3));
  options.halving_overlap = overlap * smallest_radius;
  options.overlap_tolerance = (few ? 0.2 : 0.5) * options.halving_overlap;
  options.margin = scene.contact.margin.value_or(0.05 * smallest_radius);
  options.restitution_threshold = scene.contact.restitution_threshold;
  options.keep_gaps = scene.contact.reference == ContactReference::initial;
  options.push_out_speed = scene.contact.push_out_speed;
  options.broad_phase = {scene.contact.self_contact, scene.contact.fibre_contact};
  options.detection.tolerance = scene.contact.tolerance;
  options.detection.method = scene.contact.detection;
  if (scene.contact.detection == geometry::DetectionMethod::segments)
    options.detection.tolerance = longest / scene.contact.proxy_segments;
  if (const Contact& contact = scene.contact; contact.law != laws::Law::coulomb) {
    const ContactPenalty& penalty = contact.penalty;
    options.penalty = dynamics::PenaltyStep{{contact.law, penalty.distance_tolerance, penalty.slip_velocity},
                                            penalty.stiffness,
                                            penalty.tolerance,
                                            penalty.max_iterations};
    options.margin = std::max(options.margin, penalty.distance_tolerance);
    options.detection.softness = penalty.distance_tolerance;
  }
  options.fluid_tolerance = scene.fluid.tolerance;
  if (scene.grains) {
    options.grain_tolerance = scene.grains->tolerance;
    options.max_grain_iterations = scene.grains->max_iterations;
  }
  for (const Surface& surface : scene.surfaces) {
    if (!is_cloth(surface)) continue;
    options.cloth_tolerance = std::min(options.cloth_tolerance, surface.cloth.tolerance);
    options.max_cloth_iterations = std::max(options.max_cloth_iterations, surface.cloth.max_iterations);
  }
  options.solver.solver = scene.solver.name;
  options.solver.facets = scene.solver.facets.value_or(0);
  options.solver.tolerance = scene.solver.tolerance;
  options.solver.max_iterations = scene.solver.max_iterations;
  return options;
}

/// What lies in a mesh or goes through it, where no contact is as deep.
void add_intrusions(const contact::Geometry& geometry, Overlaps& overlaps) {
  const std::vector<contact::Intrusion> found = contact::intrusions(geometry);
  if (found.empty()) return;
  std::map<BodyPair, double> known;
  for (const assembly::ContactReport& overlap : overlaps) {
    double& depth = known[overlap.bodies()];
    depth = std::max(depth, -overlap.gap);
  }
  for (const contact::Intrusion& one : found) {
    const contact::Piece& a = geometry.pieces[static_cast<std::size_t>(one.piece)];
    assembly::ContactReport overlap;
    overlap.a = {.body = a.id, .s = contact::material_at(a, one.s)};
    overlap.b.body = contact::id_at(geometry, one.surface);
    overlap.gap = -one.depth;
    if (known[overlap.bodies()] < one.depth) overlaps.push_back(overlap);
  }
}

/// Refuses a fibre that is bent within its own thickness: all of its turns are in one place, where every piece touches
/// every other.
void require_wide_bends(const contact::Geometry& geometry) {
  constexpr double within = 1.9;  // radii between points that are half a turn of such a bend apart
  const std::vector<contact::Piece>& pieces = geometry.pieces;
  std::size_t ahead = 0;
  for (std::size_t i = 0; i < pieces.size() && pieces[i].id.is_fibre(); ++i) {
    const contact::Piece& from = pieces[i];
    const auto end_of = [](const contact::Piece& piece) { return contact::arc_length_at(piece, piece.interval.end); };
    const double begin = contact::arc_length_at(from, from.interval.begin);
    ahead = std::max(ahead, i);
    while (ahead + 1 < pieces.size() && pieces[ahead].body == from.body &&
           end_of(pieces[ahead]) - begin < std::numbers::pi * from.radius)
      ++ahead;
    const contact::Piece& to = pieces[ahead];
    if (to.body != from.body || end_of(to) - begin < std::numbers::pi * from.radius) continue;
    const double chord =
        (geometry::position(to.curve, to.interval.end) - geometry::position(from.curve, from.interval.begin)).norm();
    require(chord >= within * from.radius || end_of(to) - begin > 4.0 * std::numbers::pi * from.radius, [&] {
      return fmt::format(
          "fibre {} is bent within its own radius of {:.3g} m at {:.4g} m from its root; expected a wider "
          "bend, or contact.self_contact = false",
          from.id.index, from.radius, begin);
    });
  }
}

}  // namespace

namespace {

/// Roots of branches from their parents, as they start.
void take_branches_to_start(Case& out) {
  const assembly::Forest forest = assembly::make_forest(out.world);
  if (forest.trees.size() == out.world.fibres.size()) return;
  assembly::Kinematics at(out.world);
  for (const assembly::Tree& tree : forest.trees) {
    if (tree.fibres.size() > 1) assembly::update_tree(at, tree, out.state.rods);
  }
}

}  // namespace

Case build(const Scene& scene) {
  validate(scene);
  Case out;
  const std::vector<std::string> materials = material_names(scene);
  Random random(scene.simulation.seed);
  for (int g = 0; g < static_cast<int>(scene.fibres.size()); ++g) add_group(scene, g, materials, random, out);
  require(!out.world.fibres.empty() || has_free_bodies(scene) || !scene.surfaces.empty() || scene.grains,
          "scene.fibres: leave_out names all fibres; expected one at least that is there, or a free body");
  for (const Surface& surface : scene.surfaces) {
    if (is_cloth(surface))
      add_cloth(surface, index_of(materials, surface.material_name), out);
    else
      add_patch(surface, out);
  }
  if (scene.grains) add_grains(scene, out);
  for (const Obstacle& obstacle : scene.obstacles) {
    out.world.obstacles.push_back(obstacle.body);
    out.world.obstacle_material.push_back(index_of(materials, obstacle.body.material_name));
  }
  out.world.free_bodies = assembly::find_free_bodies(out.world.obstacles);
  for (const assembly::FreeBody& body : out.world.free_bodies) out.state.bodies.push_back(body.start);
  const Wind& wind = scene.simulation.wind;
  out.world.loads = {std::make_shared<assembly::Gravity>(scene.simulation.gravity),
                     std::make_shared<assembly::Air>(wind.mean, wind.gust, wind.period)};
  const auto count = static_cast<Eigen::Index>(materials.size());
  const auto coefficients = [&](const PairTable& table) -> MatrixX {
    return MatrixX::NullaryExpr(count, count, [&](Eigen::Index i, Eigen::Index j) {
      return table.coefficient(materials[static_cast<std::size_t>(i)], materials[static_cast<std::size_t>(j)]);
    });
  };
  MatrixX friction = coefficients(scene.friction);
  MatrixX kinetic = MatrixX::NullaryExpr(count, count, [&](Eigen::Index i, Eigen::Index j) {
    return scene.friction_kinetic.coefficient(materials[static_cast<std::size_t>(i)],
                                              materials[static_cast<std::size_t>(j)], friction(i, j));
  });
  out.world.law =
      std::make_shared<assembly::Coulomb>(std::move(friction), coefficients(scene.restitution), std::move(kinetic));
  out.world.contact_at = scene.contact.at;
  out.world.stations = scene.contact.stations;
  out.options = step_options(scene);
  take_branches_to_start(out);
  detail::add_embeddings(scene, out);
  add_holds(scene, out);
  if (const Fluid& fluid = scene.fluid; fluid.viscosity > 0.0)
    assembly::immerse(out.world, {fluid.viscosity, fluid.regularisation, fluid.coupling});
  return out;
}

assembly::Kinematics kinematics_at_start(const Case& built) {
  assembly::Kinematics out(built.world);
  for (std::size_t f = 0; f < built.state.rods.size(); ++f) out.rod(static_cast<int>(f)).update(built.state.rods[f]);
  return out;
}

Overlaps initial_overlaps(const Case& built, double tolerance) {
  const assembly::Kinematics at = kinematics_at_start(built);
  contact::Geometry geometry;
  assembly::contact_geometry(at, 0.0, geometry);
  if (built.options.broad_phase.self_contact) require_wide_bends(geometry);
  Overlaps overlaps;
  for (const contact::Contact& contact : contact::ContactSearch(built.options.broad_phase, {}).find(geometry, {})) {
    const contact::Piece& a = geometry.pieces[contact.a];
    if (contact.gap >= -tolerance * a.radius || assembly::joined(at, geometry, contact)) continue;
    overlaps.push_back(assembly::report_of(geometry, contact));
  }
  add_intrusions(geometry, overlaps);
  std::stable_sort(overlaps.begin(), overlaps.end(), [](const auto& p, const auto& q) { return p.gap < q.gap; });
  return overlaps;
}

Overlaps initial_overlaps(const Case& built) {
  constexpr double small = 0.01, apart = 1e-9, sides_clear = 0.5;
  if (built.options.keep_gaps) return initial_overlaps(built, sides_clear);
  const bool barrier = built.options.penalty && built.options.penalty->law.law == laws::Law::ipc;
  return initial_overlaps(built, barrier ? -apart : small);
}

std::string describe(const assembly::ContactReport& overlap, const Scene& scene, const assembly::World& world) {
  const auto& [a, b] = overlap.bodies();
  constexpr double rounding = 1e-9;  // of lengths of a metre and less
  const std::string does =
      overlap.gap > -rounding ? "touches {}" : fmt::format("overlaps {{}} by {:.3g} m", -overlap.gap);
  const std::string other = b.is_fibre() ? fmt::format("fibre {} ({:.4g} m from its root)", b.index, overlap.b.s)
                                         : fmt::format("obstacle '{}'", scene.obstacles[b.index].body.name);
  const std::string what = fmt::format(fmt::runtime(does), other);
  if (!a.is_fibre()) return fmt::format("free body '{}' {}", scene.obstacles[a.index].body.name, what);
  return fmt::format("fibre {} of '{}' {} at {:.4g} m from its root", a.index,
                     scene.fibres[world.fibres[a.index].group].name, what, overlap.a.s);
}

std::string describe_pairs(const Overlaps& overlaps, const Scene& scene, const assembly::World& world) {
  const auto name = [&](BodyId id, const char* kind) {
    return id.is_fibre() ? fmt::format("'{}'", scene.fibres[world.fibres[id.index].group].name)
                         : fmt::format("{} '{}'", kind, scene.obstacles[id.index].body.name);
  };
  std::map<std::string, std::size_t> counts;
  for (const assembly::ContactReport& one : overlaps) {
    const std::string a = name(one.a.body, "free body");
    const std::string b = name(one.b.body, "obstacle");
    const bool fibres = one.a.body.is_fibre() && one.b.body.is_fibre();
    const bool swapped = fibres && b < a;
    ++counts[a == b ? fmt::format("within {}", a) : fmt::format("of {} with {}", swapped ? b : a, swapped ? a : b)];
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& p, const auto& q) { return p.second > q.second; });
  constexpr std::size_t told = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(told, sorted.size()); ++i)
    out += fmt::format("{}{} {}", i > 0 ? ", " : "", sorted[i].second, sorted[i].first);
  if (sorted.size() > told) out += fmt::format(", and others of {} more pairs", sorted.size() - told);
  return out;
}

void set_out_from(Case& built, dynamics::SimulationState state) {
  const std::size_t count = std::min(built.world.fibres.size(), state.rods.size());  // the stepper refuses any other
  for (std::size_t f = 0; f < count; ++f) {
    assembly::Fibre& fibre = built.world.fibres[f];
    const bool moved = !fibre.root_motion.at_rest() || !fibre.root_motion.keyframes.empty();
    if (assembly::clamped(fibre) && !moved && fibre.embedding.obstacle < 0) fibre.root = state.rods[f].root;
  }
  if (state.hold_forces.size() != built.world.holds.size()) state.hold_forces.clear();  // of another scene's
  built.state = std::move(state);
}

}  // namespace tresse::scene
