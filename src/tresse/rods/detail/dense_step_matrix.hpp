#pragma once

#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/step_matrix.hpp>

namespace tresse::rods::detail {

/// For any rod: all of A. O(dof^3).
class DenseStepMatrix final : public StepMatrix {
 public:
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override;
  double squared_norm(const VectorX& x) const override { return factor_.squared_norm(x); }
  void solve(Eigen::Ref<VectorX> x) const override { factor_.solve(x); }
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const override { factor_.velocity_from_whitened(x); }
  void whiten(Eigen::Ref<MatrixX> columns) const override { factor_.whiten(columns); }

 private:
  math::ReverseCholesky factor_;
};

}  // namespace tresse::rods::detail
