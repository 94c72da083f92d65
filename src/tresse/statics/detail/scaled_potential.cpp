#include <tresse/statics/detail/scaled_potential.hpp>

#include <algorithm>
#include <limits>

namespace tresse::statics::detail {

ScaledPotential::ScaledPotential(rods::Rod& rod, const rods::RodState& start)
    : rod_(rod), state_(start), size_(rod.coordinate_count()) {
  rod_.update(state_);
  MatrixX metric(size_, size_);
  rod_.elastic_metric(metric);
  factor_.compute(metric);
  state_.rates.setZero();
}

void ScaledPotential::move(const VectorX& scaled_step) {
  const VectorX step = rod_.curved_displacement(factor_.matrixU().solve(scaled_step));
  state_ = rod_.advanced(state_, step, 1.0, state_.root, {});
  state_.rates.setZero();
  rod_.update(state_);
}

void ScaledPotential::set_state(const rods::RodState& state) {
  state_ = state;
  rod_.update(state_);
}

/// The clamp goes there at once.
void ScaledPotential::set_root(const Pose& root) {
  state_ = rod_.advanced(state_, VectorX::Zero(size_), 1.0, root, {});
  state_.rates.setZero();
  rod_.update(state_);
}

double ScaledPotential::value() const {
  const rods::RodEnergies energies = rod_.energies(gravity_);
  return energies.elastic + energies.gravity;
}

VectorX ScaledPotential::gradient() const {
  VectorX gradient(size_);
  rod_.potential_gradient(gravity_, gradient);
  return factor_.matrixL().solve(gradient);
}

MatrixX ScaledPotential::hessian() const {
  MatrixX hessian = raw_hessian();
  factor_.matrixL().solveInPlace(hessian);
  hessian.transposeInPlace();
  factor_.matrixL().solveInPlace(hessian);
  return 0.5 * (hessian + hessian.transpose());
}

MatrixX ScaledPotential::raw_hessian() const {
  MatrixX hessian(size_, size_);
  rod_.potential_hessian(gravity_, hessian);
  return hessian;
}

double ScaledPotential::scale() const {
  VectorX elastic(size_);
  rod_.elastic_force(elastic);
  elastic = factor_.matrixL().solve(-elastic);
  return std::max({elastic.norm(), (gradient() - elastic).norm(), 1e-300});
}

double ScaledPotential::rounding() const {
  VectorX change = std::numeric_limits<double>::epsilon() * state_.coordinates;
  for (Eigen::Index i = 0; i < size_; ++i) {
    if ((i + i / 4) % 2 != 0) change[i] = -change[i];  // of next neighbours, and of next but three
  }
  return (factor_.matrixU() * change).norm();
}

}  // namespace tresse::statics::detail
