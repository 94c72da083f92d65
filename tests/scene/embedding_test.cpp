#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>

#include "support/meshes.hpp"

/// Roots that stand in an obstacle.
namespace tresse::scene {
namespace {

constexpr double radius = 1e-4;  // of the hair
constexpr double head = 0.1;     // of the ball it stands in
constexpr double depth = 7e-3;   // of the root under the skin

FibreGroup hair(const std::string& model, double lean) {
  const std::size_t elements = 4, curvatures = model == "super-clothoid" ? 5 : 4;
  FibreGroup out;
  out.name = out.material_name = "hair";
  out.model = model;
  out.material = {.density = 1000.0, .young_modulus = 1e8, .poisson_ratio = 0.4, .damping_time = 0.01};
  out.element_lengths.assign(elements, 0.01);
  out.sections.assign(elements, rods::CrossSection::circle(radius));
  out.natural_curvature.assign(curvatures, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  out.root.position = {head - depth, 0.0, 0.0};
  out.root.frame = Eigen::AngleAxisd(lean, Vector3::UnitZ()).toRotationMatrix();
  out.root.embedded_in = "head";
  return out;
}

Scene planted(const std::string& model, double lean) {
  Scene out;
  out.fibres.push_back(hair(model, lean));
  Obstacle ball;
  ball.body.name = ball.body.material_name = "head";
  ball.body.shape = bodies::Sphere{Vector3::Zero(), head};
  out.obstacles.push_back(ball);
  return out;
}

/// Where a line that leans by `lean` comes out far enough for the hair's radius.
double way_out(double lean) {
  const double x = head - depth, reach = head + radius;
  return -x * std::cos(lean) + std::sqrt(reach * reach - std::pow(x * std::sin(lean), 2));
}

double embedded_length(const assembly::Fibre& fibre) {
  const assembly::Embedding& at = fibre.embedding;
  const double begin = fibre.rod->piece_begin(at.piece);
  return begin + at.share * (fibre.rod->piece_begin(at.piece + 1) - begin);
}

TEST(Embedding, EndsWhereTheFibreComesOut) {
  for (const char* model : {"super-helix", "super-clothoid", "discrete-elastic-rod", "mass-spring"}) {
    for (const double lean : {0.0, 0.5, 1.0, 1.3}) {
      SCOPED_TRACE(testing::Message() << model << ", leaning by " << lean);
      const Case built = build(planted(model, lean));
      EXPECT_NEAR(embedded_length(built.world.fibres[0]), way_out(lean), 0.01 * radius / std::cos(lean));
      EXPECT_TRUE(initial_overlaps(built).empty());
    }
  }
}

TEST(Embedding, OfAMeshIsThatOfTheBallItStandsFor) {
  Scene scene = planted("super-helix", 0.5);
  const test::Triangles ball = test::ball(5, [](const Vector3&) { return head; });
  const auto topology = std::make_shared<const geometry::MeshTopology>(ball.faces, ball.vertices);
  scene.obstacles[0].body.shape = bodies::Mesh{
      std::make_shared<const bodies::Surface>(topology, std::vector<std::vector<Vector3>>{ball.vertices}, 1.0), 0.0};
  const Case built = build(scene);
  EXPECT_NEAR(embedded_length(built.world.fibres[0]), way_out(0.5), 1e-4);  // faces lie up to 6e-5 m under the ball
  EXPECT_TRUE(initial_overlaps(built).empty());
}

TEST(Embedding, WithoutItTheRootOverlaps) {
  Scene scene = planted("super-helix", 0.0);
  scene.fibres[0].root.embedded_in.clear();
  EXPECT_FALSE(initial_overlaps(build(scene)).empty());
}

TEST(Embedding, ARootOutsideIsNotEmbedded) {
  Scene scene = planted("super-helix", 0.0);
  scene.fibres[0].root.position.x() = head + 2.0 * radius;
  EXPECT_EQ(embedded_length(build(scene).world.fibres[0]), 0.0);
}

/// The hair goes with the head; where it comes out nothing holds it.
TEST(Embedding, TheRootGoesWithItsObstacle) {
  for (const double lean : {0.0, 0.5, 1.0}) {
    SCOPED_TRACE(lean);
    Scene scene = planted("super-helix", lean);
    bodies::Obstacle& ball = scene.obstacles[0].body;
    ball.reference = {0.0, 0.0, 0.02};
    ball.motion.velocity = {0.01, 0.0, 0.0};
    ball.motion.angular_velocity = {0.0, 3.0, 0.0};
    scene.integrator.time_step = 2e-3;
    Case built = build(scene);
    const Pose first = built.world.fibres[0].root;
    dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
    for (int step = 0; step < 50; ++step) {
      ASSERT_TRUE(stepper.step().finite);
      EXPECT_TRUE(stepper.contacts().empty()) << step;
      const Pose body = assembly::obstacle_pose(stepper.world(), 0, stepper.time());
      const Pose& root = stepper.state().rods[0].root;
      const Vector3 wanted = body.position + body.frame * (first.position - Vector3(0.0, 0.0, 0.02));
      EXPECT_LT((root.position - wanted).norm(), 1e-14);
      EXPECT_LT((root.frame - body.frame * first.frame).norm(), 1e-13);
    }
  }
}

/// A hair that comes out at a flat angle is held there, and comes to lie on the head with its outer part.
TEST(Embedding, TheHairLiesOnWhatItStandsIn) {
  Scene scene = planted("super-helix", 1.3);
  FibreGroup& group = scene.fibres[0];
  group.element_lengths.assign(8, 0.01);
  group.sections.assign(8, rods::CrossSection::circle(radius));
  group.natural_curvature.assign(8, Vector3::Zero());
  group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
  group.drag = 1e-2;
  scene.gravity = {-9.81, 0.0, 0.0};
  scene.integrator.time_step = 2e-3;
  Case built = build(scene);
  const double out = embedded_length(built.world.fibres[0]);
  const double weight = 9.81 * built.world.fibres[0].rod->mass();
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  for (int step = 0; step < 1500; ++step) ASSERT_TRUE(stepper.step().finite);
  double carried = 0.0;
  for (const dynamics::ContactReport& contact : stepper.contacts()) {
    EXPECT_GE(contact.s_a, out);
    EXPECT_GT(contact.gap, -0.1 * radius);
    carried -= contact.force.x();  // on the head
  }
  EXPECT_GT(carried, 0.2 * weight);
  EXPECT_LT(carried, 4.0 * weight);  // the clamp inside is the other arm of a lever
}

TEST(Embedding, AMotionOfItsOwnLeadsTheRoot) {
  Scene scene = planted("super-helix", 0.0);
  scene.obstacles[0].body.motion.velocity = {0.0, 0.0, 1.0};
  scene.fibres[0].root.motion.velocity = {0.0, 0.0, 0.5};
  const Case built = build(scene);
  EXPECT_EQ(assembly::root_pose(built.world.fibres[0], 1.0).position.z(), 0.5);
}

TEST(Embedding, RefusesWhatCannotBe) {
  Scene scene = planted("super-helix", 0.0);
  scene.fibres[0].root.embedded_in = "hat";
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
  scene = planted("super-helix", 0.0);
  scene.fibres[0].root.condition = rods::RootCondition::free;
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
  scene = planted("super-helix", 0.0);
  scene.fibres[0].root.position.x() = -head + depth;  // the tip is inside too
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
}

/// A world may be copied: what is derived from the scene comes with it.
TEST(Embedding, ACopyOfAFibreIsTheSame) {
  Scene scene = planted("super-helix", 0.5);
  scene.obstacles[0].body.motion.angular_velocity = {0.0, 3.0, 0.0};
  const Case built = build(scene);
  const assembly::World copy = built.world;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_NE(&*copy.fibres[0].rod, &*built.world.fibres[0].rod);
  EXPECT_EQ(copy.fibres[0].embedding.share, built.world.fibres[0].embedding.share);
  EXPECT_EQ(assembly::root_pose(copy.fibres[0], 0.7).position,
            assembly::root_pose(built.world.fibres[0], 0.7).position);
}

}  // namespace
}  // namespace tresse::scene
