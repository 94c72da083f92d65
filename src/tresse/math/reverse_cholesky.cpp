#include <tresse/math/reverse_cholesky.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

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
      inverse_diagonal_[j] = scale;
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

/// rows := U^-1 rows: four unknowns at a time, their own triangle and then what they do to all above.
template <typename Row>
void ReverseCholesky::solve_upper(Row* rows, Eigen::Index leading) const {
  constexpr Eigen::Index width = 4;
  for (Eigen::Index end = leading; end > 0;) {
    const Eigen::Index begin = std::max<Eigen::Index>(0, end - width);
    for (Eigen::Index j = end - 1; j >= begin; --j) {
      const double* column = upper_.col(j).data();
      rows[j] *= inverse_diagonal_[j];
      for (Eigen::Index i = begin; i < j; ++i) rows[i] -= column[i] * rows[j];
    }
    if (end - begin == width) {
      const double* a = upper_.col(begin).data();
      const double* b = upper_.col(begin + 1).data();
      const double* c = upper_.col(begin + 2).data();
      const double* d = upper_.col(begin + 3).data();
      const Row ra = rows[begin], rb = rows[begin + 1], rc = rows[begin + 2], rd = rows[begin + 3];
      for (Eigen::Index i = 0; i < begin; ++i) rows[i] -= (a[i] * ra + b[i] * rb) + (c[i] * rc + d[i] * rd);
    }
    end = begin;
  }
}

// Contacts come with three columns, millions of times a second: these side by side in a register, which no general
// triangular solver does.
void ReverseCholesky::whiten(Eigen::Ref<MatrixX> columns) const {
  const Eigen::Index leading = columns.rows();
  constexpr Eigen::Index lanes = 4;
  using Row = Eigen::Array<double, lanes, 1>;
  thread_local std::vector<Row> rows;
  rows.resize(static_cast<std::size_t>(leading));
  for (Eigen::Index first = 0; first < columns.cols(); first += lanes) {
    const Eigen::Index count = std::min(lanes, columns.cols() - first);
    for (Eigen::Index i = 0; i < leading; ++i) {
      Row& row = rows[static_cast<std::size_t>(i)];
      row.setZero();
      for (Eigen::Index k = 0; k < count; ++k) row[k] = columns(i, first + k);
    }
    solve_upper(rows.data(), leading);
    for (Eigen::Index k = 0; k < count; ++k) {
      for (Eigen::Index i = 0; i < leading; ++i) columns(i, first + k) = rows[static_cast<std::size_t>(i)][k];
    }
  }
}

}  // namespace tresse::math
