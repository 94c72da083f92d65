#include <tresse/friction/faceted.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::MatrixX;
using tresse::Status;
using tresse::Vector3;
using tresse::VectorX;

Matrix3 random_block(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  Matrix3 a;
  for (int k = 0; k < 9; ++k) a(k) = normal(generator);
  return a * a.transpose() + 0.1 * Matrix3::Identity();
}

/// How far (u, r) is from the pyramid's law, from its definition: r is in it, u_N and r_N are complementary, and the
/// power of friction is the least that the section's corners allow.
double violation(const Vector3& r, const Vector3& u, double mu, int facets) {
  double least = 0.0;  // of d . u_T over the corners d
  double outside = 0.0;
  for (int j = 0; j < facets; ++j) {
    const double corner = 2.0 * std::numbers::pi * j / facets;
    const double side = corner + std::numbers::pi / facets;
    least = std::min(least, std::cos(corner) * u[1] + std::sin(corner) * u[2]);
    outside = std::max(outside,
                       std::cos(side) * r[1] + std::sin(side) * r[2] - mu * r[0] * std::cos(std::numbers::pi / facets));
  }
  const double power = r[1] * u[1] + r[2] * u[2] - mu * r[0] * least;
  return std::max({-r[0], -u[0], std::abs(r[0] * u[0]), outside, std::abs(power)});
}

TEST(Faceted, OneContactObeysTheLaw) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  int open = 0;
  int slides = 0;
  for (int k = 0; k < 2000; ++k) {
    const Matrix3 W = random_block(generator);
    const Vector3 q(normal(generator), normal(generator), normal(generator));
    const int facets = 3 + k % 6;
    Vector3 r = Vector3::Zero();
    ASSERT_TRUE(solve_faceted_contact(W, q, 0.4, facets, r)) << k;
    const Vector3 u = W * r + q;
    EXPECT_LT(violation(r, u, 0.4, facets), 1e-11 * (1.0 + r.squaredNorm() + u.squaredNorm())) << k;
    EXPECT_LT(faceted_map(r, u, 0.4, facets).norm(), 1e-12 * (1.0 + r.norm() + u.norm())) << k;
    open += r[0] == 0.0 ? 1 : 0;
    slides += u.tail<2>().norm() > 1e-9 && r[0] > 0.0 ? 1 : 0;
  }
  EXPECT_GT(open, 500);
  EXPECT_GT(slides, 500);
}

// Friction stays at a corner until slip has left its two sides: off Coulomb's by half a side's angle at most.
TEST(Faceted, ManyFacetsAreCoulombsCone) {
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  int compared = 0;
  for (int k = 0; k < 50; ++k) {
    const Matrix3 W = random_block(generator);
    const Vector3 q(-1.0 - std::abs(normal(generator)), 3.0 * normal(generator), 3.0 * normal(generator));
    const ContactSolutions exact = enumerate_contact(W, q, 0.3);
    if (exact.count != 1) continue;
    ++compared;
    for (const int facets : {32, 512}) {
      Vector3 r = Vector3::Zero();
      ASSERT_TRUE(solve_faceted_contact(W, q, 0.3, facets, r));
      const Vector3& coulomb = exact.solution[0].impulse;
      EXPECT_LT((r - coulomb).norm(), 4.0 / facets * coulomb.norm()) << k;
    }
  }
  EXPECT_GT(compared, 40);
}

// With W = 1 a body pushed at an angle slides along the push under Coulomb's law; with four facets friction stays at a
// corner for every push that is no further than an eighth of a turn from it.
TEST(Faceted, SlipIsNotOppositeToFriction) {
  const Vector3 q(-1.0, std::cos(0.3), std::sin(0.3));
  Vector3 r = Vector3::Zero();
  ASSERT_TRUE(solve_faceted_contact(Matrix3::Identity(), q, 0.2, 4, r));
  EXPECT_NEAR(r[1], -0.2, 1e-14);
  EXPECT_NEAR(r[2], 0.0, 1e-14);
}

TEST(Faceted, SeveralContactsConverge) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  constexpr int n = 6;
  for (int k = 0; k < 5; ++k) {
    MatrixX a(3 * n, 3 * n + 4);
    VectorX q(3 * n);
    for (Eigen::Index i = 0; i < a.size(); ++i) a(i) = normal(generator);
    for (Eigen::Index i = 0; i < q.size(); ++i) q[i] = normal(generator);
    const MatrixX W = a * a.transpose() / (3 * n) + 0.3 * MatrixX::Identity(3 * n, 3 * n);
    const FrictionProblem problem{block_matrix(W), q, VectorX::Constant(n, 0.4)};
    const FrictionSolution found = solve(problem, VectorX::Zero(3 * n), {.tolerance = 1e-12, .facets = 8});
    ASSERT_EQ(found.status, Status::converged) << k << " " << found.scaled_error;
    for (Eigen::Index i = 0; i < n; ++i) {
      const Vector3 r = found.impulse.segment<3>(3 * i);
      const Vector3 u = found.velocity.segment<3>(3 * i);
      EXPECT_LT(violation(r, u, 0.4, 8), 1e-10 * (1.0 + r.squaredNorm() + u.squaredNorm())) << k << " " << i;
    }
  }
}

}  // namespace TRESSE_TEST_FILE
