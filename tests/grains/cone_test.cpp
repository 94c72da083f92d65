#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tresse/friction/cone_contact.hpp>
#include <tresse/grains/cone.hpp>

namespace tresse::grains {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-13;  // of numbers of order one

template <int n>
friction::ConeVector<n> random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  friction::ConeVector<n> out;
  for (double& x : out) x = normal(random);
  return out;
}

/// That chi keeps products, takes traces apart from the rest, and has the inverse that is said.
template <int d>
void expect_isometry() {
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto x = random_vector<cone_dimension<d>>(random), y = random_vector<cone_dimension<d>>(random);
    const Tensor<d> a = tensor<d>(x), b = tensor<d>(y);
    EXPECT_NEAR(0.5 * a.cwiseProduct(b).sum(), x.dot(y), 10.0 * rounding);
    EXPECT_NEAR(a.trace() / d, pressure<d>(x), rounding);
    EXPECT_NEAR((cone_vector<d>(a) - x).norm(), 0.0, rounding);
    const Tensor<d> deviator = a - a.trace() / d * Tensor<d>::Identity();
    EXPECT_NEAR(deviator.norm() / std::sqrt(2.0), (x.template tail<cone_dimension<d> - 1>().norm()), rounding);
  }
}

TEST(Cone, ChiIsAnIsometryInThePlane) { expect_isometry<2>(); }
TEST(Cone, ChiIsAnIsometryInSpace) { expect_isometry<3>(); }

TEST(Cone, ShearAtTheYieldStressLiesOnTheCone) {
  constexpr double friction = 0.37, p = 120.0;
  Tensor<3> stress = p * Tensor<3>::Identity();
  stress(0, 2) = stress(2, 0) = friction * p;
  const auto in_space = cone_vector<3>(stress);
  EXPECT_NEAR(in_space.tail<5>().norm(), cone_coefficient<3>(friction) * in_space[0], rounding * p);
  const auto in_plane = cone_vector<2>(Tensor<2>{{p, friction * p}, {friction * p, p}});
  EXPECT_NEAR(in_plane.tail<2>().norm(), cone_coefficient<2>(friction) * in_plane[0], rounding * p);
}

/// For one contact u = W r + q the fixed point of the force is what the contact's own solver finds by other means.
template <int n>
void expect_force_of_a_contact() {
  std::mt19937 random(2);
  int sliding = 0, sticking = 0, open = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Eigen::Matrix<double, n, n> root;
    for (int k = 0; k < n; ++k) root.col(k) = random_vector<n>(random);
    const Eigen::Matrix<double, n, n> W = root * root.transpose() + Eigen::Matrix<double, n, n>::Identity();
    constexpr double mu = 0.4;
    const auto contact = friction::prepare_cone<n>(W, mu);
    ASSERT_TRUE(contact.has_value());
    friction::ConeVector<n> q = random_vector<n>(random);
    if (trial % 3 == 0) {  // one that sticks, which is rare by chance in six dimensions
      friction::ConeVector<n> inside = random_vector<n>(random);
      inside[0] = 1.5 / mu * inside.template tail<n - 1>().norm();
      q = -W * inside;
    }
    const auto found = friction::solve_cone<n>(*contact, q);
    const friction::ConeVector<n> u = W * found.impulse + q;
    for (const double rho : {0.1, 1.0, 30.0}) {
      const auto force = cone_force<n>(found.impulse - rho * u, mu, Law::coulomb, 0.0);
      EXPECT_NEAR((force.value - found.impulse).norm(), 0.0, 1e-10);  // of the contact's solver, times rho
    }
    sliding += found.state == friction::ContactCase::slide ? 1 : 0;
    sticking += found.state == friction::ContactCase::stick ? 1 : 0;
    open += found.state == friction::ContactCase::open ? 1 : 0;
  }
  EXPECT_GT(std::min({sliding, sticking, open}), 3);
}

TEST(Cone, ForceIsThatOfOneContactInThePlane) { expect_force_of_a_contact<3>(); }
TEST(Cone, ForceIsThatOfOneContactInSpace) { expect_force_of_a_contact<6>(); }

/// The frozen law against a search over all forces in the cylinder: it is the nearest one to the trial.
TEST(Cone, FrozenForceIsTheNearestInTheCylinder) {
  std::mt19937 random(3);
  constexpr double mu = 0.5, normal = 0.8;
  for (int trial = 0; trial < 50; ++trial) {
    const auto x = random_vector<3>(random);
    const auto force = cone_force<3>(x, mu, Law::frozen, normal).value;
    EXPECT_LE(force.tail<2>().norm(), mu * normal * (1.0 + rounding));
    EXPECT_GE(force[0], 0.0);
    for (int other = 0; other < 2000; ++other) {
      auto y = random_vector<3>(random);
      y[0] = std::abs(y[0]);
      if (y.tail<2>().norm() > mu * normal) y.tail<2>() *= mu * normal / y.tail<2>().norm();
      EXPECT_GE((x - y).norm(), (x - force).norm() - rounding);
    }
  }
}

/// The error of a linear prediction falls with the square of the step.
template <int n>
void expect_derivative(Law law) {
  std::mt19937 random(4);
  int smooth = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const auto x = random_vector<n>(random), way = random_vector<n>(random);
    const auto at = cone_force<n>(x, 0.6, law, 0.7);
    const auto off = [&](double step) {
      const auto there = cone_force<n>(x + step * way, 0.6, law, 0.7);
      return (there.value - at.value - step * (at.derivative * way)).norm();
    };
    // Kinks are of measure zero: few directions cross one within the step.
    const double far = off(1e-4), near = off(1e-5);
    if (far > 1e-6) continue;
    ++smooth;
    EXPECT_LE(near, 0.02 * far + 1e-14);
  }
  EXPECT_GT(smooth, 80);
}

TEST(Cone, DerivativesOfTheForce) {
  expect_derivative<3>(Law::coulomb);
  expect_derivative<6>(Law::coulomb);
  expect_derivative<3>(Law::frozen);
  expect_derivative<6>(Law::frozen);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::grains
