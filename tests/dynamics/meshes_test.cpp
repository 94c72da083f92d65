#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <tresse/dynamics/stepper.hpp>

#include "support/meshes.hpp"
#include "support/worlds.hpp"

namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double radius = 5e-4;   // [m]
constexpr double length = 0.04;   // [m]
constexpr double friction = 0.3;  // [-]
constexpr rods::Material nylon{1150.0, 2e9, 0.4};

struct Setting {
  assembly::World world;
  SimulationState state;
  StepOptions options = test::step_options(1e-3);

  Setting() {
    assembly::set_load(world, assembly::Gravity(Vector3(0.0, 0.0, -9.81)));
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, friction));
  }
  void fibre(const Vector3& at, const Matrix3& frame = Matrix3::Identity(), int elements = 2) {
    test::add(world, state, test::fibre(elements, length, radius, nylon, {at, frame}, rods::RootCondition::free));
  }
  bodies::Obstacle& obstacle(bodies::Shape shape) {
    bodies::Obstacle out;
    out.name = "surface";
    out.shape = std::move(shape);
    test::add(world, out);
    return world.obstacles.back();
  }
  Stepper start() const { return Stepper(world, options, state); }
};

struct End {
  SimulationState state;
  Vector3 impulse = Vector3::Zero();
  double deepest = 0.0;
};

End run(Stepper stepper, int steps) {
  End out;
  for (int i = 0; i < steps; ++i) {
    const StepReport report = stepper.step();
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.solver_status, Status::converged);
    for (const ObstacleLoad& load : report.obstacles) out.impulse += stepper.options().dt * load.force;
    out.deepest = std::max(out.deepest, report.max_penetration);
  }
  out.state = stepper.state();
  return out;
}

Vector3 middle_of(const Stepper& stepper, int fibre = 0) {
  const rods::Rod& rod = stepper.kinematics().rod(fibre);
  return geometry::position(rod.piece(rod.piece_count() / 2), 0.0);
}

Matrix3 turned(double angle, const Vector3& axis) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

TEST(Meshes, AHairFallsAndSlidesOnAPlateAsOnAPlane) {
  for (const int n : {1, 10}) {
    const auto with = [&](bodies::Shape shape) {
      Setting setting;
      assembly::set_load(setting.world, assembly::Gravity(Vector3(5.0, 1.0, -9.81)));  // down a slope, where it slides
      setting.fibre({-0.05, 0.001, 2e-3}, turned(0.2, {0.0, -0.3, 1.0}));
      setting.obstacle(std::move(shape));
      return run(setting.start(), 150);
    };
    const End plane = with(bodies::Plane{Vector3::Zero(), Vector3::UnitZ()});
    const End plate = with(test::mesh_of(test::plate(0.2, n)));
    EXPECT_GT(plane.state.rods[0].root.position.x(), -0.03);
    // The contacts differ in number: equal to what the solver and the overlap that is left alone allow.
    EXPECT_NEAR((plane.state.rods[0].root.position - plate.state.rods[0].root.position).norm(), 0.0, 1e-6) << n;
    EXPECT_NEAR((plane.impulse - plate.impulse).norm(), 0.0, 1e-4 * plane.impulse.norm()) << n;
    EXPECT_LT(plate.deepest, 5e-7);
  }
}

TEST(Meshes, AHairRestsOnABallOfTrianglesAsOnASphere) {
  const auto with = [&](bodies::Shape shape) {
    Setting setting;
    setting.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.8));
    setting.fibre({-0.5 * length, 0.0, 0.05 + radius + 2e-5});
    setting.obstacle(std::move(shape));
    return run(setting.start(), 300);
  };
  const End sphere = with(bodies::Sphere{Vector3::Zero(), 0.05});
  const End ball = with(test::mesh_of(test::ball(5, 0.05)));
  // Sagitta of a triangle's side: (2 mm)^2 / (8 * 50 mm).
  EXPECT_NEAR((sphere.state.rods[0].root.position - ball.state.rods[0].root.position).norm(), 0.0, 3e-5);
  EXPECT_NEAR((sphere.impulse - ball.impulse).norm(), 0.0, 5e-3 * sphere.impulse.norm());
}

TEST(Meshes, AFibreLiesOverAnEdgeOfABox) {
  Setting setting;
  setting.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.9));
  // Balanced across the ridge of a box that stands on its edge.
  setting.fibre({0.0, -0.5 * length, radius + 0.01 * std::sqrt(2.0) + 1e-6},
                turned(0.5 * std::numbers::pi, Vector3::UnitZ()));
  bodies::Obstacle& box = setting.obstacle(test::mesh_of(test::box({-0.1, -0.01, -0.01}, {0.1, 0.01, 0.01})));
  box.motion.keyframes = {{0.0, Vector3::Zero(), 0.25 * std::numbers::pi * Vector3::UnitX()}};
  Stepper stepper = setting.start();
  const double weight = setting.world.fibres[0].model->mass() * 9.81;
  double force = 0.0;
  for (int i = 0; i < 100; ++i) force = stepper.step().obstacles[0].force.z();
  EXPECT_NEAR(force, -weight, 0.02 * weight);
  EXPECT_NEAR(middle_of(stepper).z(), radius + 0.01 * std::sqrt(2.0), 2e-5);
}

