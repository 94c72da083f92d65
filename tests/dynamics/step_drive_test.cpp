#include <gtest/gtest.h>

#include <limits>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

#include "support/worlds.hpp"

/// What is steered from outside does what a prescribed motion would.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double dt = 1e-3;
constexpr double always = std::numeric_limits<double>::infinity();
const rods::Material nylon{.density = 1140.0, .young_modulus = 2.7e9, .poisson_ratio = 0.39, .damping_time = 0.0};

/// A clamped fibre over a bar that waits just below it.
Stepper fibre_over_bar(const bodies::Motion& motion, double mass = 0.0) {
  assembly::World world;
  SimulationState state;
  test::add(world, state, test::fibre(5, 0.1, 1e-3, nylon, {}, rods::RootCondition::clamped));
  bodies::Obstacle bar{"bar", "bar", bodies::Capsule{{0.05, -0.0121, -0.05}, {0.05, -0.0121, 0.05}, 0.01}, {}, motion};
  bar.reference = {0.05, -0.0121, 0.0};
  bar.mass = mass;
  test::add(world, bar);
  test::free_bodies(world, state);
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.2));
  return {std::move(world), test::step_options(dt), std::move(state)};
}

Vector3 force_after(Stepper& stepper, int steps) {
  StepReport report;
  for (int i = 0; i < steps; ++i) report = stepper.step();
  return report.obstacles[0].force;
}

TEST(Drive, AVelocityIsTheSameMotionPrescribed) {
  bodies::Motion motion;
  motion.velocity = {0.0, 0.05, 0.0};
  motion.angular_velocity = {0.0, 0.0, 2.0};
  Stepper prescribed = fibre_over_bar(motion);
  Stepper driven = fibre_over_bar({});
  driven.drive_obstacle(0, {motion.velocity, motion.angular_velocity}, always);
  const Vector3 wanted = force_after(prescribed, 100);
  const Vector3 found = force_after(driven, 100);
  EXPECT_GT(wanted.norm(), 0.01);
  EXPECT_LT((found - wanted).norm(), 1e-9 * wanted.norm());
}

TEST(Drive, ItRestsOnceTheTimeIsOver) {
  Stepper stepper = fibre_over_bar({});
  stepper.drive_obstacle(0, {{0.0, -0.1, 0.0}, Vector3::Zero()}, 5 * dt);
  static_cast<void>(force_after(stepper, 20));
  const Pose pose = assembly::obstacle_pose(stepper.kinematics(), 0, stepper.time());
  EXPECT_NEAR(pose.position.y(), -0.0121 - 0.1 * 5 * dt, 1e-15);
  stepper.drive_obstacle(0, {{0.0, 0.1, 0.0}, Vector3::Zero()}, 5 * dt);
  static_cast<void>(force_after(stepper, 5));
  EXPECT_NEAR(assembly::obstacle_pose(stepper.kinematics(), 0, stepper.time()).position.y(), -0.0121, 1e-15);
}

/// What may touch was found for the old motion; at 5 m/s the bar jumps over the fibre in one step unless it is found
/// anew.
TEST(Drive, WhatStartsFastIsMet) {
  Stepper stepper = fibre_over_bar({});
  static_cast<void>(stepper.step());
  stepper.drive_obstacle(0, {{0.0, 5.0, 0.0}, Vector3::Zero()}, dt);
  EXPECT_GT(stepper.step().contacts, 0);
}

TEST(Drive, ARootIsMoved) {
  Stepper stepper = fibre_over_bar({});
  stepper.drive_root(0, {{0.0, 0.1, 0.0}, {1.0, 0.0, 0.0}}, always);
  static_cast<void>(force_after(stepper, 50));
  const Pose& root = stepper.state().rods[0].root;
  EXPECT_NEAR(root.position.y(), 0.1 * 50 * dt, 1e-14);
  const Matrix3 turn = Eigen::AngleAxisd(50 * dt, Vector3::UnitX()).toRotationMatrix();
  EXPECT_LT((root.frame - turn).norm(), 1e-13);
}

TEST(Drive, AStateIsGoneOnFrom) {
  Stepper stepper = fibre_over_bar({});
  SimulationState state = stepper.state();
  state.rods[0].coordinates = VectorX::LinSpaced(15, -1.0, 1.0);
  stepper.set_state(state);
  EXPECT_EQ(stepper.kinematics().rod(0).curvature(), state.rods[0].coordinates);
  state.rods[0].coordinates.resize(3);
  EXPECT_THROW(stepper.set_state(state), InvalidInput);
  state.rods.clear();
  EXPECT_THROW(stepper.set_state(state), InvalidInput);
  EXPECT_TRUE(stepper.step().finite);
}

TEST(Drive, WhatCannotBeDrivenIsRefused) {
  Stepper stepper = fibre_over_bar({}, 0.1);
  const Twist still{};
  const Twist unbounded{Vector3::Constant(always), Vector3::Zero()};
  EXPECT_THROW(stepper.drive_obstacle(0, still, 1.0), InvalidInput);
  EXPECT_THROW(stepper.drive_obstacle(1, still, 1.0), InvalidInput);
  EXPECT_THROW(stepper.drive_obstacle(-1, still, 1.0), InvalidInput);
  EXPECT_THROW(stepper.drive_root(1, still, 1.0), InvalidInput);
  EXPECT_THROW(stepper.drive_root(0, still, 0.0), InvalidInput);
  EXPECT_THROW(stepper.drive_root(0, unbounded, 1.0), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
