#include <tresse/friction/detail/small_newton.hpp>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "support/coulomb_law.hpp"

namespace TRESSE_TEST_FILE {

using tresse::Matrix3;
using tresse::MatrixX;
using tresse::Vector3;
using tresse::VectorX;
using tresse::friction::detail::proximal_newton;
using tresse::friction::detail::small_newton;
using tresse_test::coulomb_violation;

constexpr double target = 1e-12;  // of the natural map's norm; problems are of size one
// Case by case the law is broken by as much as the map says, up to the constants of projecting on a cone.
constexpr double law_error = 4.0 * target;

double worst_violation(const MatrixX& W, const VectorX& q, const VectorX& mu, const VectorX& r) {
  const VectorX u = W * r + q;
  double worst = 0.0;
  for (Eigen::Index i = 0; i < mu.size(); ++i)
    worst = std::max(worst, coulomb_violation(u.segment<3>(3 * i), r.segment<3>(3 * i), mu[i]));
  return worst;
}

int rank(const MatrixX& W) {
  const VectorX values = Eigen::SelfAdjointEigenSolver<MatrixX>(W).eigenvalues();
  return static_cast<int>((values.array() > 1e-10 * values.maxCoeff()).count());
}

/// One contact of a rigid body: where it is from the centre of mass, and (normal, t1, t2).
struct RigidContact {
  Vector3 arm;
  Matrix3 frame;
};

/// Jacobian of the contacts' velocities in (linear, angular) of the body.
MatrixX jacobian(const std::vector<RigidContact>& contacts) {
  MatrixX out(3 * static_cast<Eigen::Index>(contacts.size()), 6);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const Vector3 axis = contacts[i].frame.col(k);
      out.row(3 * static_cast<Eigen::Index>(i) + k) << axis.transpose(), contacts[i].arm.cross(axis).transpose();
    }
  }
  return out;
}

/// A box of unit mass and the inertia of a cube of side 1, on its four lower corners: twelve equations, six unknowns.
std::vector<RigidContact> box_on_a_floor(double half_width, double height) {
  Matrix3 frame;  // normal up
  frame << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  std::vector<RigidContact> out;
  for (const double x : {-half_width, half_width})
    for (const double y : {-half_width, half_width}) out.push_back({{x, y, -height}, frame});
  return out;
}

/// Mean diagonal one, as the island solver scales it; q with it, so impulses are scaled too.
void scale(MatrixX& W, VectorX& q) {
  const double mean = W.diagonal().mean();
  W /= mean;
  q /= std::sqrt(mean);
}

TEST(ProximalNewton, ABoxOnFourCornersSlidesAsCoulombSays) {
  const double mu = 0.3;
  const double fall = 1.0;  // downward velocity that the floor stops
  const VectorX inverse_mass = (VectorX(6) << 1, 1, 1, 6, 6, 6).finished();
  for (const double push : {0.1, 0.29, 0.31, 1.0, 5.0}) {
    const MatrixX J = jacobian(box_on_a_floor(0.5, 0.2));
    MatrixX W = J * inverse_mass.asDiagonal() * J.transpose();
    const Vector3 way = push * Vector3(0.6, 0.8, 0);
    VectorX q = J * (VectorX(6) << way.x(), way.y(), 0, 0, 0, 0).finished();
    for (Eigen::Index i = 0; i < 4; ++i) q[3 * i] -= fall;
    ASSERT_EQ(rank(W), 6);
    const double size = std::sqrt(W.diagonal().mean());
    scale(W, q);
    VectorX r = VectorX::Zero(12);
    EXPECT_GT(proximal_newton(W, q, VectorX::Constant(4, mu), target, r), 0);
    EXPECT_LE(worst_violation(W, q, VectorX::Constant(4, mu), r), law_error) << push;
    // The floor stops the fall and takes mu times as much of the slide; low enough, the box does not tip.
    const VectorX u = size * (W * r + q);
    const double slide = std::max(0.0, push - mu * fall);
    double carried = 0.0;
    for (Eigen::Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(u[3 * i], 0.0, 1e-11);
      EXPECT_NEAR((Vector3(u[3 * i + 1], u[3 * i + 2], 0) - slide / push * way).norm(), 0.0, 1e-11) << push;
      carried += r[3 * i] / size;
    }
    EXPECT_NEAR(carried, fall, 1e-11);
  }
}

