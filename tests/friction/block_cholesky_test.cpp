#include <tresse/friction/detail/block_cholesky.hpp>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
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

/// Of n x n points on a grid, each tied to those of the squares beside it.
BlockMatrix sheet(int n) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  BlockMatrix out;
  out.rows = n * n;
  out.row_begin = {0};
  std::vector<Matrix3> own(static_cast<std::size_t>(n * n * n * n), Matrix3::Zero());
  const auto at = [&](int i, int j) -> Matrix3& { return own[static_cast<std::size_t>(i * n * n + j)]; };
  const auto near = [&](int i, int j) { return std::abs(i / n - j / n) <= 2 && std::abs(i % n - j % n) <= 2; };
  for (int i = 0; i < n * n; ++i) {
    at(i, i) += Matrix3::Identity();
    for (int j = 0; j < i; ++j) {
      if (!near(i, j)) continue;
      const Matrix3 a = Matrix3::NullaryExpr([&](Eigen::Index, Eigen::Index) { return normal(generator); });
      const Matrix3 b = Matrix3::NullaryExpr([&](Eigen::Index, Eigen::Index) { return normal(generator); });
      at(i, i) += a.transpose() * a;
      at(j, j) += b.transpose() * b;
      at(i, j) += a.transpose() * b;
      at(j, i) += b.transpose() * a;
    }
  }
  for (int i = 0; i < n * n; ++i) {
    for (int j = 0; j < n * n; ++j) {
      if (!near(i, j)) continue;
      out.column.push_back(j);
      out.block.push_back(at(i, j));
    }
    out.row_begin.push_back(static_cast<int>(out.column.size()));
  }
  return out;
}

/// Large enough for fronts that threads share.
TEST(BlockCholesky, solves_a_sheet_with_the_same_bits_on_any_number_of_threads) {
  const BlockMatrix blocks = sheet(28);
  BlockCholesky factor(blocks);
  EXPECT_GT(factor.block_count(), 10 * static_cast<std::size_t>(blocks.rows));
  const VectorX right = VectorX::LinSpaced(3 * blocks.rows, -1.0, 2.0);
  std::vector<VectorX> found;
  for (const std::size_t threads : {1, 2, 4}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    ASSERT_TRUE(factor.factor(blocks));
    VectorX x = right;
    factor.solve(x);
    found.push_back(x);
    VectorX left = -right;
    for (int i = 0; i < blocks.rows; ++i)
      for (int b = blocks.row_begin[static_cast<std::size_t>(i)]; b < blocks.row_begin[static_cast<std::size_t>(i) + 1];
           ++b)
        left.segment<3>(3 * i) +=
            blocks.block[static_cast<std::size_t>(b)] * x.segment<3>(3 * blocks.column[static_cast<std::size_t>(b)]);
    EXPECT_LT(left.norm(), 1e-11 * right.norm()) << threads;
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
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
