#pragma once

#include <tresse/rods/step_matrix.hpp>

namespace tresse::rods::detail {

/// A step matrix that is one factor A = U U^T: dense, banded or articulated. factor() is left to say.
template <typename Factor>
class FactorStepMatrix : public StepMatrix {
 public:
  double squared_norm(const VectorX& x) const final { return factor_.squared_norm(x); }
  void solve(Eigen::Ref<VectorX> x) const final { factor_.solve(x); }
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const final { factor_.velocity_from_whitened(x); }
  void whiten(Eigen::Ref<MatrixX> columns) const final { factor_.whiten(columns); }
  void whiten_rows(std::span<FourRows> rows) const final {
    if constexpr (requires { factor_.whiten_rows(rows); }) {
      factor_.whiten_rows(rows);
    } else {
      StepMatrix::whiten_rows(rows);
    }
  }

 protected:
  Factor factor_;
};

}  // namespace tresse::rods::detail