/// Contacts all around one body, some twice in the same place. Always solvable: standing still is allowed.
TEST(ProximalNewton, RedundantContactsOfOneBodyObeyTheLaw) {
  int hard = 0;
  int steps = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const auto vector = [&] { return Vector3(normal(generator), normal(generator), normal(generator)); };
    std::vector<RigidContact> contacts;
    const int count = 4 + static_cast<int>(4 * uniform(generator));
    for (int i = 0; i < count; ++i) {
      if (i > 0 && uniform(generator) < 0.3) {
        contacts.push_back(contacts.back());
        continue;
      }
      const Eigen::Quaterniond turn(normal(generator), normal(generator), normal(generator), normal(generator));
      contacts.push_back({vector(), turn.normalized().toRotationMatrix()});
    }
    const MatrixX J = jacobian(contacts);
    MatrixX W = J * J.transpose();
    VectorX q = J * VectorX::NullaryExpr(6, [&] { return normal(generator); });
    VectorX mu(count);
    for (double& x : mu) x = 0.8 * uniform(generator);
    scale(W, q);
    q /= std::max(1.0, q.norm());
    ASSERT_LE(rank(W), 6);
    VectorX r = VectorX::Zero(q.size());
    proximal_newton(W, q, mu, target, r);
    EXPECT_LE(worst_violation(W, q, mu, r), law_error * std::max(1.0, r.norm())) << seed;
    // Asked for more than rounding allows it reaches rounding, in no more steps than that takes.
    VectorX finest = VectorX::Zero(q.size());
    steps += proximal_newton(W, q, mu, 0.0, finest);
    EXPECT_LE(worst_violation(W, q, mu, finest), 1e-13 * std::max(1.0, finest.norm())) << seed;
    VectorX plain = VectorX::Zero(q.size());
    small_newton(W, q, mu, 0.0, target, plain);
    hard += worst_violation(W, q, mu, plain) > 1e-9 ? 1 : 0;
  }
  EXPECT_GT(hard, 10) << "Newton's method alone would do";
  EXPECT_LT(steps, 500 * 40) << "steps spent below rounding";
}

TEST(ProximalNewton, NeverLeavesAWorseIterateThanTheStart) {
  // The solution itself, then a problem that no impulse solves: an immovable contact that closes.
  const MatrixX W = MatrixX::Identity(3, 3);
  const VectorX q = (VectorX(3) << -1, 0.1, 0).finished();
  const VectorX solved = (VectorX(3) << 1, -0.1, 0).finished();
  VectorX r = solved;
  EXPECT_EQ(proximal_newton(W, q, VectorX::Constant(1, 0.5), target, r), 0);
  EXPECT_EQ(r, solved);
  VectorX stuck = VectorX::Zero(3);
  const int steps = proximal_newton(MatrixX::Zero(3, 3), q, VectorX::Constant(1, 0.5), target, stuck, 50);
  EXPECT_LE(steps, 50 + 60) << "one more pair of runs at most";
  EXPECT_TRUE(stuck.allFinite());
}

/// Where contacts are independent, Newton's method from zero is there in a few steps.
TEST(SmallNewton, RegularProblemsTakeAFewSteps) {
  int worst = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    const MatrixX x = MatrixX::NullaryExpr(9, 30, [&] { return normal(generator); });
    MatrixX W = x * x.transpose();
    VectorX q = VectorX::NullaryExpr(9, [&] { return normal(generator); });
    scale(W, q);
    VectorX r = VectorX::Zero(9);
    const VectorX mu = VectorX::Constant(3, 0.4);
    worst = std::max(worst, small_newton(W, q, mu, 0.0, target, r));
    EXPECT_LE(worst_violation(W, q, mu, r), law_error) << seed;
  }
  EXPECT_LE(worst, 15);
}

}  // namespace TRESSE_TEST_FILE
