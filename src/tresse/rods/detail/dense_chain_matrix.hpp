#pragma once

#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/factor_step_matrix.hpp>

namespace tresse::rods::detail {

/// For short chains in curvature coordinates: all of A, its upper triangle alone.
template <typename Shape>
class DenseChainMatrix final : public FactorStepMatrix<math::ReverseCholesky> {
 public:
  /// `rod` is a ChainRod<Shape>.
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override {
    thread_local MatrixX matrix;  // near, where each rod's own would not be
    matrix.resize(rod.dof(), rod.dof());
    static_cast<const ChainRod<Shape>&>(rod).step_matrix(terms, velocity, momentum, matrix);
    return factor_.factor(matrix);
  }
};

}  // namespace tresse::rods::detail
