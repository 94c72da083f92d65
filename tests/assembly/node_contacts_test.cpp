#include <tresse/assembly/node_contacts.hpp>

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "support/meshes.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse;
using assembly::NodeContact;
using assembly::NodeObstacles;

bodies::Obstacle obstacle(bodies::Shape shape, bodies::Motion motion = {}) {
  bodies::Obstacle out;
  out.shape = std::move(shape);
  out.motion = std::move(motion);
  return out;
}

assembly::World world(std::vector<bodies::Obstacle> obstacles) {
  assembly::World out;
  out.obstacles = std::move(obstacles);
  out.obstacle_material.assign(out.obstacles.size(), 0);
  return out;
}

/// Of one point, within a reach of 1 m from a ball of 1 cm.
std::vector<NodeContact> around(const assembly::World& of, const Vector3& point, double time = 0.0, double dt = 0.01) {
  return NodeObstacles(of, time, dt).find(point, VectorX::Constant(1, 1.0), 0.01);
}

void expect_contact(const NodeContact& found, double gap, const Vector3& normal, const Vector3& place) {
  EXPECT_NEAR(found.gap, gap, 1e-12);
  EXPECT_LT((found.normal - normal).norm(), 1e-9);
  EXPECT_LT((found.place - place).norm(), 1e-9);
}

TEST(NodeContacts, of_planes_and_tubes) {
  const assembly::World of = world({obstacle(bodies::Plane{{0.0, 0.0, 0.1}, Vector3::UnitZ()}),
                                    obstacle(bodies::Capsule{{0.0, 0.0, 0.5}, {1.0, 0.0, 0.5}, 0.1}),
                                    obstacle(bodies::Ring{{0.0, 0.0, 0.4}, Vector3::UnitZ(), 0.5, 0.05})});
  const std::vector<NodeContact> found = around(of, {0.5, 0.0, 0.9});
  ASSERT_EQ(found.size(), 3U);
  // The nearest first.
  EXPECT_EQ(found[0].obstacle, 1);
  expect_contact(found[0], 0.29, Vector3::UnitZ(), {0.5, 0.0, 0.6});
  EXPECT_EQ(found[1].obstacle, 2);
  expect_contact(found[1], 0.44, Vector3::UnitZ(), {0.5, 0.0, 0.45});
  EXPECT_EQ(found[2].obstacle, 0);
  EXPECT_EQ(found[2].part, -1);
  expect_contact(found[2], 0.79, Vector3::UnitZ(), {0.5, 0.0, 0.1});
  // Beyond the end, and overlapping.
  const std::vector<NodeContact> end = around(of, {1.06, 0.08, 0.5});
  ASSERT_EQ(end.front().obstacle, 1);
  expect_contact(end.front(), -0.01, {0.6, 0.8, 0.0}, {1.06, 0.08, 0.5});
  EXPECT_TRUE(around(of, {0.0, 0.0, 3.0}).empty());
}

TEST(NodeContacts, of_solids_and_sheets) {
  const assembly::World of =
      world({obstacle(test::mesh_of(test::box(Vector3(-0.5, -0.5, -0.5), Vector3(0.5, 0.5, 0.5)))),
             obstacle(test::mesh_of(test::plate(0.5, 3), 0.02))});
  const auto box = [&](const Vector3& point) {
    for (const NodeContact& one : around(of, point)) {
      if (one.obstacle == 0) return one;
    }
    return NodeContact{};
  };
  expect_contact(box({0.1, 0.2, 0.7}), 0.19, Vector3::UnitZ(), {0.1, 0.2, 0.5});
  expect_contact(box({0.1, 0.2, 0.45}), -0.06, Vector3::UnitZ(), {0.1, 0.2, 0.5});  // inside: the way out
  expect_contact(box({0.8, 0.9, 0.0}), 0.49, {0.6, 0.8, 0.0}, {0.5, 0.5, 0.0});     // at an edge
  const auto sheet = [&](const Vector3& point) {
    for (const NodeContact& one : around(of, point)) {
      if (one.obstacle == 1) return one;
    }
    return NodeContact{};
  };
  expect_contact(sheet({0.1, 0.2, 0.3}), 0.27, Vector3::UnitZ(), {0.1, 0.2, 0.02});
  expect_contact(sheet({0.1, 0.2, -0.3}), 0.27, -Vector3::UnitZ(), {0.1, 0.2, -0.02});  // on its other side
}

/// Velocities are those that bring the material to where it is a step later, also backwards from there.
TEST(NodeContacts, of_what_moves) {
  bodies::Motion turn;
  turn.velocity = {0.3, 0.0, 0.0};
  turn.angular_velocity = {0.0, 0.0, 2.0};
  const assembly::World of = world({obstacle(bodies::Sphere{{0.0, 0.0, 0.0}, 0.1}, turn)});
  const double dt = 0.01;
  const NodeContact found = around(of, {0.5, 0.0, 0.0}, 0.0, dt).front();
  const Vector3 arm(0.1, 0.0, 0.0);
  const Vector3 next = Vector3(0.3 * dt, 0.0, 0.0) + Eigen::AngleAxisd(2.0 * dt, Vector3::UnitZ()) * arm;
  EXPECT_LT((found.velocity - (next - arm) / dt).norm(), 1e-12);
  const NodeContact back = around(of, {0.5, 0.0, 0.0}, dt, -dt).front();
  const Vector3 center(0.3 * dt, 0.0, 0.0);
  const Vector3 before = Eigen::AngleAxisd(-2.0 * dt, Vector3::UnitZ()) * (back.place - center);
  EXPECT_LT((back.velocity - (back.place - before) / dt).norm(), 1e-12);
  // A surface whose vertices go from frame to frame.
  test::Triangles low = test::plate(0.5, 1);
  std::vector<Vector3> high = low.vertices;
  for (Vector3& x : high) x.z() += 0.2 + 0.1 * x.x();
  bodies::Mesh rising{std::make_shared<const bodies::Surface>(
                          test::topology_of(low), std::vector<std::vector<Vector3>>{low.vertices, high}, 10.0),
                      0.0};
  const assembly::World moving = world({obstacle(rising)});
  const NodeContact on = around(moving, {0.3, 0.1, 0.2}, 0.0, 0.05).front();
  EXPECT_LT((on.velocity - Vector3(0.0, 0.0, 10.0 * (0.2 + 0.1 * 0.3))).norm(), 1e-12);
}

TEST(NodeContacts, leaves_free_bodies_out) {
  bodies::Obstacle ball = obstacle(bodies::Sphere{Vector3::Zero(), 0.1});
  ball.mass = 1.0;
  assembly::World of = world({ball});
  of.free_bodies = assembly::find_free_bodies(of.obstacles);
  EXPECT_TRUE(around(of, {0.2, 0.0, 0.0}).empty());
}

}  // namespace TRESSE_TEST_FILE
