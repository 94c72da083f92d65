#include <tresse/statics/equilibrium.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>
#include <tresse/statics/detail/scaled_potential.hpp>

namespace tresse::statics {
namespace {

using detail::ScaledPotential;

/// Newton direction on |Hessian|: eigenvalues by their absolute value, so that it always descends.
VectorX descent_direction(const MatrixX& hessian, const VectorX& gradient) {
  const Eigen::LLT<MatrixX> definite(hessian);
  if (definite.info() == Eigen::Success) return definite.solve(-gradient);
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(hessian);
  const VectorX sizes = eigen.eigenvalues().cwiseAbs().cwiseMax(1e-8);
  return -eigen.eigenvectors() * (eigen.eigenvectors().transpose() * gradient).cwiseQuotient(sizes);
}

/// Armijo backtracking on the potential; near convergence, where its change drowns in rounding, on the gradient's norm.
bool line_search(ScaledPotential& potential, const VectorX& direction, const VectorX& gradient) {
  const rods::RodState origin = potential.state();
  const double value = potential.value();
  const double slope = gradient.dot(direction);
  const double rounding = 1e-14 * std::abs(value);
  for (double length = 1.0; length > 1e-10; length *= 0.5) {
    potential.set_state(origin);
    potential.move(length * direction);
    const bool lower = potential.value() <= value + 1e-4 * length * slope;
    const bool flat = std::abs(length * slope) < 10.0 * rounding && potential.gradient().norm() < gradient.norm();
    if (lower || flat) return true;
  }
  potential.set_state(origin);
  return false;
}

struct NewtonResult {
  Status status = Status::max_iterations;
  int iterations = 0;
};

NewtonResult minimise(ScaledPotential& potential, const EquilibriumOptions& options) {
  NewtonResult out;
  for (;; ++out.iterations) {
    const VectorX gradient = potential.gradient();
    if (!gradient.allFinite()) return {Status::not_finite, out.iterations};
    if (gradient.norm() <= std::max(options.tolerance * potential.scale(), 100.0 * potential.rounding()))
      return {Status::converged, out.iterations};
    if (out.iterations == options.max_iterations) return out;
    const VectorX direction = descent_direction(potential.hessian(), gradient);
    if (!line_search(potential, direction, gradient)) return {Status::stalled, out.iterations};
  }
}

}  // namespace

Equilibrium solve_equilibrium(rods::Rod& rod, const rods::RodState& start, const Vector3& gravity,
                              const EquilibriumOptions& options) {
  require(rod.root_condition() == rods::RootCondition::clamped, "equilibrium: the root must be clamped");
  require(options.tolerance > 0.0 && options.max_iterations >= 1 && options.load_steps >= 1,
          "equilibrium: tolerance must be positive, iterations and load steps at least 1");
  rods::RodState still = start;
  still.root_velocity = {};
  ScaledPotential potential(rod, still);
  Equilibrium out;
  for (int load = 1; load <= options.load_steps; ++load) {
    potential.set_gravity(gravity * load / options.load_steps);
    const NewtonResult newton = minimise(potential, options);
    out.iterations += newton.iterations;
    out.status = newton.status;
    if (newton.status == Status::not_finite) break;
  }
  // A saddle (an upright rod beyond its buckling load, say) is an equilibrium, but no rod stays there: leave it
  // downhill.
  constexpr int escapes = 3;
  for (int attempt = 0; attempt <= escapes && out.status != Status::not_finite; ++attempt) {
    const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(potential.hessian());
    out.relative_stiffness = eigen.eigenvalues()[0];
    if (out.relative_stiffness > 0.0 || attempt == escapes) break;
    potential.move(1e-3 * potential.scale() * eigen.eigenvectors().col(0));
    const NewtonResult newton = minimise(potential, options);
    out.iterations += newton.iterations;
    out.status = newton.status;
  }
  out.curvature = rod.curvature();
  out.residual = potential.gradient().norm() / potential.scale();
  if (out.status != Status::not_finite) {
    out.smallest_eigenvalue =
        Eigen::SelfAdjointEigenSolver<MatrixX>(potential.raw_hessian(), Eigen::EigenvaluesOnly).eigenvalues()[0];
  }
  return out;
}

}  // namespace tresse::statics
