#pragma once

#include <tresse/base/local_memory.hpp>
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
    const Eigen::Index n = rod.dof();
    constexpr std::size_t most = 54;                   // unknowns of what is short enough, see make_step_matrix()
    LocalMemory<most * most * sizeof(double)> memory;  // near, where each rod's own would not be
    auto matrix = memory.template matrix<MatrixX>(n, n);
    static_cast<const ChainRod<Shape>&>(rod).step_matrix(terms, velocity, momentum, matrix);
    return factor_.factor(matrix);
  }
};

}  // namespace tresse::rods::detail
