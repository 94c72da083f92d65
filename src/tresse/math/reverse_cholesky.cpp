#include <tresse/math/reverse_cholesky.hpp>

#include <algorithm>
#include <cmath>

namespace tresse::math {

bool ReverseCholesky::factor() {
  // Right-looking from the last column, four columns of U at a time: their own triangle and the rows above it, then one
  // update of the leading block.
  constexpr Eigen::Index width = 4;
  for (Eigen::Index end = upper_.rows(); end > 0;) {
    const Eigen::Index begin = std::max<Eigen::Index>(0, end - width);
    for (Eigen::Index j = end - 1; j >= begin; --j) {
      double* column = upper_.col(j).data();
      const double pivot = column[j];
      if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
      const double scale = 1.0 / std::sqrt(pivot);
      for (Eigen::Index i = 0; i <= j; ++i) column[i] *= scale;
      for (Eigen::Index k = begin; k < j; ++k) {
        double* other = upper_.col(k).data();
        const double factor = column[k];
        for (Eigen::Index i = 0; i <= k; ++i) other[i] -= factor * column[i];
      }
    }
    if (end - begin == width) {
      const double* a = upper_.col(begin).data();
      const double* b = upper_.col(begin + 1).data();
      const double* c = upper_.col(begin + 2).data();
      const double* d = upper_.col(begin + 3).data();
      for (Eigen::Index k = 0; k < begin; ++k) {
        double* other = upper_.col(k).data();
        const double fa = a[k], fb = b[k], fc = c[k], fd = d[k];
        for (Eigen::Index i = 0; i <= k; ++i) other[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
      }
    }
    end = begin;
  }
  return true;
}

void ReverseCholesky::solve(Eigen::Ref<VectorX> x) const {
  upper_.triangularView<Eigen::Upper>().solveInPlace(x);
  velocity_from_whitened(x);
}

void ReverseCholesky::velocity_from_whitened(Eigen::Ref<VectorX> x) const {
  upper_.triangularView<Eigen::Upper>().transpose().solveInPlace(x);
}

double ReverseCholesky::squared_norm(const VectorX& x) const {
  return (upper_.triangularView<Eigen::Upper>().transpose() * x).squaredNorm();
}

void ReverseCholesky::whiten(Eigen::Ref<MatrixX> columns) const {
  const Eigen::Index leading = columns.rows();
  upper_.topLeftCorner(leading, leading).triangularView<Eigen::Upper>().solveInPlace(columns);
}

}  // namespace tresse::math
