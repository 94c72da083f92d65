#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tresse/base/errors.hpp>
#include <tresse/laws/penalty.hpp>

namespace tresse::laws {
namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-3, touching = 2e-3, delta = 1e-5;

/// Eighth order central difference.
template <typename Function>
auto derivative(const Function& f, double x, double h) {
  const auto pair = [&](double k) { return (f(x + k * h) - f(x - k * h)).eval(); };
  return ((4.0 / 5.0 * pair(1) - 1.0 / 5.0 * pair(2) + 4.0 / 105.0 * pair(3) - 1.0 / 280.0 * pair(4)) / h).eval();
}

using Number = Eigen::Matrix<double, 1, 1>;

TEST(Penalty, DerivativesAreThoseOfTheEnergy) {
  for (const Law law : {Law::imc, Law::ipc}) {
    for (double gap = 0.02 * delta; gap < 0.98 * delta; gap += 0.03 * delta) {
      const double distance = touching + (law == Law::imc ? 2.0 * gap - delta : gap);
      const double h = std::min(4e-3 * delta, 0.02 * gap);
      // Distances near a radius have roundings of 1e-16 radii, which are 1e-14 of delta.
      const auto value = [&](double x) { return Number(energy(law, x, 0.0, delta).value); };
      const auto slope = [&](double x) { return Number(energy(law, x, 0.0, delta).slope); };
      const double x = distance - touching;
      const Energy at = energy(law, x, 0.0, delta);
      EXPECT_NEAR(derivative(value, x, h)[0], at.slope, 1e-9 * (std::abs(at.slope) + delta)) << word(law) << gap;
      EXPECT_NEAR(derivative(slope, x, h)[0], at.curvature, 1e-9 * (at.curvature + 1.0)) << word(law) << gap;
    }
  }
}

TEST(Penalty, PiecesJoin) {
  // Implicit contact: the softened ramp leaves exp(-15) at its ends.
  for (const double x : {delta, -delta}) {
    const Energy inside = imc_energy(touching - std::nextafter(x, 0.0), touching, delta);
    const Energy outside = imc_energy(touching - x, touching, delta);
    EXPECT_NEAR(inside.value, outside.value, 1e-7 * delta * delta);
    EXPECT_NEAR(inside.slope, outside.slope, 2e-5 * delta);
    EXPECT_NEAR(inside.curvature, outside.curvature, 2e-4);
  }
  EXPECT_EQ(imc_energy(0.5 * touching, touching, delta).slope, -touching);
  const Energy end = ipc_energy(touching + delta, touching, delta);
  EXPECT_EQ(end.value, 0.0);
  EXPECT_NEAR(ipc_energy(touching + delta * (1.0 - 1e-6), touching, delta).curvature, 0.0, 1e-5);
  for (const double below : {0.0, -0.5 * delta}) {
    EXPECT_EQ(ipc_energy(below, 0.0, delta).value, std::numeric_limits<double>::infinity());
    EXPECT_EQ(ipc_energy(below, 0.0, delta).slope, -std::numeric_limits<double>::infinity());
  }
  EXPECT_THROW(energy(Law::coulomb, touching, touching, delta), InvalidInput);
}

TEST(Penalty, SlopesAndCurvaturesHaveOneSign) {
  for (const Law law : {Law::imc, Law::ipc}) {
    double before = std::numeric_limits<double>::infinity();
    for (double gap = (law == Law::imc ? -2.0 : 1e-3) * delta; gap < 1.5 * delta; gap += 1e-3 * delta) {
      const Energy at = energy(law, gap, 0.0, delta);
      EXPECT_LE(at.value, before);
      EXPECT_LE(at.slope, 0.0);
      EXPECT_GE(at.curvature, 0.0);
      before = at.value;
    }
  }
}

// Gaps of a contact that bears all of the load, a tenth and a hundredth of it, computed for the design of this.
TEST(Penalty, GapsUnderLoad) {
  const double imc[] = {0.393, 0.470, 0.547}, ipc[] = {0.532, 0.829, 0.943};
  for (int k = 0; k < 3; ++k) {
    const double share = std::pow(0.1, k);
    EXPECT_NEAR(gap_under_load(Law::imc, share, radius, delta), imc[k] * delta, 6e-4 * delta);
    EXPECT_NEAR(gap_under_load(Law::ipc, share, radius, delta), ipc[k] * delta, 6e-4 * delta);
    for (const Law law : {Law::imc, Law::ipc}) {
      const double load = 0.7;
      const double stiffness = adaptive_stiffness(law, load, radius, delta);
      const double gap = gap_under_load(law, share, radius, delta);
      const Force force = contact_force(energy(law, gap, 0.0, delta), stiffness, Vector3::Zero(), {});
      EXPECT_NEAR(force.value[0], share * load, 1e-9 * load);
    }
  }
  // A load far beyond what the stiffness was made for: implicit contact gives way.
  EXPECT_NEAR(gap_under_load(Law::imc, 1e7, radius, delta), -5e-5, 1e-12);  // half of share * radius / 1e8
  EXPECT_GT(gap_under_load(Law::ipc, 1e6, radius, delta), 0.0);
}

TEST(Penalty, FrictionHasTheDerivativesOfItsForce) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const SmoothFriction friction{0.4, 1e-4};
  const double stiffness = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double distance = 0.5 * delta * uniform(random);
    const double speed = 1e-4 * std::pow(10.0, 2.0 * uniform(random) - 1.0);
    const Vector3 v = speed * Vector3(uniform(random), uniform(random), uniform(random));
    const Force at = contact_force(energy(Law::imc, distance, 0.0, delta), stiffness, v, friction);
    const auto by_distance = [&](double x) {
      return contact_force(energy(Law::imc, x, 0.0, delta), stiffness, v, friction).value;
    };
    EXPECT_LT((derivative(by_distance, distance, 4e-3 * delta) - at.by_distance).norm(), 1e-8 * at.by_distance.norm());
    for (int k = 0; k < 3; ++k) {
      const auto by_velocity = [&](double x) {
        return contact_force(energy(Law::imc, distance, 0.0, delta), stiffness, v + x * Vector3::Unit(k), friction)
            .value;
      };
      EXPECT_LT((derivative(by_velocity, 0.0, 4e-7) - at.by_velocity.col(k)).norm(),
                1e-8 * friction.mu * at.value[0] * 7.5 / friction.slip_velocity);
    }
    // It takes energy, never more than mu times the load.
    EXPECT_LE(at.value.tail<2>().dot(v.tail<2>()), 0.0);
    EXPECT_LE(at.value.tail<2>().norm(), friction.mu * at.value[0] * (1.0 + 1e-15));
  }
}

