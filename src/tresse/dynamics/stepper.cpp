#include <tresse/dynamics/stepper.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <oneapi/tbb/parallel_for.h>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics {
namespace {

/// Adds the wall time of its life to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  Clock::time_point start_ = Clock::now();
};

void validate(const assembly::World& world, const StepOptions& options, const SimulationState& state) {
  require(options.dt > 0.0 && std::isfinite(options.dt), "time step: must be positive and finite");
  require(options.margin > 0.0, "contact margin: must be positive");
  require(options.push_out_speed > 0.0, "push-out speed: must be positive");
  require(options.relinearisations >= 0, "relinearisations: must be 0 or more");
  require(options.max_nonlinear_iterations >= 1, "nonlinear iterations: must be 1 or more");
  require(options.nonlinear_tolerance > 0.0, "nonlinear tolerance: must be positive");
  require(state.rods.size() == world.fibres.size(), "state: needs one rod state a fibre");
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const int m = world.fibres[f].rod->curvature_count();
    require(state.rods[f].curvature.size() == m && state.rods[f].curvature_rate.size() == m,
            "state: curvatures do not match the rod");
  }
}

bool clamped(const assembly::Fibre& fibre) { return fibre.rod->root_condition() == rods::RootCondition::clamped; }

void refresh_kinematics(assembly::World& world, const std::vector<rods::RodState>& states) {
  oneapi::tbb::parallel_for(std::size_t{0}, states.size(),
                            [&](std::size_t f) { world.fibres[f].rod->update(states[f]); });
}

double elastic_energy(const assembly::World& world) {
  double energy = 0.0;
  for (const assembly::Fibre& fibre : world.fibres) energy += fibre.rod->energies(world.gravity).elastic;
  return energy;
}

}  // namespace

Stepper::Stepper(assembly::World world, const StepOptions& options, SimulationState initial)
    : world_(std::move(world)), options_(options), state_(std::move(initial)) {
  validate(world_, options_, state_);
  const std::size_t count = world_.fibres.size();
  motion_.matrices.resize(count);
  motion_.velocities.resize(count);
  start_velocities_.resize(count);
  next_roots_.resize(count);
  root_twists_.resize(count);
  root_accelerations_.resize(count);
  motion_.dt = options_.dt;
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
  previous_rods_ = state_.rods;
  set_natural_shapes(time());
  refresh_kinematics(world_, state_.rods);
  geometry_ = assembly::contact_geometry(world_, time());
}

void Stepper::set_natural_shapes(double time) {
  for (assembly::Fibre& fibre : world_.fibres) {
    if (fibre.rest_onset > 0.0) fibre.rod->set_rest_curvature(assembly::rest_curvature_at(fibre, time));
  }
}

void Stepper::begin_step() {
  const double begin = time();
  const double end = static_cast<double>(state_.step + 1) * options_.dt;
  growth_work_ = 0.0;
  if (std::any_of(world_.fibres.begin(), world_.fibres.end(),
                  [&](const assembly::Fibre& fibre) { return begin < fibre.rest_onset; })) {
    growth_work_ = -elastic_energy(world_);
    set_natural_shapes(end);
    refresh_kinematics(world_, state_.rods);
    growth_work_ += elastic_energy(world_);
  }
  motion_.obstacles_begin.clear();
  motion_.obstacles_end.clear();
  for (const bodies::Obstacle& obstacle : world_.obstacles) {
    motion_.obstacles_begin.push_back(assembly::obstacle_pose(obstacle, begin));
    motion_.obstacles_end.push_back(assembly::obstacle_pose(obstacle, end));
  }
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    const assembly::Fibre& fibre = world_.fibres[f];
    root_accelerations_[f] = {};
    if (!clamped(fibre)) continue;
    const Twist& old = state_.rods[f].root_velocity;
    next_roots_[f] = assembly::root_pose(fibre, end);
    root_twists_[f] = assembly::mean_twist(state_.rods[f].root, next_roots_[f], options_.dt);
    root_accelerations_[f] = {(root_twists_[f].linear - old.linear) / options_.dt,
                              (root_twists_[f].angular - old.angular) / options_.dt};
    state_.rods[f].root_velocity = root_twists_[f];
  }
}

