#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/geometry/triangle_mesh.hpp>

#include "support/meshes.hpp"

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

TriangleMesh as_mesh(const tresse::test::Triangles& triangles) {
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
  expect_distances(as_mesh(tresse::test::box(Vector3(-1, -0.5, -0.2), Vector3(1, 0.5, 0.2))), 1.0);
}

TEST(SignedDistance, OfABumpyBallIsThatOfAllItsFaces) {
  const auto bumpy = [](const Vector3& n) { return 1.0 + 0.3 * std::sin(5.0 * n.x()) * std::cos(4.0 * n.z()); };
  expect_distances(as_mesh(tresse::test::ball(2, bumpy)), 1.0);
}

TEST(SignedDistance, OfASheetIsNowhereNegative) {
  const TriangleMesh sheet = as_mesh(tresse::test::plate(1.0, 3));
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {0.2, 0.3, 0.5}), 0.5);
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {0.2, 0.3, -0.5}), 0.5);
  EXPECT_DOUBLE_EQ(signed_distance(sheet, {4.0, 0.0, -4.0}), 5.0);
}

/// The signed sum of tetrahedra below the faces, by the vertices as the topology has them now.
double volume_of(const TriangleMesh& mesh) {
  double out = 0.0;
  for (int f = 0; f < static_cast<int>(mesh.topology->faces().size()); ++f) {
    const auto x = mesh.corners(f);
    out += x[0].dot(x[1].cross(x[2])) / 6.0;
  }
  return out;
}

tresse::test::Triangles turned_round(tresse::test::Triangles triangles) {
  for (Face& face : triangles.faces) std::swap(face[1], face[2]);
  return triangles;
}

tresse::test::Triangles together(tresse::test::Triangles one, const tresse::test::Triangles& other) {
  const int first = static_cast<int>(one.vertices.size());
  one.vertices.insert(one.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Face& face : other.faces) one.faces.push_back({face[0] + first, face[1] + first, face[2] + first});
  return one;
}

const tresse::test::Triangles unit_box = tresse::test::box(Vector3(-1, -1, -1), Vector3(1, 1, 1));

/// Whichever faces a file has the wrong way round, the box is solid and looks outwards.
TEST(Winding, OfABoxDoesNotMatter) {
  for (unsigned wrong = 0; wrong < 4096; ++wrong) {
    tresse::test::Triangles mixed = unit_box;
    int count = 0;
    for (std::size_t f = 0; f < 12; ++f) {
      if ((wrong >> f & 1U) == 0) continue;
      std::swap(mixed.faces[f][1], mixed.faces[f][2]);
      ++count;
    }
    const TriangleMesh mesh = as_mesh(mixed);
    ASSERT_TRUE(mesh.topology->closed()) << wrong;
    ASSERT_NEAR(volume_of(mesh), 8.0, 1e-12) << wrong;
    ASSERT_EQ(mesh.topology->turned(), std::min(count, 12 - count)) << wrong;
    for (const MeshEdge& edge : mesh.topology->edges()) ASSERT_TRUE(edge.agree) << wrong;
    for (int f = 0; f < 12; ++f) {  // the edges of a face are still those between its corners
      for (std::size_t k = 0; k < 3; ++k) {
        const Face& face = mesh.topology->faces()[static_cast<std::size_t>(f)];
        const auto& ends = mesh.topology->edges()[static_cast<std::size_t>(mesh.topology->face_edges(f)[k])].vertices;
        ASSERT_EQ(ends[0], std::min(face[k], face[(k + 1) % 3])) << wrong;
        ASSERT_EQ(ends[1], std::max(face[k], face[(k + 1) % 3])) << wrong;
      }
    }
  }
}

TEST(Winding, OfASheetIsMadeOne) {
  tresse::test::Triangles sheet = tresse::test::plate(1.0, 4);
  for (std::size_t f = 0; f < sheet.faces.size(); f += 3) std::swap(sheet.faces[f][0], sheet.faces[f][1]);
  const TriangleMesh mesh = as_mesh(sheet);
  EXPECT_FALSE(mesh.topology->closed());
  EXPECT_EQ(mesh.topology->turned(), 11);
  for (const MeshEdge& edge : mesh.topology->edges()) EXPECT_TRUE(edge.agree || edge.faces[1] < 0);
}

