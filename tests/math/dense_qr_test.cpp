#include <gtest/gtest.h>

#include <cstdlib>

#include <tresse/math/dense_qr.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-13;

MatrixX random(Eigen::Index rows, Eigen::Index columns) {
  std::srand(7);
  return MatrixX::Random(rows, columns);
}

void expect_orthonormal(const MatrixX& q) {
  EXPECT_LT((q.transpose() * q - MatrixX::Identity(q.cols(), q.cols())).norm(), rounding);
}

TEST(DenseQr, ThinFactorsGiveTheColumnsBack) {
  const MatrixX columns = random(9, 4);
  const ThinQr qr = thin_qr(columns);
  expect_orthonormal(qr.q);
  ASSERT_EQ(qr.q.rows(), 9);
  ASSERT_EQ(qr.r.rows(), 4);
  EXPECT_LT((qr.q * MatrixX(qr.r.triangularView<Eigen::Upper>()) - columns).norm(), rounding);
}

/// Five columns of which two are sums of others.
MatrixX of_rank_three() {
  MatrixX out(7, 5);
  out.leftCols<3>() = random(7, 3);
  out.col(3) = out.col(0) - 2.0 * out.col(1);
  out.col(4) = 3.0 * out.col(2);
  return out;
}

TEST(DenseQr, PivotedKeepsAsManyColumnsAsSaySomethingNew) {
  const MatrixX columns = of_rank_three();
  const PivotedQr qr = pivoted_qr(columns, 1e-9);
  ASSERT_EQ(qr.order.size(), 3U);
  EXPECT_EQ(qr.order[0], 4) << "the longest comes first";
  expect_orthonormal(qr.q);
  MatrixX kept(7, 3);
  for (int i = 0; i < 3; ++i) kept.col(i) = columns.col(qr.order[static_cast<std::size_t>(i)]);
  EXPECT_LT((qr.q * qr.r - kept).norm(), rounding);
  EXPECT_LT((columns - qr.q * (qr.q.transpose() * columns)).norm(), rounding) << "the others add nothing";
}

TEST(DenseQr, TheComplementIsOrthogonalToAllColumnsAndHasTheRest) {
  const MatrixX columns = of_rank_three();
  const MatrixX rest = orthogonal_complement(columns, 1e-9);
  ASSERT_EQ(rest.cols(), 4);
  expect_orthonormal(rest);
  EXPECT_LT((columns.transpose() * rest).norm(), rounding);
}

TEST(DenseQr, LeastSquaresIsTheShortestOfTheBest) {
  const MatrixX a = of_rank_three();
  const VectorX b = VectorX::LinSpaced(7, -1.0, 2.0);
  const VectorX x = least_squares(a, b);
  EXPECT_LT((a.transpose() * (a * x - b)).norm(), rounding) << "the residual is orthogonal to the columns";
  const MatrixX null = orthogonal_complement(a.transpose(), 1e-9);
  ASSERT_EQ(null.cols(), 2);
  EXPECT_LT((null.transpose() * x).norm(), rounding) << "no part of x does nothing";
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
