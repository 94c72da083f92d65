#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include <support/tubes.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/geometry/capsule_chain.hpp>

/// Bodies that go through each other between two configurations in which they are apart.
namespace tresse::contact {
namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-3;

/// A straight fibre along x at height `z`, and a bar along y.
Geometry fibre_over_bar(double z, double x = 0.0) {
  test::Tubes out;
  out.polyline({{x - 0.05, 0.0, z}, {x + 0.01, 0.0, z}, {x + 0.05, 0.0, z}}, radius);
  out.capsule({0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}, radius);
  return out.scene;
}

bool nowhere(const Crossing&) { return false; }

Passage passage(const Geometry& begin, const Geometry& end, double share = 0.5) {
  return find_passage(begin, end, {.share = share}, nowhere);
}

std::vector<Crossing> crossings(const Geometry& begin, const Geometry& end) { return passage(begin, end).crossings; }

TEST(Crossings, OneIsFoundWhereAFibreJumpsOverABar) {
  const auto found = crossings(fibre_over_bar(3e-3), fibre_over_bar(-3e-3));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].a, 0);
  EXPECT_EQ(found[0].b, 2);
}

TEST(Crossings, NoneWhereItStopsShortOrStaysOnItsSide) {
  EXPECT_TRUE(crossings(fibre_over_bar(9e-3), fibre_over_bar(2e-3)).empty());
  EXPECT_TRUE(crossings(fibre_over_bar(3e-3), fibre_over_bar(3e-3, 0.03)).empty());
  EXPECT_TRUE(crossings(fibre_over_bar(3e-3), fibre_over_bar(3e-3, 0.2)).empty());
}

TEST(Crossings, NoneBesideTheBarsEnd) {
  EXPECT_TRUE(crossings(fibre_over_bar(3e-3, 0.06), fibre_over_bar(-3e-3, 0.06)).empty());
}

TEST(Crossings, WhatOverlapsAtItsBeginGetsNoDeeperThanHalf) {
  EXPECT_EQ(crossings(fibre_over_bar(0.4e-3), fibre_over_bar(-3e-3)).size(), 1U);
  EXPECT_TRUE(crossings(fibre_over_bar(0.4e-3), fibre_over_bar(0.3e-3)).empty());
  EXPECT_EQ(crossings(fibre_over_bar(0.4e-3), fibre_over_bar(0.1e-3)).size(), 1U);
  EXPECT_TRUE(crossings(fibre_over_bar(0.0), fibre_over_bar(3e-3)).empty()) << "which side it is on is not known";
  EXPECT_EQ(crossings(fibre_over_bar(3e-3), fibre_over_bar(0.4e-3)).size(), 1U) << "an end that is too deep";
}

TEST(Crossings, TheLeastGapIsThatOfTheWay) {
  constexpr double exact = 0.02 * radius, small = 0.05 * 2.0 * radius;
  EXPECT_GE(passage(fibre_over_bar(9e-3), fibre_over_bar(3e-3)).least_gap, -1.01 * small);
  EXPECT_EQ(passage(fibre_over_bar(9e-3), fibre_over_bar(8e-3)).least_gap, 0.0) << "never near";
  const Passage near = passage(fibre_over_bar(9e-3), fibre_over_bar(1.5e-3));
  EXPECT_LE(near.least_gap, -0.5e-3);
  EXPECT_GE(near.least_gap, -0.5e-3 - exact);
  EXPECT_GE(passage(fibre_over_bar(2.01e-3), fibre_over_bar(2e-3)).least_gap, -1.01 * small);
  // Past a tip: apart at both ends, and nearest in between.
  const auto beside = [](double x, double y) {
    test::Tubes out;
    out.polyline({{-0.05, y, 0.0}, {0.0, y, 0.0}}, radius);
    out.capsule({x, 0.0, -0.1}, {x, 0.0, 0.1}, radius);
    return out.scene;
  };
  const Passage past = passage(beside(1.2e-3, -9e-3), beside(1.2e-3, 9e-3), 0.1);
  EXPECT_TRUE(past.crossings.empty());
  EXPECT_NEAR(past.least_gap, -0.8e-3, exact);
  EXPECT_EQ(passage(beside(1.2e-3, -9e-3), beside(1.2e-3, 9e-3), 0.9).crossings.size(), 1U);
  EXPECT_EQ(find_passage(beside(1.2e-3, -9e-3), beside(1.2e-3, 9e-3), {.share = 0.1, .known_gap = -0.9e-3}, nowhere)
                .least_gap,
            -0.9e-3);
}

