#include <tresse/statics/equilibrium.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>

namespace tresse::statics {
namespace {

/// The potential of one rod in coordinates z = L^T q with elastic metric L L^T: elasticity alone has the identity as
/// its Hessian, where the start has no stress.
class ScaledPotential {
 public:
  ScaledPotential(rods::Rod& rod, const rods::RodState& start)
      : rod_(rod), state_(start), size_(rod.coordinate_count()) {
    rod_.update(state_);
    MatrixX metric(size_, size_);
    rod_.elastic_metric(metric);
    factor_.compute(metric);
    state_.rates.setZero();
  }

  void set_gravity(const Vector3& gravity) { gravity_ = gravity; }
  const rods::RodState& state() const { return state_; }

  void move(const VectorX& scaled_step) {
    const VectorX step = rod_.curved_displacement(factor_.matrixU().solve(scaled_step));
    state_ = rod_.advanced(state_, step, 1.0, state_.root, {});
    state_.rates.setZero();
    rod_.update(state_);
  }
  void set_state(const rods::RodState& state) {
    state_ = state;
    rod_.update(state_);
  }
  double value() const {
    const rods::RodEnergies energies = rod_.energies(gravity_);
    return energies.elastic + energies.gravity;
  }
  VectorX gradient() const {
    VectorX gradient(size_);
    rod_.potential_gradient(gravity_, gradient);
    return factor_.matrixL().solve(gradient);
  }
  MatrixX hessian() const {
    MatrixX hessian = raw_hessian();
    factor_.matrixL().solveInPlace(hessian);
    hessian.transposeInPlace();
    factor_.matrixL().solveInPlace(hessian);
    return 0.5 * (hessian + hessian.transpose());
  }
  MatrixX raw_hessian() const {
    MatrixX hessian(size_, size_);
    rod_.potential_hessian(gravity_, hessian);
    return hessian;
  }
  /// Size of the forces that balance: that of gravity and of elasticity in the same norm.
  double scale() const {
    VectorX elastic(size_);
    rod_.elastic_force(elastic);
    elastic = factor_.matrixL().solve(-elastic);
    return std::max({elastic.norm(), (gradient() - elastic).norm(), 1e-300});
  }
  /// What a rounding of every coordinate, of alternating signs, makes of the gradient: stretching a thin rod of nodes
  /// is so much stiffer than bending it that this may be more than a tolerance asks for.
  double rounding() const {
    VectorX change = std::numeric_limits<double>::epsilon() * state_.coordinates;
    for (Eigen::Index i = 0; i < size_; ++i) {
      if ((i + i / 4) % 2 != 0) change[i] = -change[i];  // of next neighbours, and of next but three
    }
    return (factor_.matrixU() * change).norm();
  }

 private:
  rods::Rod& rod_;
  rods::RodState state_;
  Eigen::Index size_;
  Eigen::LLT<MatrixX> factor_;
  Vector3 gravity_ = Vector3::Zero();
};

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
