#include <tresse/settle/push_out.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

namespace tresse::settle {
namespace {

bodies::Motion frozen(const bodies::Motion& motion) {
  const Pose shift = bodies::displacement(motion, 0.0);
  const Eigen::AngleAxisd turn(shift.frame);
  bodies::Motion out;
  out.keyframes = {{0.0, shift.position, turn.angle() * turn.axis()}};
  return out;
}

/// The world at time zero with nothing that moves it but contact: every fibre's present shape is its natural one, and
/// free bodies stay where they are.
assembly::World still_world(const scene::Case& built) {
  assembly::World out;
  for (std::size_t f = 0; f < built.world.fibres.size(); ++f) {
    const assembly::Fibre& from = built.world.fibres[f];
    assembly::Fibre fibre;
    const auto rod = from.model->make_rod();
    rod->update(built.state.rods[f]);
    fibre.model = from.model->with_rest_curvature(rod->curvature());
    fibre.root = assembly::root_pose(from, 0.0);
    fibre.attachment = from.attachment;
    fibre.embedding = from.embedding;
    fibre.group = from.group;
    out.fibres.push_back(std::move(fibre));
  }
  out.obstacles = built.world.obstacles;
  for (bodies::Obstacle& obstacle : out.obstacles) {
    obstacle.motion = frozen(obstacle.motion);
    obstacle.mass = 0.0;
    bodies::stop_at_start(obstacle.shape);
  }
  out.obstacle_material.assign(out.obstacles.size(), 0);
  out.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  return out;
}

dynamics::SimulationState at_rest(const dynamics::SimulationState& state) {
  dynamics::SimulationState out;
  for (const rods::RodState& rod : state.rods) {
    out.rods.push_back({rod.root, {}, rod.coordinates, VectorX::Zero(rod.coordinates.size()), rod.memory});
  }
  return out;
}

/// The least of EI1, EI2 and GJ, over the rod: what a little more curvature everywhere takes of energy. What takes none
/// does not count: a mass-spring chain's twist, and the turning of the plane that it curls in. [N m^2]
double softest_stiffness(const rods::RodModel& rod) {
  const auto bent = rod.make_rod();
  const double more = 1e-3 / rod.length();
  Vector3 stiffness;
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    VectorX curvature = rod.rest_curvature();
    for (Eigen::Index i = axis; i < curvature.size(); i += 3) curvature[i] += more;
    bent->update(bent->shaped({}, {}, curvature, VectorX::Zero(curvature.size())));
    stiffness[axis] = 2.0 * bent->elastic_energy() / (more * more * rod.length());
  }
  constexpr double none = 1e-6;  // of the largest; a ribbon a hundred times as wide as thick has 1e-4
  const double largest = stiffness.maxCoeff();
  double softest = largest;
  for (const double value : stiffness) {
    if (value > none * largest) softest = std::min(softest, value);
  }
  return softest;
}

/// Longer than the slowest vibration of any fibre, so that stiffness rather than inertia decides what gives way.
double long_time_step(const assembly::World& world) {
  double longest = 0.0;
  for (const assembly::Fibre& fibre : world.fibres) {
    const rods::RodModel& rod = *fibre.model;
    longest = std::max(longest, std::sqrt(rod.mass() * std::pow(rod.length(), 3) / softest_stiffness(rod)));
  }
  return 3.0 * longest;
}

std::vector<Vector3> points(const rods::Rod& rod) {
  std::vector<Vector3> out;
  for (int i = 0; i <= 2 * rod.piece_count(); ++i) {
    const double begin = rod.piece_begin(i / 2);
    const double s = i % 2 == 0 ? begin : 0.5 * (begin + rod.piece_begin(i / 2 + 1));
    out.push_back(rod.section(s).position);
  }
  return out;
}

/// Farthest that a point of any fibre moved from `before`, absolute [m] and relative to its fibre's length.
std::pair<double, double> moves(const scene::Case& built, const dynamics::SimulationState& before) {
  std::pair<double, double> out{0.0, 0.0};
  for (std::size_t f = 0; f < before.rods.size(); ++f) {
    const auto rod = built.world.fibres[f].model->make_rod();
    rod->update(before.rods[f]);
    const std::vector<Vector3> old = points(*rod);
    rod->update(built.state.rods[f]);
    const std::vector<Vector3> now = points(*rod);
    double move = 0.0;
    for (std::size_t i = 0; i < old.size(); ++i) move = std::max(move, (now[i] - old[i]).norm());
    out = {std::max(out.first, move), std::max(out.second, move / rod->length())};
  }
  return out;
}

/// One round. False when no state came out of it.
bool push(scene::Case& built, double deepest, double dt) {
  double radius = 0.0;
  for (const assembly::Fibre& fibre : built.world.fibres) radius = std::max(radius, fibre.model->contact_radius());
  dynamics::StepOptions options = built.options;
  options.dt = dt;
  options.scheme = dynamics::Scheme::semi_implicit;
  options.theta = 1.0;
  // A part at a time: the overlap is taken out to first order only.
  options.push_out_speed = std::max(0.25 * radius, 0.2 * deepest) / dt;
  options.max_halvings = options.relinearisations = options.max_relinearisations = 0;  // rounds do that
  options.detection = {};
  options.penalty.reset();
  dynamics::Stepper stepper(still_world(built), options, at_rest(built.state));
  if (!stepper.step().finite) return false;
  for (std::size_t f = 0; f < built.state.rods.size(); ++f) {
    const rods::RodState& pushed = stepper.state().rods[f];
    built.state.rods[f].coordinates = pushed.coordinates;
    built.state.rods[f].memory = pushed.memory;
    if (built.world.fibres[f].model->root_condition() != rods::RootCondition::clamped)
      built.state.rods[f].root = pushed.root;
  }
  return true;
}

/// Points are held where they are at the start.
void hold_where_they_are(scene::Case& built) {
  if (built.world.holds.empty()) return;
  const assembly::Kinematics at = scene::kinematics_at_start(built);
  for (assembly::Hold& hold : built.world.holds) {
    const rods::RodSection section = at.rod(hold.fibre).section(assembly::held_arc_length(at, hold));
    hold.pose = {section.position, section.frame};
  }
}

}  // namespace

