#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>

#include "support/meshes.hpp"

/// Roots that stand in an obstacle.
namespace tresse::scene {
namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-4;  // of the hair
constexpr double head = 0.1;     // of the ball it stands in
constexpr double depth = 7e-3;   // of the root under the skin

FibreGroup hair(RodModel model, double lean) {
  const std::size_t elements = 4, curvatures = model == RodModel::super_clothoid ? 5 : 4;
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

Scene planted(RodModel model, double lean) {
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
  const double begin = fibre.model->piece_begin(at.piece);
  return begin + at.share * (fibre.model->piece_begin(at.piece + 1) - begin);
}

TEST(Embedding, EndsWhereTheFibreComesOut) {
  for (const RodModel model :
       {RodModel::super_helix, RodModel::super_clothoid, RodModel::discrete_elastic_rod, RodModel::mass_spring}) {
    for (const double lean : {0.0, 0.5, 1.0, 1.3}) {
      SCOPED_TRACE(testing::Message() << word(model) << ", leaning by " << lean);
      const Case built = build(planted(model, lean));
      EXPECT_NEAR(embedded_length(built.world.fibres[0]), way_out(lean), 0.01 * radius / std::cos(lean));
      EXPECT_TRUE(initial_overlaps(built).empty());
    }
  }
}

TEST(Embedding, OfAMeshIsThatOfTheBallItStandsFor) {
  Scene scene = planted(RodModel::super_helix, 0.5);
  const test::Triangles ball = test::ball(5, [](const Vector3&) { return head; });
  const auto topology = std::make_shared<const geometry::MeshTopology>(ball.faces, ball.vertices);
  scene.obstacles[0].body.shape = bodies::Mesh{
      std::make_shared<const bodies::Surface>(topology, std::vector<std::vector<Vector3>>{ball.vertices}, 1.0), 0.0};
  const Case built = build(scene);
  EXPECT_NEAR(embedded_length(built.world.fibres[0]), way_out(0.5), 1e-4);  // faces lie up to 6e-5 m under the ball
  EXPECT_TRUE(initial_overlaps(built).empty());
}

/// A head that ends at the neck has no inside; what lies before the way through its skin is embedded.
TEST(Embedding, OfAnOpenMeshIsWhatLiesBeforeItsSkin) {
  Scene scene = planted(RodModel::super_helix, 0.5);
  test::Triangles cap = test::ball(5, [](const Vector3&) { return head; });
  std::erase_if(cap.faces, [&](const geometry::Face& face) {
    return cap.vertices[static_cast<std::size_t>(face[0])].x() < -0.5 * head;
  });
  scene.obstacles[0].body.shape = test::mesh_of(cap);
  const Case built = build(scene);
  EXPECT_NEAR(embedded_length(built.world.fibres[0]), way_out(0.5), 1e-4);
  EXPECT_TRUE(initial_overlaps(built).empty());
  scene.fibres[0].root.embedded_in.clear();
  EXPECT_FALSE(initial_overlaps(build(scene)).empty());
}

TEST(Embedding, WithoutItTheRootOverlaps) {
  Scene scene = planted(RodModel::super_helix, 0.0);
  scene.fibres[0].root.embedded_in.clear();
  EXPECT_FALSE(initial_overlaps(build(scene)).empty());
}

TEST(Embedding, ARootOutsideIsNotEmbedded) {
  Scene scene = planted(RodModel::super_helix, 0.0);
  scene.fibres[0].root.position.x() = head + 2.0 * radius;
  EXPECT_EQ(embedded_length(build(scene).world.fibres[0]), 0.0);
}

/// The hair goes with the head; where it comes out nothing holds it.
TEST(Embedding, TheRootGoesWithItsObstacle) {
  for (const double lean : {0.0, 0.5, 1.0}) {
    SCOPED_TRACE(lean);
    Scene scene = planted(RodModel::super_helix, lean);
    bodies::Obstacle& ball = scene.obstacles[0].body;
    ball.reference = {0.0, 0.0, 0.02};
    ball.motion.velocity = {0.01, 0.0, 0.0};
    ball.motion.angular_velocity = {0.0, 3.0, 0.0};
    scene.simulation.time_step = 2e-3;
    Case built = build(scene);
    const Pose first = built.world.fibres[0].root;
    dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
    for (int step = 0; step < 50; ++step) {
      ASSERT_TRUE(stepper.step().finite);
      EXPECT_TRUE(stepper.contacts().empty()) << step;
      const Pose body = assembly::obstacle_pose(stepper.kinematics(), 0, stepper.time());
      const Pose& root = stepper.state().rods[0].root;
      const Vector3 wanted = body.position + body.frame * (first.position - Vector3(0.0, 0.0, 0.02));
      EXPECT_LT((root.position - wanted).norm(), 1e-14);
      EXPECT_LT((root.frame - body.frame * first.frame).norm(), 1e-13);
    }
  }
}

/// A hair that comes out at a flat angle is held there, and comes to lie on the head with its outer part.
TEST(Embedding, TheHairLiesOnWhatItStandsIn) {
  Scene scene = planted(RodModel::super_helix, 1.3);
  FibreGroup& group = scene.fibres[0];
  group.element_lengths.assign(8, 0.01);
  group.sections.assign(8, rods::CrossSection::circle(radius));
  group.natural_curvature.assign(8, Vector3::Zero());
  group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
  group.drag = 1e-2;
  scene.simulation.gravity = {-9.81, 0.0, 0.0};
  scene.simulation.time_step = 2e-3;
  Case built = build(scene);
  const double out = embedded_length(built.world.fibres[0]);
  const double weight = 9.81 * built.world.fibres[0].model->mass();
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  for (int step = 0; step < 1500; ++step) ASSERT_TRUE(stepper.step().finite);
  double carried = 0.0;
  for (const dynamics::ContactReport& contact : stepper.contacts()) {
    EXPECT_GE(contact.a.s, out);
    EXPECT_GT(contact.gap, -0.1 * radius);
    carried -= contact.force.x();  // on the head
  }
  EXPECT_GT(carried, 0.2 * weight);
  EXPECT_LT(carried, 4.0 * weight);  // the clamp inside is the other arm of a lever
}

TEST(Embedding, AMotionOfItsOwnLeadsTheRoot) {
  Scene scene = planted(RodModel::super_helix, 0.0);
  scene.obstacles[0].body.motion.velocity = {0.0, 0.0, 1.0};
  scene.fibres[0].root.motion.velocity = {0.0, 0.0, 0.5};
  const Case built = build(scene);
  EXPECT_EQ(assembly::root_pose(built.world.fibres[0], 1.0).position.z(), 0.5);
}

TEST(Embedding, RefusesWhatCannotBe) {
  Scene scene = planted(RodModel::super_helix, 0.0);
  scene.fibres[0].root.embedded_in = "hat";
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
  scene = planted(RodModel::super_helix, 0.0);
  scene.fibres[0].root.condition = rods::RootCondition::free;
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
  scene = planted(RodModel::super_helix, 0.0);
  scene.fibres[0].root.position.x() = -head + depth;  // the tip is inside too
  EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
}

/// A world may be copied: what is derived from the scene comes with it.
TEST(Embedding, ACopyOfAFibreIsTheSame) {
  Scene scene = planted(RodModel::super_helix, 0.5);
  scene.obstacles[0].body.motion.angular_velocity = {0.0, 3.0, 0.0};
  const Case built = build(scene);
  const assembly::World copy = built.world;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.fibres[0].model, built.world.fibres[0].model) << "models are shared";
  EXPECT_EQ(copy.fibres[0].embedding.share, built.world.fibres[0].embedding.share);
  EXPECT_EQ(assembly::root_pose(copy.fibres[0], 0.7).position,
            assembly::root_pose(built.world.fibres[0], 0.7).position);
}

/// What lies behind where the fibre comes out is an element of its own, unless it is steep there and hardly inside.
TEST(Embedding, TheElementIsDividedWhereTheFibreComesOut) {
  for (const RodModel model :
       {RodModel::super_helix, RodModel::super_clothoid, RodModel::discrete_elastic_rod, RodModel::mass_spring}) {
    SCOPED_TRACE(word(model));
    Scene scene = planted(model, 0.5);
    FibreGroup& group = scene.fibres[0];
    for (std::size_t i = 0; i < group.natural_curvature.size(); ++i)
      group.natural_curvature[i] = {0.0, 0.0, 2.0 + static_cast<double>(i)};
    group.initial_curvature = group.natural_curvature;
    const Case built = build(scene);
    const assembly::Fibre& fibre = built.world.fibres[0];
    ASSERT_EQ(fibre.model->piece_count(), 5);
    EXPECT_TRUE(fibre.embedding.divided);
    EXPECT_EQ(fibre.embedding.piece, 0);
    EXPECT_EQ(fibre.embedding.share, 1.0);
    EXPECT_NEAR(fibre.model->piece_begin(2), 0.01, 1e-15);
    EXPECT_NEAR(fibre.model->length(), 0.04, 1e-15);
    EXPECT_TRUE(initial_overlaps(built).empty());
    if (!curvature_model(group.model)) continue;
    // The shape is as it was.
    scene.fibres[0].root.embedded_in.clear();
    const Case whole = build(scene);
    const assembly::Kinematics one = kinematics_at_start(whole), two = kinematics_at_start(built);
    const rods::Rod &rod = one.rod(0), &parts = two.rod(0);
    for (const double s : {0.003, 0.008, 0.015, 0.04})
      EXPECT_LT((rod.section(s).position - parts.section(s).position).norm(), 1e-15) << s;
    EXPECT_NEAR(rod.mass(), fibre.model->mass(), 1e-12 * rod.mass());
  }
}

TEST(Embedding, ARootOnTheSkinThatStandsUpIsOneElement) {
  for (const double below : {0.0, 2.0 * radius}) {
    Scene scene = planted(RodModel::super_helix, 0.2);
    scene.fibres[0].root.position.x() = head - below;
    EXPECT_EQ(build(scene).world.fibres[0].model->piece_count(), 4) << below;
  }
  Scene flat = planted(RodModel::super_helix, 1.4);
  flat.fibres[0].root.position.x() = head;
  EXPECT_EQ(build(flat).world.fibres[0].model->piece_count(), 5);
}

/// A rope whose root lies a tenth of its radius deep in a drum, along its skin, is wound up by it.
class Winch : public testing::TestWithParam<RodModel> {
 protected:
  static constexpr double rope = 2e-3, drum = 0.05, angle = 2.5;

