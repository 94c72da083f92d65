#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include <support/tubes.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/geometry/capsule_chain.hpp>

/// Bodies that go through each other between two configurations in which they are apart.
namespace tresse::contact {
namespace {

constexpr double radius = 1e-3;

/// A straight fibre along x at height `z`, and a bar along y.
Geometry fibre_over_bar(double z, double x = 0.0) {
  test::Tubes out;
  out.polyline({{x - 0.05, 0.0, z}, {x + 0.01, 0.0, z}, {x + 0.05, 0.0, z}}, radius);
  out.capsule({0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}, radius);
  return out.scene;
}

std::vector<Crossing> crossings(const Geometry& begin, const Geometry& end) {
  const std::vector<CandidatePair> all{{0, 1}, {0, 2}, {1, 2}};
  return find_crossings(begin, end, all);
}

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

TEST(Crossings, NoneOfAPairThatOverlapsAtEitherInstant) {
  EXPECT_TRUE(crossings(fibre_over_bar(0.4e-3), fibre_over_bar(-3e-3)).empty()) << "the overlap is told";
  EXPECT_TRUE(crossings(fibre_over_bar(3e-3), fibre_over_bar(0.4e-3)).empty());
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
  std::vector<CandidatePair> pairs;
  for (int i = 0; i < bar; ++i) pairs.push_back({i, bar});
  const auto found = [&](double x, double y) { return find_crossings(begin, scene(x, y), pairs).size(); };
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
      out.capsule(at[0], at[1], radius);
      out.capsule(at[2], at[3], radius);
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
    const bool apart = gap(0.0) >= 0.0 && gap(1.0) >= 0.0;
    constexpr double doubt = 1e-4;  // a capsule's length is that of one instant, and instants are few
    if (std::abs(nearest) < doubt || std::abs(gap(0.0)) < doubt || std::abs(gap(1.0)) < doubt) continue;
    const bool expected = apart && nearest < 0.0;
    EXPECT_EQ(find_crossings(scene(from), scene(to), {{0, 1}}).size(), expected ? 1U : 0U) << "case " << n;
    through += expected ? 1 : 0;
  }
  EXPECT_GT(through, 100);
}

}  // namespace
}  // namespace tresse::contact