PushOut push_out(scene::Case& built, const PushOutOptions& options) {
  require(options.tolerance > 0.0, "push-out tolerance: must be positive");
  require(options.max_rounds >= 1, "push-out rounds: must be 1 or more");
  constexpr int patience = 20;  // rounds without a new least overlap
  constexpr double longest =
      0.1;  // move in a round, of the length: more is a fight that contacts at a clamped root lose
  const dynamics::SimulationState before = built.state;
  const double dt = long_time_step(built.world);
  PushOut out;
  double least = INFINITY;
  int last_gain = 0;
  for (;; ++out.rounds) {
    auto overlaps = scene::initial_overlaps(built, options.tolerance);
    std::erase_if(overlaps, [](const assembly::ContactReport& overlap) { return !overlap.a.body.is_fibre(); });
    out.deepest = overlaps.empty() ? 0.0 : -overlaps.front().gap;
    out.status = Status::converged;
    if (overlaps.empty()) break;
    if (out.deepest < 0.99 * least) {
      least = out.deepest;
      last_gain = out.rounds;
    }
    out.status = Status::max_iterations;
    if (out.rounds == options.max_rounds) break;
    out.status = Status::stalled;
    if (out.rounds - last_gain > patience) break;
    const dynamics::SimulationState round = built.state;
    if (push(built, out.deepest, dt) && moves(built, round).second <= longest) continue;
    built.state = round;
    break;
  }
  out.largest_move = moves(built, before).first;
  hold_where_they_are(built);
  return out;
}

}  // namespace tresse::settle
