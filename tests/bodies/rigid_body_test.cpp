#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/bodies/rigid_body.hpp>

namespace tresse::bodies {
namespace TRESSE_TEST_FILE {

constexpr double pi = std::numbers::pi;

/// Moments of the solid of revolution of radius rho(x), by discs: Simpson's rule, exact for the cubic rho^4 pieces of a
/// rounded end but for rounding, on many slices.
struct Discs {
  double volume = 0.0, axial = 0.0, transverse = 0.0;
};

Discs capsule_by_discs(double length, double radius) {
  Discs out;
  const auto add = [&](double from, double to) {
    constexpr int slices = 2000;
    const double h = (to - from) / slices;
    for (int i = 0; i <= slices; ++i) {
      const double x = from + i * h;
      const double beyond = std::max(0.0, std::abs(x) - 0.5 * length);
      const double r2 = std::max(0.0, radius * radius - beyond * beyond);
      const double weight = h / 3.0 * (i == 0 || i == slices ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0));
      out.volume += weight * pi * r2;
      out.axial += weight * 0.5 * pi * r2 * r2;
      out.transverse += weight * pi * r2 * (0.25 * r2 + x * x);
    }
  };
  add(-0.5 * length - radius, -0.5 * length);
  add(-0.5 * length, 0.5 * length);
  add(0.5 * length, 0.5 * length + radius);
  return out;
}

TEST(RigidBody, InertiaOfCapsulesIsThatOfTheirDiscs) {
  for (const auto& [length, radius] : {std::pair(0.3, 0.05), std::pair(0.02, 0.1), std::pair(0.0, 0.2)}) {
    const Vector3 along = Vector3(1, 2, -2) / 3.0;
    const Capsule shape{Vector3(1, 0, 0), Vector3(1, 0, 0) + length * along, radius};
    const Discs discs = capsule_by_discs(length, radius);
    const double mass = 2.5;
    const Solid body = solid(shape, mass);
    EXPECT_NEAR(volume(shape) / discs.volume, 1.0, 1e-12);
    EXPECT_NEAR(body.axial_inertia / (mass * discs.axial / discs.volume), 1.0, 1e-12);
    EXPECT_NEAR(body.transverse_inertia / (mass * discs.transverse / discs.volume), 1.0, 1e-12);
    EXPECT_NEAR((body.centre - Vector3(1, 0, 0) - 0.5 * length * along).norm(), 0.0, 1e-15);
  }
}

TEST(RigidBody, SpheresAndCylindersAreCapsules) {
  const Solid ball = solid(Sphere{{1, 2, 3}, 0.1}, 5.0);
  EXPECT_NEAR(ball.axial_inertia, 0.4 * 5.0 * 0.01, 1e-15);
  EXPECT_NEAR(ball.transverse_inertia, ball.axial_inertia, 1e-16);
  const Solid rod = solid(Cylinder{{0, 0, 1}, {0, 1, 0}, 0.1, 0.6}, 5.0);
  const Solid same = solid(Capsule{{0, -0.3, 1}, {0, 0.3, 1}, 0.1}, 5.0);
  EXPECT_NEAR(rod.axial_inertia, same.axial_inertia, 1e-16);
  EXPECT_NEAR(rod.transverse_inertia, same.transverse_inertia, 1e-16);
}

TEST(RigidBody, OthersAreRefused) {
  const Shape plane = Plane{Vector3::Zero(), Vector3::UnitZ()};
  Comb comb;
  comb.base.setZero();
  comb.tooth_direction = Vector3::UnitX();
  comb.row_direction = Vector3::UnitY();
  EXPECT_FALSE(can_be_free(plane));
  EXPECT_FALSE(can_be_free(comb));
  EXPECT_THROW((void)solid(plane, 1.0), InvalidInput);
  EXPECT_THROW((void)volume(comb), InvalidInput);
  EXPECT_THROW((void)solid(Sphere{{0, 0, 0}, 1.0}, 0.0), InvalidInput);
  EXPECT_THROW((void)solid(Sphere{{0, 0, 0}, 1.0}, std::nan("")), InvalidInput);
}

/// A spinning capsule, thrown so that it precesses fast.
struct Top {
  Solid body = solid(Capsule{{0, 0, 0}, {0.1, 0, 0}, 0.02}, 0.3);
  Matrix3 frame = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  Vector3 spin = frame * Vector3(40.0, 9.0, -4.0);
  Vector3 momentum = angular_momentum(body, frame, spin);
};

TEST(RigidBody, PowersOfTheInertia) {
  const Top top;
  const Matrix3 inertia = inertia_power(top.body, top.frame, 1.0);
  const Matrix3 root = inertia_power(top.body, top.frame, -0.5);
  // A handful of roundings, and other ones with fused products than without.
  EXPECT_NEAR((inertia * top.spin - top.momentum).norm() / top.momentum.norm(), 0.0, 1e-14);
  EXPECT_NEAR((root * inertia * root - Matrix3::Identity()).norm(), 0.0, 1e-14);
  EXPECT_NEAR((angular_velocity(top.body, top.frame, top.momentum) - top.spin).norm() / top.spin.norm(), 0.0, 1e-14);
}

// The world momentum is not touched by a step; that the energy is kept, whatever the step, is the scheme.
TEST(RigidBody, AFreeTopKeepsItsEnergyAtAnyStep) {
  for (const double dt : {1e-4, 1e-2, 0.3}) {  // up to two turns a step
    Top top;
    const double energy = 0.5 * top.momentum.dot(top.spin);
    for (int i = 0; i < 1000; ++i) {
      const Turn turn = turn_freely(top.body, top.frame, top.momentum, dt);
      top.frame = turn.frame;
      ASSERT_NEAR((top.frame.transpose() * top.frame - Matrix3::Identity()).norm(), 0.0, 1e-14);
    }
    const double now = 0.5 * top.momentum.dot(angular_velocity(top.body, top.frame, top.momentum));
    EXPECT_NEAR(now / energy, 1.0, 1e-12) << dt;
  }
}

// The axis of a symmetric top goes around its momentum at |L| / I_t: Poinsot's motion.
TEST(RigidBody, PrecessionIsOfSecondOrder) {
  const double time = 0.5;
  double last = 0.0;
  for (const int steps : {200, 400, 800, 1600}) {
    Top top;
    const Vector3 start = top.frame * top.body.axis;
    for (int i = 0; i < steps; ++i) top.frame = turn_freely(top.body, top.frame, top.momentum, time / steps).frame;
    const double angle = top.momentum.norm() / top.body.transverse_inertia * time;
    const Vector3 exact = Eigen::AngleAxisd(angle, top.momentum.normalized()) * start;
    const double error = (top.frame * top.body.axis - exact).norm();
    if (last > 0.0) {
      EXPECT_NEAR(std::log2(last / error), 2.0, 0.02) << steps;
    }
    last = error;
  }
  EXPECT_LT(last, 1e-3);
}

// A ball turns about its momentum; its mean velocity over a step is that of either end.
TEST(RigidBody, ABallTurnsEvenly) {
  const Solid ball = solid(Sphere{{0, 0, 0}, 0.1}, 2.0);
  const Vector3 spin(1, -2, 3);
  const Turn turn = turn_freely(ball, Matrix3::Identity(), angular_momentum(ball, Matrix3::Identity(), spin), 0.01);
  EXPECT_NEAR((turn.mean - spin).norm(), 0.0, 1e-14);
  const Matrix3 exact = Eigen::AngleAxisd(0.01 * spin.norm(), spin.normalized()).toRotationMatrix();
  const double cubed = std::pow(0.01 * spin.norm(), 3);
  EXPECT_NEAR((turn.frame - exact).norm(), 0.0, 2.0 * cubed / 12.0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::bodies
