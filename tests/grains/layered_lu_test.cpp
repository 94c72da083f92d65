#include <gtest/gtest.h>

#include <random>

#include <tresse/grains/detail/layered_lu.hpp>

namespace tresse::grains::detail {
namespace TRESSE_TEST_FILE {

/// Against the dense solution, with layers of different sizes and empty ones.
TEST(LayeredLU, SolvesWhatTheDenseMatrixDoes) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const std::vector<int> sizes{3, 0, 4, 1, 5};
  LayeredLU matrix(sizes);
  std::vector<int> layer;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    layer.insert(layer.end(), static_cast<std::size_t>(sizes[k]), static_cast<int>(k));
  const int n = matrix.size();
  ASSERT_EQ(n, 13);
  for (int trial = 0; trial < 3; ++trial) {
    MatrixX dense = MatrixX::Zero(n, n);
    matrix.set_zero();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (std::abs(layer[static_cast<std::size_t>(i)] - layer[static_cast<std::size_t>(j)]) > 1) continue;
        const double value = normal(random) + (i == j ? 6.0 : 0.0);
        dense(i, j) = value;
        matrix.add(i, j, 0.25 * value);
        matrix.add(i, j, 0.75 * value);
      }
    }
    matrix.factor();
    VectorX x = VectorX::NullaryExpr(n, [&] { return normal(random); });
    const VectorX wanted = dense.partialPivLu().solve(x);
    EXPECT_TRUE(matrix.solve(x));
    EXPECT_NEAR((x - wanted).norm(), 0.0, 1e-13 * wanted.norm() * n);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::grains::detail
