#include <tresse/assembly/step_matrix.hpp>

#include <cmath>

namespace tresse::assembly {

bool StepMatrix::factor(const MatrixX& matrix) {
  upper_ = matrix;
  // Right-looking from the last column: column j of U, then the rank-one update of the leading block.
  for (Eigen::Index j = upper_.rows() - 1; j >= 0; --j) {
    const double pivot = upper_(j, j);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    upper_.col(j).head(j + 1) /= std::sqrt(pivot);
    const auto above = upper_.col(j).head(j);
    for (Eigen::Index k = 0; k < j; ++k) upper_.col(k).head(k + 1) -= above[k] * above.head(k + 1);
  }
  return true;
}

void StepMatrix::solve(Eigen::Ref<VectorX> x) const {
  upper_.triangularView<Eigen::Upper>().solveInPlace(x);
  velocity_from_whitened(x);
}

void StepMatrix::velocity_from_whitened(Eigen::Ref<VectorX> x) const {
  upper_.triangularView<Eigen::Upper>().transpose().solveInPlace(x);
}

double StepMatrix::squared_norm(const VectorX& x) const {
  return (upper_.triangularView<Eigen::Upper>().transpose() * x).squaredNorm();
}

void StepMatrix::whiten(Eigen::Ref<MatrixX> columns) const {
  const Eigen::Index leading = columns.rows();
  upper_.topLeftCorner(leading, leading).triangularView<Eigen::Upper>().solveInPlace(columns);
}

}  // namespace tresse::assembly