TEST(Crossings, WhatIsPassedOverIsNotTold) {
  const auto all = [](const Crossing&) { return true; };
  const Passage found = find_passage(fibre_over_bar(3e-3), fibre_over_bar(-3e-3), {}, all);
  EXPECT_TRUE(found.crossings.empty());
  EXPECT_EQ(found.least_gap, 0.0);
}

/// A ring of a helix, three quarters of a turn, seen from whose inside a bar jumps out.
TEST(Crossings, CurvedPiecesAreFollowed) {
  const double curvature = 100.0;
  const double length = 1.5 * std::numbers::pi / curvature;
  const auto scene = [&](double x, double y) {
    test::Tubes out;
    out.fibre(test::chain({}, {{{0.0, 0.0, curvature}, length}}), 1e-4);
    out.capsule({x, 0.01 + y, -0.1}, {x, 0.01 + y, 0.1}, 1e-4);
    return out.scene;
  };
  const Geometry begin = scene(0.0, 0.0);
  const int bar = begin.body_begin[1];
  ASSERT_GT(bar, 1);
  const auto found = [&](double x, double y) { return crossings(begin, scene(x, y)).size(); };
  EXPECT_EQ(found(0.009, 0.0), 0U);
  EXPECT_EQ(found(0.02, 0.0), 1U);
  EXPECT_EQ(found(-0.015, -0.015), 0U) << "where the ring is open";
}

/// Straight fibres thrown past each other: what is found is what many instants show.
TEST(Crossings, RandomOnesAreThoseThatManyInstantsShow) {
  std::mt19937 random(11);
  std::uniform_real_distribution<> along(-0.02, 0.02);
  const auto point = [&] { return Vector3(along(random), along(random), along(random)); };
  const double limit = radius;  // half the sum of the radii
  int through = 0;
  for (int n = 0; n < 2000; ++n) {
    const std::array<Vector3, 4> from{point(), point(), point(), point()};
    std::array<Vector3, 4> to = from;
    for (Vector3& end : to) end += 0.7 * point();
    const auto scene = [&](const std::array<Vector3, 4>& at) {
      test::Tubes out;
      out.polyline({at[0], at[1]}, radius);
      out.polyline({at[2], at[3]}, radius);
      return out.scene;
    };
    const auto gap = [&](double time) {
      std::array<Vector3, 4> at;
      for (std::size_t i = 0; i < 4; ++i) at[i] = (1.0 - time) * from[i] + time * to[i];
      return geometry::segment_distance(at[0], at[1], at[2], at[3]) - limit;
    };
    double nearest = gap(0.0);
    constexpr int instants = 1000;
    for (int k = 1; k <= instants; ++k) nearest = std::min(nearest, gap(static_cast<double>(k) / instants));
    constexpr double doubt = 1e-4;  // a capsule's length is that of one instant, and instants are few
    if (std::abs(nearest) < doubt || gap(0.0) < limit + doubt) continue;
    const bool expected = nearest < 0.0;
    const Passage found = passage(scene(from), scene(to));
    EXPECT_EQ(found.crossings.size(), expected ? 1U : 0U) << "case " << n;
    if (!expected) {
      EXPECT_LT(found.least_gap, std::min(0.0, nearest + limit - 2.0 * radius) + doubt) << "case " << n;
      EXPECT_GT(found.least_gap, std::min(-0.1 * radius, nearest + limit - 2.0 * radius) - doubt) << n;
    }
    through += expected ? 1 : 0;
  }
  EXPECT_GT(through, 100);
}

