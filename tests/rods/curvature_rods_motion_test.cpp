#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "rods/rod_cases.hpp"

// A free rod under no force, stepped in time: what is conserved, and a vibration and a fall whose answer is known.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

/// Semi-implicit Euler, bertails2018hdr sec. 3.5: (M + dt D + dt^2 K) v+ = M v - dt (K (q - q_rest) + G + A).
void step(Rod& rod, const RodLoads& loads, double dt) {
  const int n = rod.dof();
  MatrixX m(n, n);
  rod.mass_matrix(m);
  VectorX force(n);
  VectorX elastic(n);
  rod.inertial_and_external_force(loads, force);
  rod.elastic_force(elastic);
  const VectorX v = generalised_velocity(rod, rod.state());
  const VectorX rhs = m * v + dt * (force + elastic);
  rod.add_stiffness(dt * dt, dt, m);
  rod.update(rod.advanced(rod.state(), Eigen::LLT<MatrixX>(m).solve(rhs), dt, rod.state().root, {}));
}

struct Drift {
  double linear = 0.0;
  double angular = 0.0;
  double energy = 0.0;
};

/// Relative changes of what a free rod keeps, after `duration` with `steps` steps. Three elements of about a turn each,
/// so that twisting has an inertia and its vibration is resolved; a nearly straight rod's is too fast for any of these
/// steps.
Drift drift_of(int steps, double duration) {
  Case c = make_case({.elements = 3, .turn = 4.0, .rate = 2.0, .root = RootCondition::free, .seed = 5});
  const Material soft{.density = 1200.0, .young_modulus = 1e4, .poisson_ratio = 0.4};
  std::vector<SuperHelixElement> parts;
  for (int i = 0; i < 3; ++i) {
    SuperHelixElement e{.length = c.lengths[i], .section = CrossSection::circle(1e-3)};
    e.rest_curvature = c.state.coordinates.segment<3>(3 * i) + Vector3(5, -5, 5);
    parts.push_back(e);
  }
  const auto rod = make_super_helix(parts, soft, RootCondition::free);
  rod->update(c.state);
  Vector3 linear[2];
  Vector3 angular[2];
  const auto energy = [&rod] {
    const RodEnergies e = rod->energies(Vector3::Zero());
    return e.kinetic + e.elastic;
  };
  rod->momentum(linear[0], angular[0]);
  const double before = energy();
  for (int i = 0; i < steps; ++i) step(*rod, {}, duration / steps);
  rod->momentum(linear[1], angular[1]);
  return {(linear[1] - linear[0]).norm() / linear[0].norm(), (angular[1] - angular[0]).norm() / angular[0].norm(),
          std::abs(energy() - before) / before};
}

TEST(CurvatureRodsMotion, FreeRodKeepsMomentumAndEnergyToFirstOrder) {
  constexpr double duration = 0.05;
  Drift previous;
  for (const int steps : {1600, 3200, 6400, 12800}) {
    const Drift d = drift_of(steps, duration);
    if (printing()) {
      std::printf("free rod, %4d steps: momentum %.2e  angular momentum %.2e  energy %.2e\n", steps, d.linear,
                  d.angular, d.energy);
    }
    if (steps > 1600) {
      // First order halves the drift at least; 1.8 leaves room for the next order.
      EXPECT_GT(previous.linear, 1.8 * d.linear);
      EXPECT_GT(previous.angular, 1.8 * d.angular);
      EXPECT_GT(previous.energy, 1.8 * d.energy);
    }
    previous = d;
  }
  EXPECT_LT(previous.linear, 2e-3);
  EXPECT_LT(previous.angular, 2e-3);
}

