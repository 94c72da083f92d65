#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>

/// Fibres on a cap of a sphere, and the motion of the head that they stand on.
namespace tresse::scene {
namespace TRESSE_TEST_FILE {

const Vector3 kCenter(0.1, -0.2, 0.3);
const Vector3 kAxis = Vector3(1.0, 2.0, 2.0) / 3.0;
constexpr double kRadius = 0.08;

FibreGroup hair(const Cap& cap) {
  FibreGroup out;
  out.name = out.material_name = "hair";
  out.material = {.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4, .damping_time = 0.01};
  out.element_lengths.assign(2, 0.01);
  out.sections.assign(2, rods::CrossSection::circle(5e-4));
  out.natural_curvature.assign(2, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  out.cap = cap;
  return out;
}

Scene head(const Cap& cap) {
  Scene out;
  out.fibres.push_back(hair(cap));
  return out;
}

Cap wide_cap(int count) { return {.count = count, .radius = kRadius, .center = kCenter, .axis = kAxis, .angle = 1.8}; }

TEST(Cap, RootsStandOnItAlongItsNormals) {
  Cap cap = wide_cap(200);
  cap.jitter = 2e-3;
  cap.twist = 3.0;
  const Case built = build(head(cap));
  ASSERT_EQ(built.world.fibres.size(), 200U);
  for (const assembly::Fibre& fibre : built.world.fibres) {
    const Vector3 out = fibre.root.position - kCenter;
    EXPECT_NEAR(out.norm(), kRadius, 1e-16);
    EXPECT_LT((fibre.root.frame.col(0) - out / kRadius).norm(), 1e-14);
    EXPECT_LT((fibre.root.frame.transpose() * fibre.root.frame - Matrix3::Identity()).norm(), 1e-14);
    EXPECT_NEAR(fibre.root.frame.determinant(), 1.0, 1e-14);
    EXPECT_LT(std::acos(out.dot(kAxis) / kRadius), 1.8 + 2e-3 * std::numbers::sqrt2 / kRadius);
  }
}

/// As many in the upper tenths of the area as that is worth, and no two much nearer than on a square grid.
TEST(Cap, RootsAreSpreadEvenly) {
  const int count = 500;
  const Case built = build(head(wide_cap(count)));
  const double area = 2.0 * std::numbers::pi * kRadius * kRadius * (1.0 - std::cos(1.8));
  double nearest = 1.0;
  for (int i = 0; i < count; ++i) {
    const Vector3& a = built.world.fibres[static_cast<std::size_t>(i)].root.position;
    for (int j = 0; j < i; ++j)
      nearest = std::min(nearest, (a - built.world.fibres[static_cast<std::size_t>(j)].root.position).norm());
  }
  EXPECT_GT(nearest, 0.8 * std::sqrt(area / count));
  for (int tenth = 1; tenth <= 10; ++tenth) {
    const double lowest = 1.0 - tenth * (1.0 - std::cos(1.8)) / 10.0;
    const auto above = std::count_if(
        built.world.fibres.begin(), built.world.fibres.end(),
        [&](const assembly::Fibre& f) { return (f.root.position - kCenter).dot(kAxis) / kRadius >= lowest - 1e-12; });
    EXPECT_NEAR(static_cast<double>(above), 0.1 * tenth * count, 1.0);
  }
}

/// Root position and frame are those of a place: outwards, down from the pole, and across.
TEST(Cap, TheRootIsRelativeToItsPlace) {
  Scene scene = head(wide_cap(7));
  scene.fibres[0].root.position = {2e-3, 3e-3, 0.0};
  scene.fibres[0].root.frame = Eigen::AngleAxisd(0.4, Vector3::UnitZ()).toRotationMatrix();
  const Case plain = build(head(wide_cap(7)));
  const Case leaning = build(scene);
  for (std::size_t f = 0; f < 7; ++f) {
    const Pose& place = plain.world.fibres[f].root;
    const Pose& root = leaning.world.fibres[f].root;
    EXPECT_LT((root.position - place.position - place.frame * Vector3(2e-3, 3e-3, 0.0)).norm(), 1e-16);
    EXPECT_LT((root.frame - place.frame * scene.fibres[0].root.frame).norm(), 1e-15);
    EXPECT_LT(place.frame.col(1).dot(kAxis), 0.0);  // down
    EXPECT_NEAR(place.frame.col(2).dot(kAxis), 0.0, 1e-15);
  }
}

TEST(Cap, OneSeedIsOneHead) {
  Cap cap = wide_cap(20);
  cap.jitter = 1e-3;
  cap.twist = 1.0;
  Scene scene = head(cap);
  const Case first = build(scene), again = build(scene);
  scene.simulation.seed = 2;
  const Case other = build(scene);
  for (std::size_t f = 0; f < 20; ++f) {
    EXPECT_EQ(first.world.fibres[f].root.frame, again.world.fibres[f].root.frame);
    EXPECT_EQ(first.world.fibres[f].root.position, again.world.fibres[f].root.position);
    EXPECT_NE(first.world.fibres[f].root.position, other.world.fibres[f].root.position);
  }
}

bodies::Motion shake() {
  bodies::Motion out;
  out.interpolation = bodies::Motion::Interpolation::smooth;
  out.keyframes = {{0.0, {0, 0, 0}, {0, 0, 0}}, {0.05, {0.01, 0.02, -0.01}, {0.5, 0.3, 0.9}}};
  out.angular_velocity = {1.0, -2.0, 0.5};
  return out;
}

/// The head is an obstacle of the same motion: in its frame every root stays where it was.
TEST(Cap, RootsMoveWithTheHead) {
  Scene scene = head(wide_cap(30));
  scene.fibres[0].root.motion = shake();
  Obstacle ball;
  ball.body.name = ball.body.material_name = "head";
  ball.body.shape = bodies::Sphere{kCenter, kRadius - 5e-4};
  ball.body.reference = kCenter;
  ball.body.motion = shake();
  scene.obstacles.push_back(ball);
  Case built = build(scene);
  const assembly::World start = built.world;
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  for (int step = 0; step < 60; ++step) {
    ASSERT_TRUE(stepper.step().finite);
    const Pose body = assembly::obstacle_pose(stepper.kinematics(), 0, stepper.time());
    for (std::size_t f = 0; f < 30; ++f) {
      const Pose& root = stepper.state().rods[f].root;
      const Pose& first = start.fibres[f].root;
      EXPECT_LT((root.position - body.position - body.frame * (first.position - kCenter)).norm(), 1e-12);
      EXPECT_LT((root.frame - body.frame * first.frame).norm(), 1e-12);
    }
  }
}

/// A grid turns about a common point too, and a root that is driven turns about itself from then on.
TEST(Cap, AReferenceIsWhatRootsTurnAbout) {
  FibreGroup group = hair({});
  group.cap.reset();
  group.grid = {.count = 4, .spacing = 0.1};
  group.root.reference = kCenter;
  group.root.motion.angular_velocity = {0.0, 0.0, 2.0};
  Scene scene;
  scene.fibres.push_back(group);
  Case built = build(scene);
  const assembly::World start = built.world;
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  static_cast<void>(stepper.step());
  const Matrix3 turn = Eigen::AngleAxisd(2.0 * stepper.time(), Vector3::UnitZ()).toRotationMatrix();
  for (std::size_t f = 0; f < 4; ++f) {
    const Vector3 wanted = kCenter + turn * (start.fibres[f].root.position - kCenter);
    EXPECT_LT((stepper.state().rods[f].root.position - wanted).norm(), 1e-15);
  }
  const Pose left = stepper.state().rods[3].root;
  stepper.drive_root(3, {Vector3::Zero(), {0.0, 0.0, 2.0}}, 1.0);
  static_cast<void>(stepper.step());
  EXPECT_LT((stepper.state().rods[3].root.position - left.position).norm(), 1e-15);
  EXPECT_GT((stepper.state().rods[3].root.frame - left.frame).norm(), 1e-3);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