TEST(Penalty, FrictionAtRestHasTheLimitOfItsDerivative) {
  const SmoothFriction friction{0.4, 1e-4};
  const Energy energy = imc_energy(0.0, 0.0, delta);
  const Force rest = contact_force(energy, 1e9, Vector3::Zero(), friction);
  EXPECT_TRUE((rest.value.tail<2>().isZero(0.0)));
  const double limit = -friction.mu * rest.value[0] * 7.5 / friction.slip_velocity;
  EXPECT_NEAR(rest.by_velocity(1, 1), limit, 1e-12 * std::abs(limit));
  EXPECT_EQ(rest.by_velocity(1, 2), 0.0);
  // On both sides of where the quotient is taken from a series.
  for (const double x : {0.9e-4, 1.1e-4}) {
    const Vector3 v(0.0, x / 7.5 * friction.slip_velocity, 0.0);
    const Force near = contact_force(energy, 1e9, v, friction);
    EXPECT_NEAR(near.value[1], limit * v[1], 1e-8 * std::abs(limit * v[1]));
    EXPECT_NEAR(near.by_velocity(1, 1), limit, 2e-8 * std::abs(limit));
  }
}

// What lies on a slope creeps where friction balances its weight: a closed form of the law.
TEST(Penalty, CreepOnASlope) {
  const double nu = 1e-4;
  const double expected[] = {0.073, 0.196, 0.353};  // nu
  const double shares[] = {0.5, 0.9, 0.99};
  for (int k = 0; k < 3; ++k) {
    const double speed = creep_speed(shares[k], nu);
    EXPECT_NEAR(speed, expected[k] * nu, 6e-4 * nu);
    const SmoothFriction friction{0.3, nu};
    const Force force = contact_force(imc_energy(0.0, 0.0, delta), 1e9, Vector3(0.0, 0.6, 0.8) * speed, friction);
    EXPECT_NEAR(force.value.tail<2>().norm(), shares[k] * 0.3 * force.value[0], 1e-12 * force.value[0]);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::laws
