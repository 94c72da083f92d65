#include <cmath>

#include <gtest/gtest.h>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/surfaces/cloth.hpp>

// Cloth in a world: what obstacles carry, corners between two of them, obstacles that move, pins.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double g = 9.81;       // [m/s^2]
constexpr double radius = 5e-4;  // half the thickness [m]
constexpr surfaces::ClothMaterial cotton{.area_density = 0.15,
                                         .warp_stiffness = 3000.0,
                                         .weft_stiffness = 2000.0,
                                         .shear_stiffness = 60.0,
                                         .poisson_ratio = 0.2,
                                         .bending_stiffness = 1e-5,
                                         .damping_time = 5e-3};

/// A sheet of 20 cm in front of obstacles of the friction `mu`, its corner at `place`.
struct Sheet {
  assembly::World world;
  SimulationState state;
  std::shared_ptr<const surfaces::Cloth> cloth;

  Sheet(const std::vector<bodies::Obstacle>& obstacles, double mu, const Vector3& place, int cells = 8) {
    cloth = std::make_shared<const surfaces::Cloth>(surfaces::rectangle(0.2, 0.2, {cells, cells}), cotton);
    world.obstacles = obstacles;
    world.obstacle_material.assign(obstacles.size(), 0);
    assembly::set_load(world, assembly::Gravity({0.0, 0.0, -g}));
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
    world.surfaces.push_back({"sheet", cloth, radius, 0, {}});
    surfaces::SurfaceState at{VectorX(cloth->position_count()), VectorX::Zero(cloth->velocity_count())};
    for (int v = 0; v < cloth->vertex_count(); ++v)
      at.position.segment<3>(3 * v) = place + cloth->shape().vertices[static_cast<std::size_t>(v)];
    state.surfaces.push_back(at);
  }
  double weight() const { return g * cloth->masses().sum(); }
};

StepOptions options(double dt) {
  StepOptions out;
  out.dt = dt;
  out.margin = 1e-4;
  return out;
}

bodies::Obstacle plane(const Vector3& point, const Vector3& normal, const bodies::Motion& motion = {}) {
  bodies::Obstacle out;
  out.shape = bodies::Plane{point, normal};
  out.motion = motion;
  return out;
}

TEST(Cloth, WhatFallsOnAFloorStopsThereAndWeighsOnIt) {
  const Sheet sheet({plane(Vector3::Zero(), Vector3::UnitZ())}, 0.3, {0.0, 0.0, 0.02});
  Stepper stepper(sheet.world, options(2e-3), sheet.state);
  StepReport last;
  for (int step = 0; step < 60; ++step) {
    last = stepper.step();
    ASSERT_TRUE(last.finite);
    ASSERT_EQ(last.cloths.size(), 1U);
    EXPECT_EQ(last.cloths[0].status, Status::converged);
    EXPECT_LE(last.cloths[0].residual, 1e-10);
    EXPECT_LT(last.cloths[0].penetration, 0.01 * radius);
  }
  EXPECT_LT(last.cloths[0].top_speed, 1e-9);
  EXPECT_NEAR(last.obstacles[0].force.z(), -sheet.weight(), 1e-9 * sheet.weight());
  EXPECT_EQ(last.obstacles[0].contacts, sheet.cloth->vertex_count());
  // About the plane's own point, the middle of what lies on it.
  EXPECT_NEAR(last.obstacles[0].torque.x() / last.obstacles[0].force.z(), 0.1, 1e-6);
  EXPECT_NEAR(last.obstacles[0].torque.y() / last.obstacles[0].force.z(), -0.1, 1e-6);
}

/// A sheet that slides down a wall onto a floor: vertices at the foot touch both, and go through neither.
TEST(Cloth, LiesInACorner) {
  const Sheet sheet(
      {plane(Vector3::Zero(), Vector3::UnitZ()), plane(Vector3::Zero(), Vector3(std::sqrt(0.5), 0.0, std::sqrt(0.5)))},
      0.2, {-0.1, 0.0, 0.11});
  Stepper stepper(sheet.world, options(2e-3), sheet.state);
  double deepest = 0.0, worst = 0.0;
  int most = 0;
  StepReport last;
  for (int step = 0; step < 150; ++step) {
    last = stepper.step();
    ASSERT_TRUE(last.finite);
    deepest = std::max(deepest, last.cloths[0].penetration);
    worst = std::max(worst, last.cloths[0].residual);
    most = std::max(most, last.cloths[0].contacts);
  }
  EXPECT_LE(worst, 1e-10);
  EXPECT_LT(deepest, 0.02 * radius);
  const double down = last.obstacles[0].force.z() + last.obstacles[1].force.z();
  EXPECT_NEAR(down, -sheet.weight(), 0.1 * sheet.weight());
}

/// A floor that moves sideways takes the sheet along where friction allows it: g mu a second, and no faster than it.
TEST(Cloth, IsTakenAlongByWhatMoves) {
  bodies::Motion motion;
  motion.velocity = {0.1, 0.0, 0.0};
  const double mu = 0.3, dt = 2e-3;
  const Sheet sheet({plane(Vector3::Zero(), Vector3::UnitZ(), motion)}, mu, {0.0, 0.0, radius});
  Stepper stepper(sheet.world, options(dt), sheet.state);
  double work = 0.0;
  for (int step = 1; step <= 30; ++step) {
    const StepReport report = stepper.step();
    const double expected = std::min(0.1, mu * g * step * dt);
    EXPECT_NEAR(report.cloths[0].top_speed, expected, 1e-9);
    work += report.cloths[0].work;
    EXPECT_NEAR(report.work_external, work, 1e-12);
  }
  // The floor has given the sheet what it moves with, and what friction took while they slid.
  EXPECT_GT(work, stepper.energies().kinetic);
}

TEST(Cloth, HangsOnPinsThatLetGo) {
  Sheet sheet({}, 0.0, Vector3::Zero());
  assembly::ClothPins pins;
  pins.vertices = {0, 8};
  pins.places = {Vector3::Zero(), Vector3(0.2, 0.0, 0.0)};
  pins.motion.velocity = {0.0, 0.0, 0.05};
  pins.release = 0.05;
  sheet.world.surfaces[0].pins = {pins};
  Stepper stepper(sheet.world, options(5e-3), sheet.state);
  for (int step = 1; step <= 20; ++step) {
    const StepReport report = stepper.step();
    const VectorX& x = stepper.state().surfaces[0].position;
    if (step <= 10) {
      EXPECT_NEAR(x[2], 0.05 * step * 5e-3, 1e-12);
    } else {
      EXPECT_TRUE(report.cloths[0].pin_force.isZero(0.0));
      EXPECT_LT(x[2], 0.05 * step * 5e-3);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
