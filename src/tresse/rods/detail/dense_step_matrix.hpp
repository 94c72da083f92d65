#pragma once

#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/detail/factor_step_matrix.hpp>

namespace tresse::rods::detail {

/// For any rod: all of A. O(dof^3).
class DenseStepMatrix final : public FactorStepMatrix<math::ReverseCholesky> {
 public:
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override;

 private:
  MatrixX matrix_;
};

}  // namespace tresse::rods::detail
