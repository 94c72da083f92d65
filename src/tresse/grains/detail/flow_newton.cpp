#include <tresse/grains/detail/flow_newton.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>

namespace tresse::grains::detail {

/// The function whose gradient the left over is under the frozen law: the energy of velocities, and Huber's of trials.
template <int d>
double FlowNewton<d>::convex_value(const Nodal<d>& v, const Nodal<d>& motion, const Stresses& trial) const {
  double sum = 0.0;
  for (const int cell : problem_.grid().flowing) {
    const double normal = std::max(0.0, trial(0, cell));
    const double radius = problem_.cone_friction() * lambda_(0, cell);
    const double length = trial.col(cell).template tail<Problem::dimension - 1>().norm();
    sum += 0.5 * normal * normal + (length <= radius ? 0.5 * length * length : radius * (length - 0.5 * radius));
  }
  return 0.5 * v.cwiseProduct(motion).sum() - v.cwiseProduct(problem_.load()).sum() +
         problem_.grid().volume / rho_ * sum;
}

template <int d>
typename FlowNewton<d>::Trial FlowNewton<d>::evaluate(const VectorX& unknowns, Law law, bool derive) {
  Trial out{unknowns, Stresses::Zero(lambda_.rows(), lambda_.cols()), {}, 0.0, 0.0};
  const Nodal<d> v = problem_.expanded(unknowns);
  const Stresses trial = lambda_ - rho_ * problem_.strains(v);
  for (const int cell : problem_.grid().flowing) {
    const auto found = cone_force<Problem::dimension>(trial.col(cell), problem_.cone_friction(), law, lambda_(0, cell));
    out.force.col(cell) = found.value;
    if (derive) derivatives_.template middleCols<Problem::dimension>(Problem::dimension * cell) = found.derivative;
  }
  const Nodal<d> motion = problem_.matrix_times(v), force = problem_.stress_forces(out.force);
  out.left_over = problem_.reduced(motion - problem_.load() - force);
  out.scale = std::max({motion.norm(), force.norm(), problem_.load().norm()});
  out.merit = law == Law::coulomb ? out.left_over.norm() : convex_value(v, motion, trial);
  return out;
}

/// One of Newton's steps, cut until the merit falls. False where it does not.
template <int d>
bool FlowNewton<d>::step(Trial& here, Law law) {
  evaluate(here.unknowns, law, true);
  problem_.assemble(derivatives_, rho_, matrix_);
  matrix_.factor();
  VectorX way = -here.left_over;
  if (!matrix_.solve(way)) return false;
  const double slope = law == Law::coulomb ? -here.merit : here.left_over.dot(way);
  constexpr double enough = 1e-4;
  constexpr int most_cuts = 12;
  double length = 1.0;
  for (int cut = 0; cut < most_cuts; ++cut, length *= 0.5) {
    Trial next = evaluate(here.unknowns + length * way, law, false);
    if (!(next.merit <= here.merit + enough * length * slope)) continue;
    here = std::move(next);
    return true;
  }
  return false;
}

/// Newton's steps until what is left over is `wanted`. False where one fails.
template <int d>
bool FlowNewton<d>::minimise(Trial& here, Law law, double wanted, int& steps, int most) {
  constexpr double rounding = 1e-13;
  here = evaluate(here.unknowns, law, false);
  while (here.left_over.norm() > std::max(wanted, rounding) * here.scale) {
    poll_interrupt();
    if (steps >= most) return false;
    ++steps;
    if (!step(here, law)) return false;
  }
  return true;
}

/// How stiffly a strain rate is resisted, relative to the impedance of a cell: gently far from the solution, where
/// Newton's method would be caught in the kinks of the law, and ever more stiffly near it, where each multiplier then
/// gains a larger factor. Found by trial on silos of 300 to 2400 cells.
constexpr double least_stiffness = 10.0;
double stiffness(double error) {
  constexpr double most = 1e4, measure = 0.3, power = 0.7;
  return std::clamp(measure / std::pow(error, power), least_stiffness, most);
}

/// One multiplier: velocities that balance the force of the trial stress, and that force.
template <int d>
void FlowNewton<d>::next_multiplier(Trial& here, const FlowOptions& options, FlowSolution<d>& out) {
  constexpr int most_steps = 15;  // a later multiplier is nearer, so that the rest is found faster from there
  constexpr double share = 0.1, roughly = 1e-2;
  const double wanted = std::max(std::min(share * out.error, roughly), share * options.tolerance);
  for (const Law law : {Law::coulomb, Law::frozen}) {
    const int most = std::min(options.max_iterations, out.iterations + most_steps);
    if (minimise(here, law, wanted, out.iterations, most)) break;
  }
  lambda_ = here.force;
  out.velocity = problem_.expanded(here.unknowns);
  out.stress = lambda_;
  out.error = problem_.error(out.velocity, lambda_);
}

template <int d>
FlowSolution<d> FlowNewton<d>::solve(const Nodal<d>& velocity, const Stresses& stress, const FlowOptions& options) {
  lambda_ = stress;
  derivatives_ = Stresses::Zero(Problem::dimension, Problem::dimension * stress.cols());
  Trial here;
  here.unknowns = problem_.reduced(velocity);
  FlowSolution<d> out{velocity, stress, Status::max_iterations, 0, problem_.error(velocity, stress)};
  Best<FlowSolution<d>> best;
  best.offer(out.error, out);
  constexpr int most_idle = 20;  // multipliers that take no step: rounding keeps them from the tolerance
  // Rounding of strain rates counts as much as they are resisted: near the solution it is what is left.
  constexpr double near = 1e-8;
  double gentler = 1.0;
  for (int idle = 0; out.iterations < options.max_iterations && idle <= most_idle;) {
    if (out.error <= options.tolerance || !std::isfinite(out.error)) break;
    rho_ = std::max(least_stiffness, gentler * stiffness(out.error)) * problem_.impedance();
    const int before = out.iterations;
    const double error = out.error;
    next_multiplier(here, options, out);
    idle = out.iterations == before ? idle + 1 : 0;
    if (error < near && !(out.error < error)) gentler *= 0.1;
    best.offer(out.error, out);
  }
  const int iterations = out.iterations;
  out = best.candidate();
  out.iterations = iterations;
  if (!std::isfinite(out.error))
    out.status = Status::not_finite;
  else if (out.error <= options.tolerance)
    out.status = Status::converged;
  else
    out.status = iterations < options.max_iterations ? Status::stalled : Status::max_iterations;
  return out;
}

template class FlowNewton<2>;
template class FlowNewton<3>;

}  // namespace tresse::grains::detail