/// Two helices of many turns that roll over each other, sampled densely.
TEST(Crossings, CurvedFibresKeepWhatIsProvedOfThem) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> unit(-1.0, 1.0);
  const auto place = [&](double size) -> Vector3 { return size * Vector3(unit(random), unit(random), unit(random)); };
  int apart = 0, through = 0;
  for (int n = 0; n < 150; ++n) {
    std::array<std::vector<geometry::HelixArc>, 2> from, to;
    for (std::size_t k = 0; k < 2; ++k) {
      const Vector3 bend = place(150.0);
      const auto fibre = [&](const Vector3& at, double turn, const Vector3& more) {
        const Pose root{at, Eigen::AngleAxisd(turn, Vector3::UnitZ()).toRotationMatrix()};
        return test::chain(root, {{bend + more, 0.02}, {bend - more, 0.02}});
      };
      const Vector3 at = place(6e-3);
      from[k] = fibre(at, 0.1 * unit(random), place(5.0));
      to[k] = fibre(at + place(3e-3), 0.1 * unit(random), place(5.0));
    }
    const auto scene = [&](const auto& fibres) {
      test::Tubes out;
      for (const auto& fibre : fibres) out.fibre(fibre, 2e-4);
      return out.scene;
    };
    const Geometry begin = scene(from), end = scene(to);
    const auto point = [&](std::size_t k, int i, double time) -> Vector3 {
      const std::size_t e = i < 80 ? 0 : 1;
      const double s = 0.02 / 80 * (i - 80 * static_cast<int>(e));
      return (1.0 - time) * geometry::position(from[k][e], s) + time * geometry::position(to[k][e], s);
    };
    double nearest = 1.0, first = 1.0;
    for (int m = 0; m <= 20; ++m) {
      std::array<std::array<Vector3, 161>, 2> at;
      for (std::size_t k = 0; k < 2; ++k)
        for (int i = 0; i <= 160; ++i) at[k][static_cast<std::size_t>(i)] = point(k, i, m / 20.0);
      for (std::size_t i = 0; i < 160; ++i) {
        for (std::size_t j = 0; j < 160; ++j)
          nearest = std::min(nearest, geometry::segment_distance(at[0][i], at[0][i + 1], at[1][j], at[1][j + 1]));
      }
      if (m == 0) first = nearest;
    }
    if (first < 4e-4) continue;
    const Passage found = passage(begin, end, 0.1);
    const auto other = [&](const Crossing& crossing) { return body_at(end, crossing.a) != body_at(end, crossing.b); };
    if (std::none_of(found.crossings.begin(), found.crossings.end(), other)) {
      EXPECT_GT(nearest, 0.04e-3) << "case " << n;
      EXPECT_LT(found.least_gap, nearest - 4e-4 + 5e-5) << "case " << n;
      ++apart;
    } else {
      EXPECT_LT(nearest, 2e-4) << "case " << n << ": chords and instants may miss it a little";
      ++through;
    }
  }
  EXPECT_GT(apart, 20);
  EXPECT_GT(through, 5);
}

/// A sheet of two triangles in the plane z = 0, of 2 x 2 cm, and a fibre along x above it. `origin`: of the sheet, in
/// its own axes.
Geometry fibre_over_sheet(double z, double x, double y, double sheet = 0.0, const Vector3& origin = Vector3::Zero()) {
  test::Tubes out;
  out.polyline({{x - 0.005, y, z}, {x + 0.005, y, z}}, radius);
  const std::vector<geometry::Face> faces{{0, 1, 2}, {0, 2, 3}};
  std::vector<Vector3> corners{{-0.01, -0.01, 0}, {0.01, -0.01, 0}, {0.01, 0.01, 0}, {-0.01, 0.01, 0}};
  for (Vector3& corner : corners) corner += origin;
  auto topology = std::make_shared<const geometry::MeshTopology>(faces, corners);
  Mesh mesh;
  mesh.surface = std::make_shared<const geometry::TriangleMesh>(topology, corners);
  mesh.pose.position = Vector3(0.0, 0.0, sheet) - origin;
  mesh.next = mesh.pose;
  mesh.id = {BodyKind::obstacle, 0};
  mesh.body = 1;
  out.scene.meshes.push_back(mesh);
  return out.scene;
}

TEST(Crossings, AFibreThroughASheetOfTriangles) {
  EXPECT_EQ(crossings(fibre_over_sheet(3e-3, 0, 0), fibre_over_sheet(-3e-3, 0, 0)).size(), 1U);
  EXPECT_EQ(crossings(fibre_over_sheet(3e-3, 0, 0), fibre_over_sheet(3e-3, 0, 0, 6e-3)).size(), 1U) << "it moves";
  EXPECT_TRUE(crossings(fibre_over_sheet(3e-3, 0, 0), fibre_over_sheet(2e-3, 0, 0)).empty());
  EXPECT_TRUE(crossings(fibre_over_sheet(3e-3, 0, 0), fibre_over_sheet(-3e-3, 0, 0, -6e-3)).empty()) << "together";
  EXPECT_TRUE(crossings(fibre_over_sheet(3e-3, 0, 0.02), fibre_over_sheet(-3e-3, 0, 0.02)).empty()) << "beside it";
  EXPECT_EQ(crossings(fibre_over_sheet(3e-3, 0.014, 0), fibre_over_sheet(-3e-3, 0.014, 0)).size(), 1U) << "its end";
}

// What is proved does not depend on where a mesh has the origin of its axes.
TEST(Crossings, AFibreOverASheetWithItsOriginAnywhere) {
  for (const double away : {0.0, 0.1, -0.1}) {
    for (int axis = 0; axis < 3; ++axis) {
      const Vector3 origin = away * Vector3::Unit(axis);
      for (const double z : {1.5e-3, -1.5e-3}) {
        const Passage way = passage(fibre_over_sheet(z, 0, 0, 0, origin), fibre_over_sheet(0.98 * z, 0, 0, 0, origin));
        EXPECT_TRUE(way.crossings.empty()) << origin.transpose() << ", " << z;
      }
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
