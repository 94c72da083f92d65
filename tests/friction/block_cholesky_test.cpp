#include <tresse/friction/detail/block_cholesky.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace TRESSE_TEST_FILE {

using namespace tresse;
using friction::BlockMatrix;
using friction::detail::BlockCholesky;

/// Symmetric positive definite, with a block where a graph of n points has an edge.
MatrixX matrix(int n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> any(0, n - 1);
  MatrixX out = MatrixX::Zero(3 * n, 3 * n);
  for (int edge = 0; edge < 2 * n; ++edge) {
    const int i = any(generator), j = any(generator);
    MatrixX tie = MatrixX::Zero(3, 3 * n);
    tie.middleCols<3>(3 * i) += Matrix3::NullaryExpr([&](Eigen::Index, Eigen::Index) { return normal(generator); });
    tie.middleCols<3>(3 * j) += Matrix3::NullaryExpr([&](Eigen::Index, Eigen::Index) { return normal(generator); });
    out += tie.transpose() * tie;
  }
  return out + 0.1 * MatrixX::Identity(3 * n, 3 * n);
}

TEST(BlockCholesky, solves_as_a_dense_factor_does) {
  for (const int n : {1, 2, 7, 40}) {
    const MatrixX dense = matrix(n, static_cast<unsigned>(n));
    const BlockMatrix blocks = friction::block_matrix(dense);
    BlockCholesky factor(blocks);
    const VectorX right = VectorX::LinSpaced(3 * n, -1.0, 2.0);
    ASSERT_TRUE(factor.factor(blocks));
    VectorX x = right;
    factor.solve(x);
    EXPECT_LT((dense * x - right).norm(), 1e-11 * right.norm()) << n;
    // Other numbers at the same places.
    BlockMatrix other = blocks;
    for (Matrix3& block : other.block) block *= 3.0;
    ASSERT_TRUE(factor.factor(other));
    VectorX y = right;
    factor.solve(y);
    EXPECT_LT((3.0 * y - x).norm(), 1e-12 * x.norm()) << n;
  }
}

TEST(BlockCholesky, says_where_a_matrix_is_not_definite) {
  MatrixX dense = matrix(5, 3);
  BlockCholesky factor(friction::block_matrix(dense));
  MatrixX bad = dense;
  bad(7, 7) = -1.0;
  EXPECT_FALSE(factor.factor(friction::block_matrix(bad)));
  bad(7, 7) = std::nan("");
  EXPECT_FALSE(factor.factor(friction::block_matrix(bad)));
  ASSERT_TRUE(factor.factor(friction::block_matrix(dense)));  // what failed leaves nothing behind
  VectorX x = VectorX::Ones(15);
  factor.solve(x);
  EXPECT_LT((dense * x - VectorX::Ones(15)).norm(), 1e-11);
}

}  // namespace TRESSE_TEST_FILE
