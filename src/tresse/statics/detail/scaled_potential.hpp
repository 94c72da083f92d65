#pragma once

#include <Eigen/Cholesky>

#include <tresse/rods/rod.hpp>

namespace tresse::statics::detail {

/// The potential of one rod in coordinates z = L^T q with elastic metric L L^T: elasticity alone has the identity as
/// its Hessian, where the start has no stress. [z] = sqrt(J)
class ScaledPotential {
 public:
  ScaledPotential(rods::Rod& rod, const rods::RodState& start);

  void set_gravity(const Vector3& gravity) { gravity_ = gravity; }
  const rods::RodState& state() const { return state_; }
  rods::Rod& rod() const { return rod_; }
  Eigen::Index size() const { return size_; }

  void move(const VectorX& scaled_step);
  void set_state(const rods::RodState& state);
  void set_root(const Pose& root);
  /// L^-T step: coordinates of a scaled step, (m).
  VectorX unscaled(const VectorX& scaled_step) const { return factor_.matrixU().solve(scaled_step); }
  /// Columns of generalised forces h := L^-1 h, in place, (m, k).
  void scale_forces(Eigen::Ref<MatrixX> forces) const { factor_.matrixL().solveInPlace(forces); }

  /// L h, the inverse of scale_forces(), (m, k).
  MatrixX unscaled_forces(const MatrixX& forces) const { return factor_.matrixL() * forces; }

  double value() const;
  VectorX gradient() const;
  MatrixX hessian() const;
  MatrixX raw_hessian() const;
  /// Size of the forces that balance: that of gravity and of elasticity in the same norm.
  double scale() const;
  /// What a rounding of every coordinate, of alternating signs, makes of the gradient: stretching a thin rod of nodes
  /// is so much stiffer than bending it that this may be more than a tolerance asks for.
  double rounding() const;

 private:
  rods::Rod& rod_;
  rods::RodState state_;
  Eigen::Index size_;
  Eigen::LLT<MatrixX> factor_;
  Vector3 gravity_ = Vector3::Zero();
};

}  // namespace tresse::statics::detail