/// Linearises fibre dynamics: M v+ - M v = dt (forces at `at`) with elasticity, damping and drag implicit in v+. At the
/// end of the step (`at_end`) the elastic force is that of `at` plus dt K (v_at - v+).
void Stepper::assemble_fibre(int f, const rods::RodState& at, const VectorX& v_at, bool at_end) {
  assembly::Fibre& fibre = world_.fibres[f];
  rods::Rod& rod = *fibre.rod;
  const double dt = options_.dt;
  rod.update(at);
  MatrixX matrix(rod.dof(), rod.dof());
  rod.mass_matrix(matrix);
  VectorX& v = motion_.velocities[f];
  v.noalias() = matrix * start_velocities_[f];
  VectorX force(rod.dof());
  rod.elastic_force(force);
  v += dt * force;
  rod.inertial_and_external_force({world_.gravity, root_accelerations_[f], fibre.drag, world_.wind}, force);
  v += dt * force;
  if (at_end) {
    MatrixX stiffness = MatrixX::Zero(rod.dof(), rod.dof());
    rod.add_stiffness(1.0, 0.0, stiffness);
    v += dt * dt * (stiffness * v_at);
  }
  rod.add_stiffness(dt * dt, dt, matrix);
  if (fibre.drag > 0.0) rod.add_drag_matrix(dt * fibre.drag, matrix);
  if (!motion_.matrices[f].factor(matrix)) {
    v.setConstant(std::nan(""));  // reported as a state that stopped being finite
    return;
  }
  motion_.matrices[f].solve(v);
}

std::vector<rods::RodState> Stepper::end_states(const std::vector<VectorX>& velocities) const {
  std::vector<rods::RodState> states(velocities.size());
  for (std::size_t f = 0; f < states.size(); ++f) {
    states[f] = rods::advanced(*world_.fibres[f].rod, state_.rods[f], velocities[f], options_.dt, next_roots_[f],
                               root_twists_[f]);
  }
  return states;
}

/// Lets boxes and search distances cover what the pieces may travel in this step.
void Stepper::set_reaches() {
  constexpr double safety = 1.2;
  const double dt = options_.dt;
  for (contact::Piece& piece : geometry_.pieces) {
    double speed = 0.0;
    for (const double s : {piece.interval.begin, piece.interval.end}) {
      if (piece.fibre) {
        const rods::Rod& rod = *world_.fibres[piece.body].rod;
        speed = std::max({speed, rod.velocity(piece.element, s, start_velocities_[piece.body]).norm(),
                          rod.velocity(piece.element, s, motion_.velocities[piece.body]).norm()});
      } else {
        const int obstacle = piece.body - static_cast<int>(world_.fibres.size());
        const Vector3 point = geometry::position(piece.curve, s);
        speed = std::max(speed, assembly::obstacle_velocity(motion_, obstacle, point, assembly::Instant::begin).norm());
      }
    }
    piece.reach = 0.5 * options_.margin + safety * dt * speed;
  }
}

Stepper::Pass Stepper::first_pass() {
  Pass pass;
  {
    Stopwatch watch(timing_.t_assembly);
    oneapi::tbb::parallel_for(std::size_t{0}, world_.fibres.size(), [&](std::size_t f) {
      start_velocities_[f] = rods::generalised_velocity(*world_.fibres[f].rod, state_.rods[f]);
      assemble_fibre(static_cast<int>(f), state_.rods[f], start_velocities_[f], false);
    });
  }
  {
    Stopwatch watch(timing_.t_detection);
    geometry_ = assembly::contact_geometry(world_, time());
    set_reaches();
    pairs_ = contact::candidate_pairs(geometry_, options_.broad_phase);
    pass.detect(world_, geometry_, pairs_, motion_, options_, nullptr);
  }
  pass.take_impulses(state_.warm, geometry_);
  return pass;
}

Stepper::Pass Stepper::next_pass(const Pass& previous) {
  const auto states = end_states(previous.velocities);
  {
    Stopwatch watch(timing_.t_assembly);
    oneapi::tbb::parallel_for(std::size_t{0}, states.size(), [&](std::size_t f) {
      if (options_.scheme == Scheme::nonlinear) {
        assemble_fibre(static_cast<int>(f), states[f], previous.velocities[f], true);
      } else {
        world_.fibres[f].rod->update(states[f]);
      }
    });
  }
  Pass pass;
  {
    Stopwatch watch(timing_.t_detection);
    assembly::move_geometry(world_, static_cast<double>(state_.step + 1) * options_.dt, geometry_);
    pass.detect(world_, geometry_, pairs_, motion_, options_, &previous);
  }
  pass.take_impulses(previous.impulses(geometry_), geometry_);
  return pass;
}

