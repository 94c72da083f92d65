#include <gtest/gtest.h>

#include <algorithm>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

/// Contacts whose normal turns within the step are linearised again alone: docs/theory/dynamics.md, "Repairs".
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

const rods::Material stiff{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.48, .damping_time = 1e-3};

constexpr double radius = 5e-5;
constexpr double tolerated = 0.05 * radius;

struct Outcome {
  double deepest = 0.0;   ///< overlap at the ends of steps [m]
  double residual = 0.0;  ///< largest
  int contacts = 0;       ///< most
};

/// Hairs side by side spring into curls, slide along and across each other.
Stepper curls(int max_relinearisations, assembly::World world = {}, SimulationState state = {}) {
  for (int k = 0; k < 4; ++k) {
    Pose root;
    root.position = {0.0, 1.5e-4 * k, 0.0};
    root.frame = Eigen::AngleAxisd(0.02 * k, Vector3::UnitX()).toRotationMatrix();
    assembly::Fibre curl = test::fibre(6, 0.06, radius, stiff, root, rods::RootCondition::clamped);
    curl.model = curl.model->with_rest_curvature(Vector3(0, 60.0 + 3.0 * k, 5.0 * (1.5 - k)).replicate(6, 1));
    test::add(world, state, std::move(curl));
    state.rods.back().coordinates.setZero();
  }
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.2));
  assembly::set_load(world, assembly::Gravity({0, 0, -9.81}));
  StepOptions options = test::step_options(1e-3);
  options.relinearisations = 0;
  options.max_relinearisations = max_relinearisations;
  options.max_halvings = 0;
  options.overlap_tolerance = tolerated;
  return {std::move(world), options, std::move(state)};
}

Outcome run(Stepper stepper) {
  Outcome out;
  for (int i = 1; i <= 200; ++i) {
    const StepReport report = stepper.step();
    EXPECT_TRUE(report.finite);
    out.deepest = std::max(out.deepest, report.max_penetration);
    out.residual = std::max(out.residual, report.residual);
    out.contacts = std::max(out.contacts, report.contacts);
  }
  return out;
}

TEST(Repairs, ContactsThatTurnEndInOverlapsOnlyWithoutThem) {
  const Outcome as_linearised = run(curls(0));
  EXPECT_GT(as_linearised.contacts, 5);
  EXPECT_GT(as_linearised.deepest, 4.0 * tolerated);
  const Outcome repaired = run(curls(4));
  EXPECT_LE(repaired.deepest, tolerated);
  EXPECT_LE(repaired.residual, test::step_options(1e-3).solver.tolerance);
}

/// A contact that no force opens, beside these, is told of in every step, those with repairs too.
TEST(Repairs, WhatIsJammedIsToldOfAllTheSame) {
  constexpr double length = 0.01, depth = 1e-5, floor = -1.0;
  assembly::World world;
  SimulationState state;
  Pose root;
  root.position = {0.0, 0.0, floor + length + radius - depth};
  root.frame = Eigen::AngleAxisd(0.5 * M_PI, Vector3::UnitY()).toRotationMatrix();
  test::add(world, {"floor", "", bodies::Plane{{0, 0, floor}, {0, 0, 1}}, Vector3::Zero(), {}});
  test::add(world, state, test::fibre(1, length, radius, stiff, root, rods::RootCondition::clamped));
  Stepper stepper = curls(4, std::move(world), std::move(state));
  for (int i = 1; i <= 200; ++i) {
    const StepReport report = stepper.step();
    ASSERT_TRUE(report.jammed) << i;
    EXPECT_NEAR(report.jammed->gap, -depth, 1e-12) << i;
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
