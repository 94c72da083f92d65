#include <tresse/math/dense_qr.hpp>

#include <Eigen/QR>

namespace tresse::math {
namespace {

Eigen::ColPivHouseholderQR<MatrixX> pivoted(const MatrixX& columns, double threshold) {
  Eigen::ColPivHouseholderQR<MatrixX> qr(columns.rows(), columns.cols());
  qr.setThreshold(threshold);
  qr.compute(columns);
  return qr;
}

}  // namespace

ThinQr thin_qr(const MatrixX& columns) {
  const Eigen::HouseholderQR<MatrixX> qr(columns);
  return {qr.householderQ() * MatrixX::Identity(columns.rows(), columns.cols()), qr.matrixQR().topRows(columns.cols())};
}

PivotedQr pivoted_qr(const MatrixX& columns, double threshold) {
  const Eigen::ColPivHouseholderQR<MatrixX> qr = pivoted(columns, threshold);
  const Eigen::Index rank = qr.rank();
  PivotedQr out;
  out.q = qr.householderQ() * MatrixX::Identity(columns.rows(), rank);
  out.r = qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>();
  out.order.assign(qr.colsPermutation().indices().data(), qr.colsPermutation().indices().data() + rank);
  return out;
}

MatrixX orthogonal_complement(const MatrixX& columns, double threshold) {
  const Eigen::Index n = columns.rows();
  const Eigen::ColPivHouseholderQR<MatrixX> qr = pivoted(columns, threshold);
  const MatrixX q = qr.householderQ() * MatrixX::Identity(n, n);
  return q.rightCols(n - qr.rank());
}

VectorX least_squares(const MatrixX& a, const VectorX& b) { return a.completeOrthogonalDecomposition().solve(b); }

}  // namespace tresse::math