void Stepper::solve(Pass& pass) {
  {
    Stopwatch watch(timing_.t_assembly);
    pass.problem = assembly::contact_problem(world_, geometry_, pass.contacts, motion_, pass.bias, pass.instant);
  }
  Stopwatch watch(timing_.t_solve);
  pass.solution = friction::solve_gauss_seidel(pass.problem, pass.guess, options_.solver);
  pass.velocities = assembly::constrained_velocities(pass.problem, pass.solution.impulse, motion_);
}

/// |v_after - v_before| in the norm of the step matrix, relative to the larger of |v_after| and dt |M^-1 force|: the
/// residual of the implicit step at `before`, preconditioned.
double Stepper::velocity_change(const Pass& before, const Pass& after) const {
  double change = 0.0;
  double size = 0.0;
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    const assembly::StepMatrix& matrix = motion_.matrices[f];
    change += matrix.squared_norm(after.velocities[f] - before.velocities[f]);
    size += std::max(matrix.squared_norm(after.velocities[f]), matrix.squared_norm(motion_.velocities[f]));
  }
  return size > 0.0 ? std::sqrt(change / size) : 0.0;
}

/// Further passes: as many as asked for, and more while the end of the step that the last one predicts still overlaps.
/// A single pass does where contacts slide a little; a contact that jumps along a parallel stretch takes several. If
/// none ends without overlap, the one that overlaps least stands.
void Stepper::relinearise(Pass& pass, StepReport& report) {
  const bool nonlinear = options_.scheme == Scheme::nonlinear;
  // Without contact nothing is left to linearise again, unless the fibres' own terms are iterated.
  if (!nonlinear && (pairs_.empty() || options_.relinearisations == 0)) return;
  const int limit = nonlinear ? options_.max_nonlinear_iterations
                              : std::max(options_.relinearisations, options_.max_relinearisations);
  Pass best;
  double least_overlap = std::numeric_limits<double>::infinity();
  for (int k = 1; k <= limit && pass.finite(); ++k) {
    Pass next = next_pass(pass);
    const bool overlapping = next.overlap > options_.overlap_tolerance;
    const bool extra = !nonlinear && k > options_.relinearisations;
    if (extra && !overlapping) return;
    if (extra && next.overlap < least_overlap) {
      least_overlap = next.overlap;
      best = pass;
    }
    solve(next);
    report.iterations += next.solution.iterations;
    report.nonlinear_residual = velocity_change(pass, next);
    pass = std::move(next);
    const bool settled = nonlinear ? report.nonlinear_residual <= options_.nonlinear_tolerance
                                   : k == options_.relinearisations && !overlapping;
    if (settled) return;
  }
  if (std::isfinite(least_overlap)) pass = std::move(best);
}

StepReport Stepper::step() {
  timing_ = {};
  StepReport report;
  {
    Stopwatch watch(timing_.t_step);
    previous_rods_ = state_.rods;
    begin_step();
    Pass pass = first_pass();
    solve(pass);
    report.iterations = pass.solution.iterations;
    report.max_penetration = pass.max_penetration;
    relinearise(pass, report);
    report.finite = pass.finite();
    report.step = state_.step + 1;
    report.time = static_cast<double>(report.step) * options_.dt;
    if (report.finite) {
      report_contacts(pass, report);
      state_.warm = pass.impulses(geometry_);
      state_.rods = end_states(pass.velocities);
      ++state_.step;
    } else {
      set_natural_shapes(time());
      state_.rods = previous_rods_;
    }
    refresh_kinematics(world_, state_.rods);
    if (report.finite) state_.work_external += obstacle_work_ + growth_work_ + root_and_air_work();
    for (const assembly::Fibre& fibre : world_.fibres) {
      const rods::RodEnergies energies = fibre.rod->energies(world_.gravity);
      report.energies.kinetic += energies.kinetic;
      report.energies.elastic += energies.elastic;
      report.energies.gravity += energies.gravity;
    }
    report.work_external = state_.work_external;
  }
  report.t_detection = timing_.t_detection;
  report.t_assembly = timing_.t_assembly;
  report.t_solve = timing_.t_solve;
  report.t_step = timing_.t_step;
  return report;
}

}  // namespace tresse::dynamics