  static Scene scene() {
    constexpr std::size_t elements = 24;
    const RodModel model = GetParam();
    Scene out;
    FibreGroup& group = out.fibres.emplace_back();
    group.name = group.material_name = "rope";
    group.model = model;
    group.material = {.density = 1000.0, .young_modulus = 1e6, .poisson_ratio = 0.5, .damping_time = 0.02};
    group.element_lengths.assign(elements, 0.3 / elements);
    group.sections.assign(elements, rods::CrossSection::circle(rope));
    group.natural_curvature.assign(curvature_count(model, elements), Vector3::Zero());
    group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
    group.root.position = {-drum - 0.9 * rope, 0.0, 0.0};
    group.root.frame << 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0;  // tangent down
    group.root.embedded_in = "drum";
    Obstacle& obstacle = out.obstacles.emplace_back();
    obstacle.body.name = obstacle.body.material_name = "drum";
    obstacle.body.shape = bodies::Cylinder{Vector3::Zero(), Vector3::UnitY(), drum, 0.2};
    obstacle.body.motion.keyframes = {{0.2, Vector3::Zero(), Vector3::Zero()},
                                      {0.9, Vector3::Zero(), Vector3(0.0, angle, 0.0)}};
    obstacle.body.motion.interpolation = bodies::Motion::Interpolation::smooth;
    out.friction.default_coefficient = 0.3;
    out.simulation.time_step = 1e-3;
    return out;
  }
};

/// By the angle times the distance of the rope's axis from the drum's; and the drum's work is what that takes.
TEST_P(Winch, LiftsByWhatItTurnsAndItsWorkIsThat) {
  Case built = build(scene());
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  const auto tip = [&] {
    const rods::Rod& rod = stepper.kinematics().rod(0);
    return rod.section(rod.length()).position;
  };
  dynamics::StepReport report;
  while (stepper.time() < 0.1995) report = stepper.step();
  ASSERT_TRUE(report.finite);
  const double height = tip().z();
  const auto energy = [](const dynamics::StepReport& of) {
    return of.energies.kinetic + of.energies.elastic + of.energies.gravity;
  };
  const double before = energy(report), work_before = report.work_external;
  while (stepper.time() < 1.3995) {
    report = stepper.step();
    ASSERT_TRUE(report.finite);
  }
  const double work = report.work_external - work_before;
  EXPECT_NEAR(tip().z() - height, angle * (drum + rope), 1e-3);
  const double gain = energy(report) - before;
  EXPECT_GT(gain, 0.0);
  EXPECT_GT(work, gain);
  EXPECT_LT(work, 1.3 * gain) << "the rest goes into the material and into friction";
}

INSTANTIATE_TEST_SUITE_P(Embedding, Winch, testing::Values(RodModel::super_helix, RodModel::super_clothoid));

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