TEST(Meshes, AFastFibreDoesNotPassAThinPlateOrASheet) {
  for (const bool sheet : {false, true}) {
    for (const double speed : {2.0, 10.0}) {
      Setting setting;
      setting.fibre({-0.02, 0.004, 0.01}, turned(0.3, {0.3, -1.0, 0.2}));
      setting.state.rods[0].root_velocity.linear = Vector3(0.0, 0.5, -speed);
      setting.obstacle(test::mesh_of(sheet ? test::plate(0.5, 40) : test::box({-0.5, -0.5, -2e-4}, {0.5, 0.5, 0.0})));
      Stepper stepper = setting.start();
      for (int i = 0; i < 60; ++i) {
        const StepReport report = stepper.step();
        ASSERT_TRUE(report.finite);
        for (int e = 0; e < 2; ++e) {
          for (const double s : {0.0, 0.5 * length / 2, length / 2})
            ASSERT_GT(geometry::position(stepper.kinematics().rod(0).piece(e), s).z(), 0.4 * radius)
                << sheet << " " << speed << " step " << i;
        }
      }
    }
  }
}

/// The plate's vertices at z = height(t), in axes of the obstacle.
bodies::Mesh moving_plate(const std::vector<Vector3>& shifts, double rate) {
  const test::Triangles at_rest = test::plate(0.2, 6);
  std::vector<std::vector<Vector3>> frames;
  for (const Vector3& shift : shifts) {
    frames.push_back(at_rest.vertices);
    for (Vector3& x : frames.back()) x += shift;
  }
  return {std::make_shared<const bodies::Surface>(test::topology_of(at_rest), frames, rate), 0.0};
}

TEST(Meshes, APlateWhoseVerticesMoveCarriesAFibreAsOneThatMoves) {
  const std::vector<Vector3> shifts{{0, 0, 0}, {2e-3, 0, 1e-3}, {4e-3, 1e-3, -2e-3}, {4e-3, 1e-3, 0}};
  constexpr double rate = 20.0;
  const auto with = [&](bool animated) {
    Setting setting;
    setting.fibre({-0.02, 0.001, radius + 1e-6}, turned(0.1, Vector3::UnitZ()));
    bodies::Obstacle& plate =
        setting.obstacle(animated ? moving_plate(shifts, rate) : test::mesh_of(test::plate(0.2, 6)));
    if (!animated) {
      for (std::size_t k = 0; k < shifts.size(); ++k)
        plate.motion.keyframes.push_back({static_cast<double>(k) / rate, shifts[k], {0, 0, 0}});
    }
    return run(setting.start(), 180);
  };
  const End rigid = with(false);
  const End animated = with(true);
  EXPECT_NEAR((rigid.state.rods[0].root.position - animated.state.rods[0].root.position).norm(), 0.0, 1e-9);
  EXPECT_NEAR((rigid.impulse - animated.impulse).norm(), 0.0, 1e-9 * rigid.impulse.norm());
  EXPECT_NEAR(rigid.state.work_external, animated.state.work_external, 1e-9 * std::abs(rigid.state.work_external));
}

TEST(Meshes, ABeltDragsAFibreWithCoulombsForce) {
  Setting setting;
  setting.fibre({-0.02, 0.001, radius + 1e-6});
  setting.obstacle(moving_plate({{0, 0, 0}, {0.1, 0, 0}}, 10.0));  // 1 m/s along x for 0.1 s
  Stepper stepper = setting.start();
  const double weight = setting.world.fibres[0].model->mass() * 9.81;
  for (int i = 0; i < 60; ++i) {
    const StepReport report = stepper.step();
    if (i < 10) continue;  // come to lie
    EXPECT_NEAR(report.obstacles[0].force.z(), -weight, 1e-3 * weight);
    EXPECT_NEAR(report.obstacles[0].force.x(), -friction * weight, 1e-3 * weight);
  }
}

TEST(Meshes, AFreeBallRestsInAGroove) {
  Setting setting;
  test::Triangles groove;
  groove.vertices = {{-1, 0, 0}, {1, 0, 0}, {-1, 1, 1}, {1, 1, 1}, {-1, -1, 1}, {1, -1, 1}};
  groove.faces = {{0, 1, 3}, {0, 3, 2}, {0, 5, 1}, {0, 4, 5}};
  bodies::Obstacle ball;
  ball.name = "ball";
  ball.shape = bodies::Sphere{Vector3(0.0, 0.0, 0.0151), 0.01};
  ball.reference = Vector3(0.0, 0.0, 0.0151);
  ball.mass = 0.01;
  test::add(setting.world, ball);
  setting.obstacle(test::mesh_of(groove));
  test::free_bodies(setting.world, setting.state);
  Stepper stepper = setting.start();
  Vector3 force = Vector3::Zero();
  for (int i = 0; i < 200; ++i) force = stepper.step().obstacles[1].force;
  EXPECT_NEAR(stepper.state().bodies[0].pose.position.z(), 0.01 * std::sqrt(2.0), 1e-5);
  EXPECT_NEAR((force - Vector3(0.0, 0.0, -0.01 * 9.81)).norm(), 0.0, 1e-9);
}

TEST(Meshes, ARunThatIsTakenUpAgainGoesOnTheSame) {
  Setting setting;
  for (int k = 0; k < 4; ++k)
    setting.fibre({-0.02 + 2e-3 * k, 3e-3 * k, 0.0112 + 1e-3 * k}, turned(0.4 * k, {0.1, 0.2, 1.0}));
  setting.obstacle(test::mesh_of(test::ball(3, 0.01)));
  Stepper whole = setting.start();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(whole.step().finite);
  Stepper again(setting.world, setting.options, whole.state());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(whole.step().finite);
    ASSERT_TRUE(again.step().finite);
  }
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(whole.state().rods[f].root.position, again.state().rods[f].root.position);
    EXPECT_EQ(whole.state().rods[f].coordinates, again.state().rods[f].coordinates);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
