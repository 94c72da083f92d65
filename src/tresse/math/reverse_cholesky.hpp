#pragma once

#include <span>

#include <tresse/base/types.hpp>

namespace tresse::math {

/// Dense A = U U^T with U upper triangular, so that U^-1 of a vector whose leading entries alone are not zero has no
/// others either. Keeps U alone, without what is below its diagonal: of thousands of fibres one is read after the
/// other.
class ReverseCholesky {
 public:
  /// Of a symmetric matrix, (n, n), of which the upper triangle is read; it is used up. Returns false when it is not
  /// positive definite to rounding or not finite.
  [[nodiscard]] bool factor(Eigen::Ref<MatrixX> upper);

  /// x^T U U^T x.
  double squared_norm(const VectorX& x) const;
  int size() const { return static_cast<int>(inverse_diagonal_.size()); }
  /// x := (U U^T)^-1 x, (n).
  void solve(Eigen::Ref<VectorX> x) const;
  /// x := U^-T x, the velocity of a whitened one, (n).
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const;
  /// Columns h (rows of H transposed, leading entries only, the rest zero) := U^-1 h, in place, (leading, k).
  void whiten(Eigen::Ref<MatrixX> columns) const;
  /// The same of twelve columns side by side, an entry for each leading unknown. The bits of a column depend on no
  /// other, nor on how many zeros end it.
  void whiten_rows(std::span<Eigen::Array<double, 12, 1>> rows) const;

 private:
  void solve_upper(double* x, Eigen::Index leading) const;
  const double* column(Eigen::Index j) const;

  VectorX upper_;  // column after column, of four all as long as the last
  VectorX inverse_diagonal_;
};

}  // namespace tresse::math
