#pragma once

#include <tresse/rods/detail/articulated_matrix.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/step_matrix.hpp>

namespace tresse::rods::detail {

/// For long chains in curvature coordinates: A in O(dof), never written out.
template <typename Shape>
class ArticulatedStepMatrix final : public StepMatrix {
 public:
  /// `rod` is a ChainRod<Shape>.
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override;
  double squared_norm(const VectorX& x) const override { return matrix_.squared_norm(x); }
  void solve(Eigen::Ref<VectorX> x) const override { matrix_.solve(x); }
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const override { matrix_.velocity_from_whitened(x); }
  void whiten(Eigen::Ref<MatrixX> columns) const override { matrix_.whiten(columns); }

 private:
  ArticulatedMatrix<Shape::width> matrix_;
};

}  // namespace tresse::rods::detail
