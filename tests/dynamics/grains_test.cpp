#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>

// Grains in a world: they step as the flow by itself, and press on the obstacles that they flow around.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double g = 9.81;  // [m/s^2]

/// A column of sand above an opening, with a block in it that is the second of two obstacles.
assembly::World world() {
  assembly::World out;
  bodies::Obstacle far, block;
  far.name = "far";
  far.shape = bodies::Plane{{0.0, 0.0, -9.0}, {0.0, 0.0, 1.0}};
  block.name = "block";
  block.shape = bodies::Sphere{{0.15, 0.025, 0.15}, 0.04};
  block.reference = {0.15, 0.025, 0.15};
  out.obstacles = {far, block};
  out.obstacle_material = {0, 0};
  assembly::set_load(out, assembly::Gravity({0.0, 0.0, -g}));
  grains::Medium& medium = out.grains.emplace();
  medium.cells = {5, 0, 6};
  medium.high = {0.25, 0.05, 0.3};
  medium.viscosity = 20.0;
  medium.sides[4] = grains::Side::open;
  medium.obstacles = 2;
  medium.solid.assign(30, -1);
  medium.solid[2 * 5 + 3] = 1;
  return out;
}

SimulationState at_rest(const assembly::World& of) {
  SimulationState out;
  out.grains = grains::at_rest(*of.grains);
  return out;
}

StepOptions options() {
  StepOptions out;
  out.dt = 2e-3;
  out.margin = 1e-3;
  out.grain_tolerance = 1e-9;
  return out;
}

TEST(Grains, StepAsTheFlowByItself) {
  const assembly::World sand = world();
  Stepper stepper(sand, options(), at_rest(sand));
  grains::Flow flow(*sand.grains);
  grains::GrainState alone = grains::at_rest(*sand.grains);
  for (int step = 0; step < 3; ++step) {
    const StepReport report = stepper.step();
    const grains::GrainReport expected = flow.step({{0.0, 0.0, -g}, 2e-3, 1e-9}, alone);
    ASSERT_TRUE(report.grains);
    EXPECT_EQ(report.grains->residual, expected.residual);
    EXPECT_EQ(stepper.state().grains.velocity, alone.velocity);
    EXPECT_EQ(stepper.state().grains.stress, alone.stress);
    EXPECT_EQ(stepper.state().grains.outflow, alone.outflow);
    EXPECT_EQ(report.obstacles[0].force, Vector3::Zero());
    EXPECT_EQ(report.obstacles[1].force, expected.obstacle_force[1]);
    EXPECT_LT(report.obstacles[1].force.z(), 0.0);
    EXPECT_EQ(report.obstacles[1].contacts, 0);
    // Of forces in the plane y = 0.025 m, about a point of it.
    EXPECT_NEAR(report.obstacles[1].torque.x(), 0.0, 1e-15);
    EXPECT_NEAR(
        report.obstacles[1].torque.y(),
        expected.obstacle_torque[1].y() - (0.15 * report.obstacles[1].force.x() - 0.15 * report.obstacles[1].force.z()),
        1e-15);
  }
  EXPECT_GT(alone.velocity.norm(), 0.0);
  EXPECT_EQ(stepper.previous_state().step, 2);
}

TEST(Grains, AStepThatIsNotFiniteChangesNothing) {
  const assembly::World sand = world();
  SimulationState wild = at_rest(sand);
  wild.grains.velocity.setConstant(1e200);  // its square is none
  Stepper stepper(sand, options(), wild);
  EXPECT_FALSE(stepper.step().finite);
  EXPECT_EQ(stepper.state().step, 0);
  EXPECT_EQ(stepper.state().grains.velocity, wild.grains.velocity);
}

TEST(Grains, RefuseAnotherGrid) {
  const assembly::World sand = world();
  SimulationState other = at_rest(sand);
  other.grains.stress.conservativeResize(5);
  try {
    const Stepper stepper(sand, options(), other);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()), "state: the grains are of another grid");
  }
  StepOptions loose = options();
  loose.grain_tolerance = 0.0;
  EXPECT_THROW(Stepper(sand, loose, at_rest(sand)), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
