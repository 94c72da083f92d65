#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/settle/push_out.hpp>

#include "support/meshes.hpp"

/// What overlaps at the start: what lies inside a body, wherever its nearest contact is.
namespace tresse::settle {

using namespace scene;

namespace TRESSE_TEST_FILE {

constexpr double radius = 2e-4;  // of the fibre
constexpr double size = 0.01;    // of the bodies, half

FibreGroup free_fibre(const Vector3& position, const Vector3& tangent, double length) {
  constexpr std::size_t elements = 4;
  FibreGroup out;
  out.name = "fibre";
  out.material_name = "nylon";
  out.material = {.density = 1150.0, .young_modulus = 2e9, .poisson_ratio = 0.4, .damping_time = 0.0};
  out.element_lengths.assign(elements, length / elements);
  out.sections.assign(elements, rods::CrossSection::circle(radius));
  out.natural_curvature.assign(elements, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  out.root.condition = rods::RootCondition::free;
  out.root.position = position;
  out.root.frame.col(0) = tangent.normalized();
  out.root.frame.col(1) = tangent.unitOrthogonal();
  out.root.frame.col(2) = out.root.frame.col(0).cross(out.root.frame.col(1));
  return out;
}

Obstacle obstacle(bodies::Shape shape) {
  Obstacle out;
  out.body.name = out.body.material_name = "body";
  out.body.shape = std::move(shape);
  return out;
}

Scene scene_of(FibreGroup fibre, bodies::Shape shape) {
  Scene out;
  out.fibres.push_back(std::move(fibre));
  out.obstacles.push_back(obstacle(std::move(shape)));
  out.simulation.time_step = 2e-4;
  return out;
}

test::Triangles box(double half = size) { return test::box(Vector3::Constant(-half), Vector3::Constant(half)); }

double deepest(const Scene& scene) {
  const auto found = initial_overlaps(build(scene));
  return found.empty() ? 0.0 : -found.front().gap;
}

const FibreGroup short_inside = free_fibre({-0.002, 0.002, 0.0}, Vector3::UnitX(), 0.004);

/// A fibre wholly in a solid, of whatever shape, overlaps it by how deep it is.
TEST(Overlaps, AFibreInsideABodyIsFound) {
  EXPECT_NEAR(deepest(scene_of(short_inside, test::mesh_of(box()))), 0.008 + radius, 1e-9);
  EXPECT_NEAR(deepest(scene_of(short_inside, test::mesh_of(test::ball(4, size)))), 0.008 + radius, 1e-4);
  EXPECT_NEAR(deepest(scene_of(short_inside, bodies::Sphere{Vector3::Zero(), size})), 0.008 + radius, 1e-9);
  EXPECT_NEAR(deepest(scene_of(short_inside, bodies::Capsule{{-0.01, 0, 0}, {0.01, 0, 0}, size})), 0.008 + radius,
              1e-9);
  EXPECT_NEAR(deepest(scene_of(short_inside, bodies::Cylinder{Vector3::Zero(), Vector3::UnitX(), size, 0.02})),
              0.008 + radius, 1e-9);
  EXPECT_NEAR(deepest(scene_of(short_inside, bodies::Plane{{0, 0, size}, Vector3::UnitZ()})), size + radius, 1e-9);
  bodies::Comb comb;
  comb.base.setZero();
  comb.tooth_direction = Vector3::UnitZ();
  comb.row_direction = Vector3::UnitX();
  comb.handle_diameter = 2.0 * size;
  EXPECT_NEAR(deepest(scene_of(short_inside, comb)), 0.008 + radius, 1e-9);
}

TEST(Overlaps, AThickMeshReachesFarther) {
  EXPECT_NEAR(deepest(scene_of(short_inside, test::mesh_of(box(), 1e-3))), 0.009 + radius, 1e-9);
}

TEST(Overlaps, AMeshCountsWhereItStandsAtTheStart) {
  Scene scene = scene_of(short_inside, test::mesh_of(box()));
  scene.obstacles[0].body.motion.keyframes = {{0.0, {1.0, 0.0, 0.0}, {0.0, 0.0, 0.3}}};
  EXPECT_EQ(deepest(scene), 0.0);
  scene.fibres[0].root.position.x() += 1.0;
  EXPECT_GT(deepest(scene), 0.007);
}

/// In from one side and out on the other, far from any local minimum of the distance; and only in.
TEST(Overlaps, AFibreThroughABodyIsFound) {
  const Vector3 across = Vector3(1.0, 0.13, 0.07).normalized();
  for (const double reach : {3.0 * size, 0.3 * size}) {
    const FibreGroup fibre = free_fibre(-3.0 * size * across, across, 3.0 * size + reach);
    EXPECT_GT(deepest(scene_of(fibre, test::mesh_of(box()))), 0.5 * size) << reach;
    EXPECT_GT(deepest(scene_of(fibre, test::mesh_of(test::ball(3, size)))), 0.5 * size) << reach;
  }
  const FibreGroup fibre = free_fibre(-3.0 * size * across, across, 6.0 * size);
  const test::Triangles plate = test::box(Vector3(-1e-5, -size, -size), Vector3(1e-5, size, size));
  EXPECT_GT(deepest(scene_of(fibre, test::mesh_of(plate))), radius);
}

/// A sheet has no inside, but what goes through it overlaps it.
TEST(Overlaps, AFibreThroughASheetIsFound) {
  const Vector3 up = Vector3(0.1, 0.2, 1.0).normalized();
  const bodies::Mesh sheet = test::mesh_of(test::plate(size, 3), 1e-4);
  EXPECT_NEAR(deepest(scene_of(free_fibre(-size * up, up, 2.0 * size), sheet)), radius + 1e-4, 1e-9);
  EXPECT_EQ(deepest(scene_of(free_fibre(-3.0 * size * up, up, 2.0 * size), sheet)), 0.0);
  EXPECT_EQ(deepest(scene_of(free_fibre({1.5 * size, 0.0, -size}, Vector3::UnitZ(), 2.0 * size), sheet)), 0.0);
}

/// Bent around a corner of the body, in a hollow of it, beside it: no overlap.
TEST(Overlaps, AFibreAroundABodyIsNone) {
  FibreGroup bent = free_fibre({0.0, -2.0 * size, 0.0}, Vector3::UnitX(), 2.0 * size * std::numbers::pi);
  bent.root.frame.setIdentity();
  bent.natural_curvature.assign(4, Vector3(0.0, 0.0, 1.0 / (2.0 * size)));
  bent.initial_curvature = bent.natural_curvature;
  EXPECT_EQ(deepest(scene_of(bent, test::mesh_of(box()))), 0.0);
  test::Triangles wall = box();
  const test::Triangles hollow = box(0.5 * size);
  for (const geometry::Face& f : hollow.faces) wall.faces.push_back({f[0] + 8, f[2] + 8, f[1] + 8});
  wall.vertices.insert(wall.vertices.end(), hollow.vertices.begin(), hollow.vertices.end());
  EXPECT_EQ(deepest(scene_of(short_inside, test::mesh_of(wall))), 0.0);
  EXPECT_GT(deepest(scene_of(free_fibre({-0.002, 0.007, 0.0}, Vector3::UnitX(), 0.004), test::mesh_of(wall))), radius);
}

TEST(Overlaps, AFreeBodyInsideAMeshIsFound) {
  Scene scene = scene_of(free_fibre({0.0, 0.0, 5.0 * size}, Vector3::UnitX(), size), test::mesh_of(box()));
  Obstacle ball = obstacle(bodies::Sphere{{0.001, 0.0, 0.0}, 0.001});
  ball.body.name = "ball";
  ball.body.reference = {0.001, 0.0, 0.0};
  ball.body.mass = 1e-3;
  scene.obstacles.push_back(ball);
  const auto found = initial_overlaps(build(scene));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].a.body, (BodyId{BodyKind::rigid_body, 1}));
  EXPECT_EQ(found[0].b.body, (BodyId{BodyKind::obstacle, 0}));
  EXPECT_NEAR(-found[0].gap, 0.009 + 0.001, 1e-9);
}

/// A push-out may fail, but says so.
TEST(Overlaps, APushOutThatLeavesAFibreInsideIsNoSuccess) {
  Case built = build(scene_of(short_inside, test::mesh_of(box())));
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status == Status::converged, initial_overlaps(built).empty());
}

