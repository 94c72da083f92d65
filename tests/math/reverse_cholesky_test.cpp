#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <Eigen/LU>

#include <tresse/math/reverse_cholesky.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

MatrixX random_definite(int n, unsigned seed) {
  std::srand(seed);
  const MatrixX a = MatrixX::Random(n, n);
  return a * a.transpose() + 0.1 * MatrixX::Identity(n, n);
}

bool factor(ReverseCholesky& step, const MatrixX& matrix) {
  MatrixX upper = matrix;
  return step.factor(upper);
}

constexpr double rounding = 1e-12;

TEST(ReverseCholesky, SolvesAndWhitensAsTheInverseDoes) {
  const MatrixX matrix = random_definite(15, 1);
  ReverseCholesky step;
  ASSERT_TRUE(factor(step, matrix));
  const MatrixX inverse = matrix.inverse();
  VectorX x = VectorX::LinSpaced(15, -1.0, 2.0);
  const VectorX expected = inverse * x;
  EXPECT_NEAR(step.squared_norm(x), x.dot(matrix * x), rounding * x.dot(matrix * x));
  step.solve(x);
  EXPECT_LT((x - expected).norm(), rounding * expected.norm());

  // X = H U^-T has X X^T = H M^-1 H^T and touches the leading entries only.
  for (const int leading : {3, 9, 15}) {
    const MatrixX rows = MatrixX::Random(3, leading);
    MatrixX columns = rows.transpose();
    step.whiten(columns);
    const MatrixX delassus = rows * inverse.topLeftCorner(leading, leading) * rows.transpose();
    EXPECT_LT((columns.transpose() * columns - delassus).norm(), rounding * delassus.norm()) << leading;
    // U^-T X^T r is M^-1 H^T r.
    VectorX whitened = VectorX::Zero(15);
    whitened.head(leading) = columns.col(1);
    step.velocity_from_whitened(whitened);
    VectorX direct = VectorX::Zero(15);
    direct.head(leading) = rows.row(1).transpose();
    direct = inverse * direct;
    EXPECT_LT((whitened - direct).norm(), rounding * direct.norm());
  }
}

/// Whatever the size is to blocks of four; nothing below the diagonal is read.
TEST(ReverseCholesky, EverySizeFromTheUpperTriangle) {
  for (int n = 1; n <= 21; ++n) {
    const MatrixX matrix = random_definite(n, static_cast<unsigned>(n));
    MatrixX upper = matrix;
    for (int j = 0; j < n; ++j) {
      for (int i = j + 1; i < n; ++i) upper(i, j) = std::nan("");
    }
    ReverseCholesky step;
    ASSERT_TRUE(factor(step, upper));
    const VectorX x = VectorX::LinSpaced(n, -1.0, 2.0);
    VectorX solved = x;
    step.solve(solved);
    EXPECT_LT((matrix * solved - x).norm(), 1e2 * rounding * x.norm()) << n;
    EXPECT_NEAR(step.squared_norm(x), x.dot(matrix * x), rounding * x.dot(matrix * x)) << n;
  }
}

/// Whatever the size is to blocks of four.
TEST(ReverseCholesky, TwelveColumnsSideBySideAreEachTheirOwn) {
  using Row = Eigen::Array<double, 12, 1>;
  for (int n = 18; n <= 22; ++n) {
    ReverseCholesky step;
    ASSERT_TRUE(factor(step, random_definite(n, 4)));
    for (int leading = 1; leading <= n; ++leading) {
      const MatrixX random = MatrixX::Random(leading, 12);
      MatrixX columns = random;
      step.whiten(columns);
      std::vector<Row> rows(static_cast<std::size_t>(leading));
      for (int i = 0; i < leading; ++i) rows[static_cast<std::size_t>(i)] = random.row(i).transpose();
      step.whiten_rows(rows);
      // One column among others, and ended by zeros.
      std::vector<Row> alone(static_cast<std::size_t>(n), Row::Zero());
      for (int i = 0; i < leading; ++i) alone[static_cast<std::size_t>(i)][5] = random(i, 5);
      step.whiten_rows(alone);
      for (int i = 0; i < leading; ++i) {
        const Row& row = rows[static_cast<std::size_t>(i)];
        EXPECT_LT((row.matrix() - columns.row(i).transpose()).norm(), rounding * columns.norm());
        EXPECT_EQ(row[5], alone[static_cast<std::size_t>(i)][5]) << n << " " << leading << " " << i;
      }
      for (int i = leading; i < n; ++i) EXPECT_EQ(alone[static_cast<std::size_t>(i)][5], 0.0);
    }
  }
}

TEST(ReverseCholesky, RefusesWhatIsNotPositiveDefinite) {
  ReverseCholesky step;
  MatrixX matrix = random_definite(6, 2);
  matrix(2, 2) = -1.0;
  EXPECT_FALSE(factor(step, matrix));
  matrix(2, 2) = std::nan("");
  EXPECT_FALSE(factor(step, matrix));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
