#include <cmath>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/detail/engine.hpp>
#include <tresse/dynamics/detail/surface_motion.hpp>
#include <tresse/math/rotations.hpp>

// What happens between steps: what a stepper begins with, other states, and what is steered from outside.
namespace tresse::dynamics::detail {
namespace {

bool is_rotation(const Matrix3& frame) {
  constexpr double drift = 1e-6;
  return (frame.transpose() * frame - Matrix3::Identity()).norm() <= drift && frame.determinant() > 0.0;
}

void validate(const assembly::World& world, const SimulationState& state) {
  require(state.rods.size() == world.fibres.size(), "state: needs one rod state a fibre");
  require(state.bodies.size() == world.free_bodies.size(), "state: needs one body state a free body");
  require(state.surfaces.size() == world.surfaces.size(), "state: needs one surface state a surface");
  for (std::size_t i = 0; i < world.surfaces.size(); ++i) {
    const surfaces::Surface& surface = *world.surfaces[i].model;
    require(state.surfaces[i].position.size() == surface.position_count() &&
                state.surfaces[i].velocity.size() == surface.velocity_count(),
            "state: coordinates do not match the surface");
  }
  if (world.grains) {
    const grains::GrainState wanted = grains::at_rest(*world.grains);
    require(
        state.grains.velocity.size() == wanted.velocity.size() && state.grains.stress.size() == wanted.stress.size(),
        "state: the grains are of another grid");
  }
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
  require(options.restitution_threshold.value_or(0.0) >= 0.0, "restitution threshold: must be 0 or more");
  require(options.relinearisations >= 0, "relinearisations: must be 0 or more");
  require(options.max_halvings >= 0 && options.max_halvings <= 20, "halvings: must be 0 to 20");
  require(!options.step_error || *options.step_error > 0.0, "step error: must be positive");
  require(!options.step_error || options.theta > 0.5, "theta: must be above 0.5 for a step error");
  require(options.max_nonlinear_iterations >= 1, "nonlinear iterations: must be 1 or more");
  require(options.nonlinear_tolerance > 0.0, "nonlinear tolerance: must be positive");
  require(options.motion_tolerance > 0.0, "motion tolerance: must be positive");
  require(options.max_motion_iterations >= 1, "motion iterations: must be 1 or more");
  require(options.scheme != Scheme::carried || options.theta == 1.0, "theta: must be 1 in the carried scheme");
  if (options.penalty) {
    laws::validate(options.penalty->law);
    require(options.penalty->stiffness.value_or(1.0) > 0.0, "penalty stiffness: must be positive");
    require(options.penalty->tolerance > 0.0, "penalty tolerance: must be positive");
    require(options.penalty->max_iterations >= 1, "penalty iterations: must be 1 or more");
    require(options.theta == 1.0, "theta: must be 1 with a penalty law");
    require(options.margin >= options.penalty->law.delta, "contact margin: must be the penalty's delta or more");
  }
  require(!world.fluid || options.theta == 1.0, "theta: must be 1 in a fluid");
  require(!world.fluid || options.scheme != Scheme::nonlinear, "scheme: must not be nonlinear in a fluid");
  require(options.fluid_tolerance > 0.0, "fluid tolerance: must be positive");
  require(options.grain_tolerance > 0.0, "grain tolerance: must be positive");
  require(options.max_grain_iterations >= 1, "grain iterations: must be 1 or more");
  require(options.cloth_tolerance > 0.0, "cloth tolerance: must be positive");
  require(options.max_cloth_iterations >= 1, "cloth iterations: must be 1 or more");
  require(world.holds.empty() || options.scheme != Scheme::nonlinear,
          "scheme: must not be nonlinear where points are held");
  validate(world, state);
}

/// The state itself, once it, the world and the options are known to fit.
SimulationState validated(const assembly::World& world, const StepOptions& options, SimulationState state) {
  validate(world, options, state);
  return state;
}

}  // namespace

Engine::Engine(assembly::World world, const StepOptions& options, SimulationState initial)
    : world_(std::move(world)),
      options_(options),
      state_(validated(world_, options_, std::move(initial))),
      part_(world_, options_, state_),
      trees_(part_),
      bodies_(world_),
      fluid_(part_),
      holds_(world_, options_, part_.motion),
      finder_(world_, options_),
      passes_(part_, bodies_, holds_, overlaps_),
      repairs_(part_, holds_, overlaps_, finder_, passes_),
      energy_(assembly::energy_floor(world_, options_.dt)),
      momentum_(part_, trees_.carried()),
      grains_(world_) {
  if (state_.step == 0) {
    // A moving root starts with its motion under way: no impulse at time zero.
    for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
      const assembly::Fibre& fibre = world_.fibres[f];
      if (!clamped(fibre)) continue;
      state_.rods[f].root = assembly::root_pose(fibre, 0.0);
      state_.rods[f].root_velocity =
          assembly::mean_twist(state_.rods[f].root, assembly::root_pose(fibre, options_.dt), options_.dt);
    }
  }
  restore(state_);
  previous_ = state_;
  energies_ = all_energies();
}

