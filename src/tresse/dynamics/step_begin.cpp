#include <algorithm>
#include <cmath>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

// What a stepper and a part of a step begin with: from a state and the motions that are prescribed.
namespace tresse::dynamics::detail {
namespace {

bool is_rotation(const Matrix3& frame) {
  constexpr double drift = 1e-6;
  return (frame.transpose() * frame - Matrix3::Identity()).norm() <= drift && frame.determinant() > 0.0;
}

void validate(const assembly::World& world, const SimulationState& state) {
  require(state.rods.size() == world.fibres.size(), "state: needs one rod state a fibre");
  require(state.bodies.size() == world.free_bodies.size(), "state: needs one body state a free body");
  require(state.hold_forces.empty() || state.hold_forces.size() == world.holds.size(), "state: needs one force a hold");
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const int m = world.fibres[f].model->coordinate_count();
    require(state.rods[f].coordinates.size() == m && state.rods[f].rates.size() == m,
            "state: coordinates do not match the rod");
    require(is_rotation(state.rods[f].root.frame), "state: the frame of a root is no rotation");
  }
  for (const bodies::BodyState& body : state.bodies)
    require(is_rotation(body.pose.frame), "state: the frame of a free body is no rotation");
}

void validate(const assembly::World& world, const StepOptions& options, const SimulationState& state) {
  require(options.dt > 0.0 && std::isfinite(options.dt), "time step: must be positive and finite");
  require(options.theta >= 0.5 && options.theta <= 1.0, "theta: must be 0.5 to 1");
  require(options.margin > 0.0, "contact margin: must be positive");
  require(options.push_out_speed > 0.0, "push-out speed: must be positive");
  require(options.relinearisations >= 0, "relinearisations: must be 0 or more");
  require(options.max_halvings >= 0 && options.max_halvings <= 20, "halvings: must be 0 to 20");
  require(options.step_error >= 0.0, "step error: must be 0 or more");
  require(options.step_error == 0.0 || options.theta > 0.5, "theta: must be above 0.5 for a step error");
  require(options.max_nonlinear_iterations >= 1, "nonlinear iterations: must be 1 or more");
  require(options.nonlinear_tolerance > 0.0, "nonlinear tolerance: must be positive");
  require(options.motion_tolerance > 0.0, "motion tolerance: must be positive");
  require(options.max_motion_iterations >= 1, "motion iterations: must be 1 or more");
  require(options.scheme != Scheme::carried || options.theta == 1.0, "theta: must be 1 in the carried scheme");
  require(world.holds.empty() || options.scheme != Scheme::nonlinear,
          "scheme: must not be nonlinear where points are held");
  validate(world, state);
}

}  // namespace

Engine::Engine(assembly::World world, const StepOptions& options, SimulationState initial)
    : world_(std::move(world)),
      start_(world_),
      linearised_(start_),
      end_(start_),
      options_(options),
      state_(std::move(initial)),
      finder_(world_, options_),
      bodies_(world_),
      holds_(world_, options_, motion_) {
  validate(world_, options_, state_);
  const std::size_t count = world_.fibres.size();
  motion_.forest = assembly::make_forest(world_);
  const std::size_t trees = motion_.forest.trees.size();
  for (const assembly::Tree& tree : motion_.forest.trees) motion_.matrices.emplace_back(world_, tree);
  motion_.roots.resize(trees);
  motion_.velocities.resize(count + world_.free_bodies.size());
  start_velocities_.resize(count);
  free_results_.assign(count, {Status::converged, 0});
  stage_rods_.resize(count);
  linearised_rods_.resize(count);
  material_.resize(count);
  knows_material_.resize(trees);
  pass_velocities_.resize(count);
  pass_material_.resize(count);
  knows_pass_.resize(trees);
  const bool all_linear = std::all_of(world_.fibres.begin(), world_.fibres.end(),
                                      [](const assembly::Fibre& fibre) { return fibre.model->linear_elasticity(); });
  if (!all_linear || options_.scheme == Scheme::linearised || options_.theta < 1.0) trial_ = start_;
  if (options_.scheme == Scheme::carried) {
    for (const assembly::Tree& tree : motion_.forest.trees) masses_.emplace_back(world_, tree);
  }
  end_velocities_.resize(count);
  carried_.resize(count);
  next_roots_.resize(count);
  stage_roots_.resize(count);
  root_accelerations_.resize(count);
  motion_.holds.resize(trees);
  energy_floor_ = assembly::energy_floor(world_, options_.dt);
  if (state_.step == 0) {
    // A moving root starts with its motion under way: no impulse at time zero.
    for (std::size_t f = 0; f < count; ++f) {
      const assembly::Fibre& fibre = world_.fibres[f];
      if (!clamped(fibre)) continue;
      state_.rods[f].root = assembly::root_pose(fibre, 0.0);
      state_.rods[f].root_velocity =
          assembly::mean_twist(state_.rods[f].root, assembly::root_pose(fibre, options_.dt), options_.dt);
    }
  }
  restore(state_);
  previous_ = state_;
}