TEST(Winding, OfAMoebiusStripStaysAsItIs) {
  constexpr int n = 12;
  tresse::test::Triangles strip;
  for (int i = 0; i < n; ++i) {
    const double turn = 2.0 * std::numbers::pi * i / n;
    const Vector3 out(std::cos(turn), std::sin(turn), 0.0);
    const Vector3 across = std::cos(0.5 * turn) * out + std::sin(0.5 * turn) * Vector3::UnitZ();
    strip.vertices.emplace_back(out - 0.2 * across);
    strip.vertices.emplace_back(out + 0.2 * across);
  }
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    const std::array<int, 2> here{2 * i, 2 * i + 1};
    const std::array<int, 2> there = next == 0 ? std::array<int, 2>{1, 0} : std::array<int, 2>{2 * next, 2 * next + 1};
    strip.faces.push_back({here[0], there[0], there[1]});
    strip.faces.push_back({here[0], there[1], here[1]});
  }
  const TriangleMesh mesh = as_mesh(strip);
  EXPECT_FALSE(mesh.topology->closed());
  EXPECT_EQ(mesh.topology->turned(), 0);
  EXPECT_EQ(mesh.topology->faces(), strip.faces);
}

/// Of two boxes side by side each looks outwards; a hollow within a box looks into the hollow.
TEST(Winding, OfSeveralPartsIsThatOfSolids) {
  const tresse::test::Triangles beside = tresse::test::box(Vector3(2, -1, -1), Vector3(3, 1, 1));
  const tresse::test::Triangles within = tresse::test::box(Vector3(-0.5, -0.5, -0.5), Vector3(0.5, 0.5, 0.5));
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      const TriangleMesh two =
          as_mesh(together(first ? turned_round(unit_box) : unit_box, second ? turned_round(beside) : beside));
      EXPECT_EQ(winding_number(two, {0.3, 0.2, 0.1}), 1) << first << second;
      EXPECT_EQ(winding_number(two, {2.3, 0.2, 0.1}), 1) << first << second;
      EXPECT_EQ(winding_number(two, {1.5, 0.2, 0.1}), 0) << first << second;
      EXPECT_EQ(two.topology->turned(), first == second ? 0 : 12) << first << second;
    }
  }
  for (const bool inside_out : {false, true}) {
    const tresse::test::Triangles wall = together(unit_box, turned_round(within));
    const TriangleMesh hollow = as_mesh(inside_out ? turned_round(wall) : wall);
    EXPECT_FALSE(is_inside(hollow, {0.3, 0.2, 0.1}));
    EXPECT_TRUE(is_inside(hollow, {0.8, 0.2, 0.1}));
    EXPECT_FALSE(is_inside(hollow, {-1.8, 0.2, 0.1}));
    EXPECT_NEAR(signed_distance(hollow, {0.3, 0.2, 0.1}), 0.2, 1e-15);
    EXPECT_NEAR(signed_distance(hollow, {0.8, 0.2, 0.1}), -0.2, 1e-15);
    EXPECT_EQ(hollow.topology->turned(), 0);
  }
}

/// Beside a part that stands in another the nearest face alone says "outside".
TEST(Winding, OfPartsThatOverlapIsThatOfTheirUnion) {
  const TriangleMesh mesh = as_mesh(together(unit_box, tresse::test::ball(2, 0.4)));
  EXPECT_TRUE(is_inside(mesh, {0.45, 0.02, 0.01}));
  EXPECT_TRUE(is_inside(mesh, {0.1, 0.02, 0.01}));
  EXPECT_FALSE(is_inside(mesh, {1.1, 0.02, 0.01}));
}

/// Rays through corners and along sides are told apart as well as any.
TEST(Winding, RaysThroughCornersAndSidesCountOnce) {
  const TriangleMesh box = as_mesh(unit_box);
  for (const double y : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    for (const double z : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
      EXPECT_EQ(winding_number(box, {-2.0, y, z}), 0) << y << ' ' << z;
      EXPECT_EQ(winding_number(box, {2.0, y, z}), 0) << y << ' ' << z;
      if (std::abs(y) < 1.0 && std::abs(z) < 1.0) {
        EXPECT_EQ(winding_number(box, {0.0, y, z}), 1) << y << ' ' << z;
      }
    }
  }
  const TriangleMesh ball = as_mesh(tresse::test::ball(3, 1.0));
  for (const Vector3& x : ball.vertices) {
    EXPECT_EQ(winding_number(ball, 0.9 * x), 1);
    EXPECT_EQ(winding_number(ball, {0.5 * x.x(), 0.9 * x.y(), 0.9 * x.z()}), 1);
    EXPECT_EQ(winding_number(ball, {-3.0, x.y(), x.z()}), 0);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
