#include <gtest/gtest.h>

#include <numbers>

#include <support/tubes.hpp>
#include <tresse/contact/crossings.hpp>

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

}  // namespace
}  // namespace tresse::contact