// The equations themselves: accelerations of a free rod leave momentum unchanged, without any time step's error.
TEST(CurvatureRodsMotion, MomentumBalanceIsExact) {
  for (unsigned seed = 1; seed < 8; ++seed) {
    Case c = make_case({.elements = 4,
                        .turn = 1.5,
                        .rate = 1.0,
                        .root = RootCondition::free,
                        .seed = seed,
                        .model = curvature_models[seed % 2]});
    const int n = c.rod->dof();
    MatrixX m(n, n);
    c.rod->mass_matrix(m);
    VectorX f(n);
    VectorX elastic(n);
    RodLoads loads;
    loads.gravity = Vector3(1, 2, -9);
    c.rod->inertial_and_external_force(loads, f);
    c.rod->elastic_force(elastic);
    const VectorX v = generalised_velocity(*c.rod, c.state);
    const VectorX acceleration = m.ldlt().solve(f + elastic);
    const auto momentum_at = [&](double h) {
      RodState state = displaced(c, v + 0.5 * h * acceleration, h);
      const VectorX moved = v + h * acceleration;
      state.rates = moved.tail(c.rod->coordinate_count());
      state.root_velocity = {moved.head<3>(), moved.segment<3>(3)};
      auto rod = c.rod->clone();
      rod->update(state);
      Vector3 linear;
      Vector3 angular;
      rod->momentum(linear, angular);
      Eigen::Matrix<double, 6, 1> both;
      both.head<3>() = linear;
      both.tail<3>() = angular;
      return both;
    };
    // The motion is exact to second order at h = 0, so that only the central difference's h^2 remains.
    const double h = 1e-5 / acceleration.norm() * v.norm();
    const Eigen::Matrix<double, 6, 1> rate = (momentum_at(h) - momentum_at(-h)) / (2.0 * h);
    const Vector3 weight = c.rod->mass() * loads.gravity;
    Vector3 first = Vector3::Zero();
    integrate(c, [&](int piece, double u, double w) {
      first += w * c.densities[piece] * c.rod->section(c.rod->piece_begin(piece) + u).position;
    });
    const double scale = (f + elastic).head(6).norm() + c.rod->mass() * acceleration.head(3).norm();
    EXPECT_LT((rate.head<3>() - weight).norm(), 1e-6 * scale);
    EXPECT_LT((rate.tail<3>() - first.cross(loads.gravity)).norm(), 1e-6 * scale);
  }
}

// A free rod without spin or strain falls as a point.
TEST(CurvatureRodsMotion, FreeFall) {
  Case c = make_case({.elements = 3, .turn = 1.0, .root = RootCondition::free, .seed = 2});
  RodState state = c.state;
  state.coordinates = c.rod->rest_curvature();
  state.rates.setZero();
  state.root_velocity = {};
  c.rod->update(state);
  RodLoads loads;
  loads.gravity = Vector3(0, 0, -9.81);
  constexpr int steps = 100;
  constexpr double dt = 1e-3;
  for (int i = 0; i < steps; ++i) step(*c.rod, loads, dt);
  const double expected = -9.81 * dt * dt * steps * (steps + 1) / 2.0;  // the scheme's own sum
  EXPECT_NEAR(c.rod->state().root.position.z() - state.root.position.z(), expected, 1e-11);
  EXPECT_LT((c.rod->state().coordinates - state.coordinates).norm(), 1e-8);
}

/// A rod that winds up by more than ten thousand radians is cut in so many pieces that all memory would go for the
/// pairs of them that are near each other.
TEST(CurvatureRodsMotion, WhatWindsUpWithoutEndIsOutOfReach) {
  const Case c = make_case({.elements = 4, .seed = 3});
  RodState state = c.state;
  const VectorX still = VectorX::Zero(c.rod->dof());
  const auto reached = [&](double turn, const VectorX& v, double dt) {
    state.coordinates.setConstant(turn / c.rod->length());
    return c.rod->within_reach(state, v, dt);
  };
  EXPECT_TRUE(reached(9e3, still, 1e-3));
  EXPECT_FALSE(reached(1.1e4, still, 1e-3));
  const VectorX winding = VectorX::Constant(c.rod->dof(), 1e6 / c.rod->length());
  EXPECT_TRUE(reached(0.0, winding, 9e-3));
  EXPECT_FALSE(reached(0.0, winding, 1.1e-2));
  EXPECT_FALSE(reached(0.0, still * std::nan(""), 1e-3));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
