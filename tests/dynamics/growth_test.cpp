#include <gtest/gtest.h>

#include <cmath>

#include "support/worlds.hpp"

/// Fibres that lengthen, and fibres rooted where they touch.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

const rods::Material undamped{.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4};
constexpr double radius = 5e-4;

struct Built {
  assembly::World world;
  SimulationState state;
};

Built one(double length, const Pose& root, const rods::Material& material) {
  Built out;
  assembly::set_load(out.world, assembly::Gravity({0, 0, -9.81}));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  test::add(out.world, out.state, test::fibre(4, length, radius, material, root, rods::RootCondition::clamped));
  return out;
}

double total(const rods::RodEnergies& e) { return e.kinetic + e.elastic + e.gravity; }

TEST(Growth, LengthGoesLinearlyFromTheFirstTimeToTheLast) {
  Built built = one(0.05, {}, undamped);
  assembly::Fibre& fibre = built.world.fibres[0];
  fibre.growth = {3.0, 0.1, 0.2};
  EXPECT_EQ(assembly::length_scale_at(fibre, 0.05), 1.0);
  EXPECT_DOUBLE_EQ(assembly::length_scale_at(fibre, 0.15), 2.0);
  EXPECT_EQ(assembly::length_scale_at(fibre, 0.2), 3.0);
  EXPECT_FALSE(assembly::grows(fibre, 0.0, 0.1));
  EXPECT_TRUE(assembly::grows(fibre, 0.0, 0.11));
  EXPECT_FALSE(assembly::grows(fibre, 0.2, 0.3));
  Stepper stepper(std::move(built.world), test::step_options(1e-2), std::move(built.state));
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(stepper.step().finite);
  EXPECT_NEAR(stepper.kinematics().rod(0).length(), 0.1, 1e-15);
}

// Energy gained less the work of growing falls with the step: nothing else acts.
TEST(Growth, WhatItBringsInIsWork) {
  const auto error = [](double dt) {
    Built built = one(0.05, {}, undamped);
    built.world.fibres[0].growth = {1.5, 0.0, 0.05};
    Stepper stepper(std::move(built.world), test::step_options(dt), std::move(built.state));
    const double before = total(stepper.kinematics().rod(0).energies(assembly::gravity_of(stepper.world())));
    StepReport report;
    double largest = 0.0;
    for (int i = 0; i < static_cast<int>(std::lround(0.05 / dt)); ++i) {
      report = stepper.step();
      largest = std::max(largest, std::abs(report.work_external));
    }
    return std::abs(total(report.energies) - before - report.work_external) / largest;
  };
  const double coarse = error(1e-3);
  const double fine = error(2.5e-4);
  EXPECT_LT(fine, 0.35 * coarse) << "implicit Euler's loss, first order";
  EXPECT_LT(fine, 0.05);
}

// A rod clamped flat on a floor under its own weight: what touches at the root can't give way and takes no part.
TEST(ContactAtARoot, HasNoForceOfItsOwn) {
  const rods::Material damped{.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4, .damping_time = 0.05};
  Built built = one(0.1, {{0, 0, radius}, Matrix3::Identity()}, damped);
  test::add(built.world,
            bodies::Obstacle{"floor", "", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}});
  const double weight = built.world.fibres[0].model->mass() * 9.81;
  Stepper stepper(std::move(built.world), test::step_options(1e-3), std::move(built.state));
  for (int i = 0; i < 300; ++i) {
    const StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    ASSERT_LT(report.obstacles[0].force.norm(), 1.5 * weight) << i;
    ASSERT_LT(report.max_penetration, 1e-7);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
