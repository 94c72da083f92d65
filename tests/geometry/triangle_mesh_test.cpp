#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <Eigen/Geometry>

#include <tresse/geometry/triangle_mesh.hpp>

#include "support/meshes.hpp"

namespace tresse::geometry {
namespace {

TriangleMesh as_mesh(const test::Triangles& triangles) {
  return {std::make_shared<const MeshTopology>(triangles.faces, triangles.vertices), triangles.vertices};
}

/// By all faces; inside is where their solid angles sum to a sphere.
double brute_distance(const TriangleMesh& mesh, const Vector3& p) {
  double nearest = std::numeric_limits<double>::infinity(), angle = 0.0;
  for (int f = 0; f < static_cast<int>(mesh.topology->faces().size()); ++f) {
    const auto x = mesh.corners(f);
    nearest = std::min(nearest, nearest_on_triangle(x, p).distance);
    const Vector3 a = x[0] - p, b = x[1] - p, c = x[2] - p;
    angle += 2.0 * std::atan2(a.dot(b.cross(c)), a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() +
                                                     b.dot(c) * a.norm() + c.dot(a) * b.norm());
  }
  return angle > 2.0 * std::numbers::pi ? -nearest : nearest;
}

/// Points all over and beside every corner and side, inside and outside: there the sign is hardest to tell.
void expect_distances(const TriangleMesh& mesh, double size) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto anywhere = [&] { return Vector3(uniform(random), uniform(random), uniform(random)); };
  std::vector<Vector3> points;
  for (int i = 0; i < 500; ++i) points.emplace_back(1.5 * size * anywhere());
  for (const Vector3& x : mesh.vertices)
    for (int i = 0; i < 8; ++i) points.emplace_back(x + 0.02 * size * anywhere());
  for (const MeshEdge& edge : mesh.topology->edges()) {
    const Vector3 middle = 0.5 * (mesh.vertices[static_cast<std::size_t>(edge.vertices[0])] +
                                  mesh.vertices[static_cast<std::size_t>(edge.vertices[1])]);
    for (int i = 0; i < 4; ++i) points.emplace_back(middle + 0.02 * size * anywhere());
  }
  int inside = 0;
  for (const Vector3& p : points) {
    const double wanted = brute_distance(mesh, p);
    ASSERT_NEAR(signed_distance(mesh, p), wanted, 1e-14 * size) << p.transpose();
    inside += wanted < 0.0 ? 1 : 0;
  }
  EXPECT_GT(inside, static_cast<int>(points.size()) / 20);
}

TEST(SignedDistance, OfABoxIsThatOfAllItsFaces) {
  expect_distances(as_mesh(test::box(Vector3(-1, -0.5, -0.2), Vector3(1, 0.5, 0.2))), 1.0);
}

TEST(SignedDistance, OfABumpyBallIsThatOfAllItsFaces) {
  const auto bumpy = [](const Vector3& n) { return 1.0 + 0.3 * std::sin(5.0 * n.x()) * std::cos(4.0 * n.z()); };
  expect_distances(as_mesh(test::ball(2, bumpy)), 1.0);
}

TEST(SignedDistance, OfASheetIsNowhereNegative) {
  const TriangleMesh sheet = as_mesh(test::plate(1.0, 3));
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {0.2, 0.3, 0.5}), 0.5);
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {0.2, 0.3, -0.5}), 0.5);
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {4.0, 0.0, -4.0}), 5.0);
}

}  // namespace
}  // namespace tresse::geometry
