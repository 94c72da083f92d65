#pragma once

#include <tresse/rods/detail/articulated_matrix.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/factor_step_matrix.hpp>

namespace tresse::rods::detail {

/// For long chains in curvature coordinates: A in O(dof), never written out.
template <typename Shape>
class ArticulatedStepMatrix final : public FactorStepMatrix<ArticulatedMatrix<Shape::width>> {
 public:
  /// `rod` is a ChainRod<Shape>.
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override;
};

}  // namespace tresse::rods::detail