/// Brings the rods of the start to a state; the roots of branches in `states` follow their parents.
void Engine::update_start(std::vector<rods::RodState>& states) {
  for_each_fibre(motion_.forest.trees.size(),
                 [&](std::size_t t) { assembly::update_tree(start_, motion_.forest.trees[t], states); });
}

/// Rods, natural shapes and contacts of `state`, at time().
void Engine::restore(SimulationState& state) {
  state.hold_forces.resize(world_.holds.size(), Vector3::Zero());
  for (assembly::Kinematics* at : all_kinematics()) at->set_natural_shapes(time());
  update_start(state.rods);
  start_.bodies = state.bodies;
  last_part_ = {};
  energies_ = energies_of(start_);
  momenta_ = momenta_of(start_);
  here_ = finder_.find(start_, time(), velocities_of(state.rods, state.bodies), state.warm);
}

void Engine::set_state(SimulationState state) {
  validate(world_, state);
  state_ = std::move(state);
  restore(state_);
  previous_ = state_;
  redirected_ = false;
}

std::vector<assembly::Kinematics*> Engine::all_kinematics() {
  std::vector<assembly::Kinematics*> out{&start_, &linearised_, &end_};
  if (trial_) out.push_back(&*trial_);
  return out;
}

/// A fibre gets at once what it grows over a part of the step; what its energy gains is work from outside.
void Engine::grow(int f, const Span& span) {
  rods::Rod& rod = start_.rod(f);
  const auto energy_at = [&](double time) {
    assembly::set_natural_shape(world_.fibres[f], time, rod);
    rod.update(state_.rods[f]);
    const rods::RodEnergies energies = rod.energies(world_.gravity);
    return energies.kinetic + energies.elastic + energies.gravity;
  };
  const double before = energy_at(span.begin);
  growth_work_ += energy_at(span.end) - before;
  for (assembly::Kinematics* at : all_kinematics()) {
    if (at != &start_) assembly::set_natural_shape(world_.fibres[f], span.end, at->rod(f));
  }
}

void Engine::begin_span(const Span& span) {
  const double dt = span.end - span.begin;
  motion_.begin = span.begin;
  motion_.dt = dt;
  motion_.stage = options_.theta * dt;
  end_time_ = span.end;
  growth_work_ = 0.0;
  std::fill(knows_material_.begin(), knows_material_.end(), 0);
  air_ = assembly::wind_at(world_, span.begin + stage());
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    if (assembly::grows(world_.fibres[f], span.begin, span.end)) grow(static_cast<int>(f), span);
  }
  motion_.obstacles_begin.clear();
  motion_.obstacles_end.clear();
  for (int k = 0; k < static_cast<int>(world_.obstacles.size()); ++k) {
    motion_.obstacles_begin.push_back(assembly::obstacle_pose(start_, k, span.begin));
    motion_.obstacles_end.push_back(assembly::obstacle_pose(start_, k, span.end));
  }
  bodies_.begin(start_, motion_);
  start_rods_ = state_.rods;
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    const assembly::Fibre& fibre = world_.fibres[f];
    root_accelerations_[f] = {};
    if (!clamped(fibre)) continue;
    const Twist& old = state_.rods[f].root_velocity;
    next_roots_[f] = assembly::root_pose(fibre, span.end);
    stage_roots_[f] = assembly::root_pose(fibre, span.begin + options_.theta * dt);
    const Twist twist = assembly::mean_twist(state_.rods[f].root, next_roots_[f], dt);
    root_accelerations_[f] = {(twist.linear - old.linear) / dt, (twist.angular - old.angular) / dt};
    start_rods_[f].root_velocity = twist;
    if (twist.linear != old.linear || twist.angular != old.angular)
      start_.rod(static_cast<int>(f)).update(start_rods_[f]);
  }
  for (const assembly::Tree& tree : motion_.forest.trees) {
    if (branched(tree)) assembly::update_tree(start_, tree, start_rods_);
  }
  holds_.begin(span.end);
}

}  // namespace tresse::dynamics::detail
