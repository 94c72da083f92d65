#include <gtest/gtest.h>

#include <random>

#include <Eigen/QR>

#include <tresse/statics/detail/least_distance.hpp>

// The nearest point to the origin with G y >= h, against the best of all sets of rows held as equalities.
namespace tresse::statics::detail {
namespace TRESSE_TEST_FILE {

struct Best {
  bool feasible = false;
  VectorX point;
};

/// Of every subset of rows: its least-norm point, if that breaks no row. The nearest feasible one is the answer.
Best by_enumeration(const MatrixX& G, const VectorX& h) {
  Best best;
  double least = INFINITY;
  const int rows = static_cast<int>(G.rows());
  for (int subset = 0; subset < (1 << rows); ++subset) {
    std::vector<int> held;
    for (int i = 0; i < rows; ++i) {
      if ((subset >> i) & 1) held.push_back(i);
    }
    if (static_cast<Eigen::Index>(held.size()) > G.cols()) continue;
    MatrixX A(held.size(), G.cols());
    VectorX b(held.size());
    for (std::size_t k = 0; k < held.size(); ++k) {
      A.row(static_cast<Eigen::Index>(k)) = G.row(held[k]);
      b[static_cast<Eigen::Index>(k)] = h[held[k]];
    }
    const VectorX y =
        held.empty() ? VectorX(VectorX::Zero(G.cols())) : VectorX(A.completeOrthogonalDecomposition().solve(b));
    if (((G * y - h).array() < -1e-9).any() || y.norm() >= least) continue;
    least = y.norm();
    best = {true, y};
  }
  return best;
}

TEST(LeastDistance, IsTheBestOfAllActiveSets) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  int conflicts = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Eigen::Index n = 1 + trial % 4;
    const Eigen::Index m = 1 + trial % 7;
    MatrixX G(m, n);
    VectorX h(m);
    for (double& x : G.reshaped()) x = u(random);
    for (double& x : h) x = u(random) - 0.2;
    if (trial % 5 == 0 && m > 1) G.row(1) = 2.0 * G.row(0);  // a row twice
    const Best expected = by_enumeration(G, h);
    const LeastDistance found = least_distance(G, h);
    ASSERT_EQ(found.feasible, expected.feasible) << trial;
    if (!expected.feasible) {
      ++conflicts;
      continue;
    }
    EXPECT_LT((found.point - expected.point).norm(), 1e-8 * (1.0 + expected.point.norm())) << trial;
    EXPECT_GE(found.multiplier.minCoeff(), 0.0);
    EXPECT_LT((G.transpose() * found.multiplier - found.point).norm(), 1e-8 * (1.0 + found.point.norm())) << trial;
  }
  EXPECT_GT(conflicts, 10) << "some have no solution, and are told";
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::statics::detail
