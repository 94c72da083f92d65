#include <gtest/gtest.h>

#include <cstdlib>

#include <Eigen/LU>

#include <tresse/math/gmres.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

auto product(const MatrixX& matrix) {
  return [&matrix](const VectorX& v, VectorX& out) { out = matrix * v; };
}

MatrixX near_identity(int n) {
  std::srand(1);
  return MatrixX::Identity(n, n) + 0.3 * MatrixX::Random(n, n);
}

TEST(Gmres, SolvesWhatIsNotSymmetric) {
  const MatrixX matrix = near_identity(30);
  const VectorX b = VectorX::LinSpaced(30, -1.0, 2.0);
  const VectorX expected = matrix.partialPivLu().solve(b);
  VectorX x;
  const GmresResult result = gmres(product(matrix), b, 1e-14, 100, x);
  EXPECT_LE(result.iterations, 30);
  EXPECT_LT((x - expected).norm(), 1e-12 * expected.norm());
}

/// Each iterate is the best of its space, and the residual that is told is that of x.
TEST(Gmres, TellsTheResidualOfWhatItReached) {
  const MatrixX matrix = near_identity(30);
  const VectorX b = VectorX::Ones(30);
  double last = 1.0;
  for (int iterations = 1; iterations < 20; ++iterations) {
    VectorX x;
    const GmresResult result = gmres(product(matrix), b, 0.0, iterations, x);
    EXPECT_EQ(result.iterations, iterations);
    EXPECT_NEAR(result.residual, (b - matrix * x).norm() / b.norm(), 1e-13);
    EXPECT_LE(result.residual, last);
    last = result.residual;
  }
  EXPECT_LT(last, 0.5);
}

TEST(Gmres, EndsWhereTheSpaceHoldsTheSolution) {
  MatrixX matrix = MatrixX::Identity(8, 8);
  matrix(0, 7) = 3.0;
  VectorX x;
  const GmresResult result = gmres(product(matrix), VectorX::Unit(8, 7), 0.0, 100, x);
  EXPECT_LE(result.iterations, 2);
  EXPECT_LT((matrix * x - VectorX::Unit(8, 7)).norm(), 1e-15);
}

TEST(Gmres, OfNothingIsNothing) {
  const MatrixX matrix = near_identity(4);
  VectorX x;
  EXPECT_EQ(gmres(product(matrix), VectorX::Zero(4), 1e-12, 10, x).residual, 0.0);
  EXPECT_EQ(x, VectorX::Zero(4));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