/// A fibre that falls on a box of mixed winding does what it does on the box wound well.
TEST(Overlaps, AMeshOfMixedWindingBearsAsOneWoundWell) {
  const auto fallen = [](const test::Triangles& triangles) {
    FibreGroup fibre = free_fibre({-0.005, 0.0, 0.0105}, Vector3::UnitX(), 0.01);
    fibre.root.velocity = {0.0, 0.0, -1.0};
    Case built = build(scene_of(fibre, test::mesh_of(triangles)));
    dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
    double deepest = 0.0;
    for (int step = 0; step < 100; ++step) {
      const dynamics::StepReport report = stepper.step();
      EXPECT_TRUE(report.finite) << step;
      deepest = std::max(deepest, report.max_penetration);
    }
    EXPECT_LT(deepest, 0.1 * radius);
    EXPECT_GT(stepper.state().rods[0].root.position.z(), size);
    return stepper.state().rods[0];
  };
  test::Triangles mixed = box();
  for (const std::size_t f : {0U, 2U, 4U, 6U, 8U, 10U}) std::swap(mixed.faces[f][0], mixed.faces[f][2]);
  const rods::RodState one = fallen(box()), other = fallen(mixed);
  EXPECT_LT((one.root.position - other.root.position).norm(), 1e-9);
  EXPECT_LT((one.coordinates - other.coordinates).norm(), 1e-6);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::settle
