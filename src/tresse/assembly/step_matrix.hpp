#pragma once

#include <tresse/base/types.hpp>

namespace tresse::assembly {

/// Factored implicit matrix of one fibre: M + dt D + dt^2 K + dt drag = U U^T with U upper triangular (reverse
/// Cholesky), so that the rows of a contact on element e, whitened, touch the same leading entries as before. Reuses
/// its storage from step to step.
class StepMatrix {
 public:
  /// Where to put the next symmetric matrix, (n, n), before factor(). Reuses the last one's memory.
  MatrixX& storage(int n) {
    upper_.resize(n, n);
    return upper_;
  }
  /// Factors what storage() holds. Returns false when it is not positive definite to rounding or not finite.
  [[nodiscard]] bool factor();

  /// x^T U U^T x.
  double squared_norm(const VectorX& x) const;
  int size() const { return static_cast<int>(upper_.rows()); }
  /// x := (U U^T)^-1 x, (n).
  void solve(Eigen::Ref<VectorX> x) const;
  /// x := U^-T x, the velocity of a whitened one, (n).
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const;
  /// Columns h (rows of H transposed, leading entries only, the rest zero) := U^-1 h, in place, (leading, k).
  void whiten(Eigen::Ref<MatrixX> columns) const;

 private:
  MatrixX upper_;
};

}  // namespace tresse::assembly