/// Rods, natural shapes and contacts of `state`, at time().
void Engine::restore(SimulationState& state) {
  state.hold_forces.resize(world_.holds.size(), Vector3::Zero());
  set_natural_shapes(part_, time());
  update_start(part_, state.rods);
  part_.start.bodies = state.bodies;
  last_part_ = {};
  energy_.begin(energies_of(part_.start));
  momentum_.begin(part_.start);
  here_ = finder_.find(part_.start, time(), velocities_of(part_.start, state.rods, state.bodies), state.warm);
}

void Engine::differentiate(std::vector<Variation> variations) {
  tangent_ = std::make_unique<TangentMotion>(part_, std::move(variations));
}

void Engine::keep_for_gradient() { tape_ = std::make_unique<GradientTape>(part_); }

/// Of the last pass, and of the end of this part. Fibres are trees of their own where something is differentiated.
KnownMatrices Engine::known_matrices() const {
  KnownMatrices out;
  for (const int t : part_.motion.forest.tree_of) {
    const assembly::TreeMatrix* end = trees_.carried().mass_at_end(t);
    out.last_pass.push_back(&part_.motion.matrices[static_cast<std::size_t>(t)].lone());
    out.end.push_back(end != nullptr ? &end->lone() : nullptr);
  }
  return out;
}

void Engine::stop_derivatives() {
  tangent_.reset();
  tape_.reset();
}

rods::RodEnergies Engine::all_energies() const {
  rods::RodEnergies out = energy_.energies();
  const rods::RodEnergies of_surfaces = surface_energies(world_, state_.surfaces);
  out.kinetic += of_surfaces.kinetic;
  out.elastic += of_surfaces.elastic;
  out.gravity += of_surfaces.gravity;
  return out;
}

void Engine::set_state(SimulationState state) {
  validate(world_, state);
  stop_derivatives();
  state_ = std::move(state);
  restore(state_);
  previous_ = state_;
  energies_ = all_energies();
  redirected_ = false;
}

bodies::Motion Engine::driven(const Pose& now, const Twist& velocity, double duration) const {
  require(velocity.linear.allFinite() && velocity.angular.allFinite(), "velocity: expected finite numbers");
  require(duration > 0.0, "duration: expected a time above 0 s");
  bodies::Motion out;
  out.keyframes = {{time(), now.position, math::rotation_log(now.frame)}};
  out.velocity = velocity.linear;
  out.angular_velocity = velocity.angular;
  out.start = time();
  if (std::isfinite(duration)) out.stop = time() + duration;
  return out;
}

void Engine::drive_obstacle(int obstacle, const Twist& velocity, double duration) {
  require(obstacle >= 0 && obstacle < static_cast<int>(world_.obstacles.size()),
          "obstacle: there is none of this index");
  require(assembly::free_body_of(world_, obstacle) < 0,
          "obstacle: is free and moves by forces; expected one without mass");
  bodies::Motion& motion = world_.obstacles[static_cast<std::size_t>(obstacle)].motion;
  motion = driven(bodies::displacement(motion, time()), velocity, duration);
  redirected_ = true;
}

void Engine::drive_root(int fibre, const Twist& velocity, double duration) {
  require(fibre >= 0 && fibre < static_cast<int>(world_.fibres.size()), "fibre: there is none of this index");
  assembly::Fibre& driven_fibre = world_.fibres[static_cast<std::size_t>(fibre)];
  require(clamped(driven_fibre), "fibre: its root is not clamped and moves by forces");
  // About the root itself from now on, whatever it turned about before.
  Pose now = bodies::displacement(driven_fibre.root_motion, time());
  now.position += now.frame * driven_fibre.root_arm - driven_fibre.root_arm;
  driven_fibre.root_arm.setZero();
  driven_fibre.root_motion = driven(now, velocity, duration);
  redirected_ = true;
}

}  // namespace tresse::dynamics::detail
