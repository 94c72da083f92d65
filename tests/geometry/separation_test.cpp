#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/capsule_chain.hpp>
#include <tresse/geometry/closest_points.hpp>

#include "geometry/random_curves.hpp"

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

using test::RandomCurves;

/// Least distance of densely sampled points: never below the minimum.
double sampled_distance(const PreparedCurve& a, const PreparedCurve& b) {
  constexpr int samples = 300;
  const auto points = [](const PreparedCurve& c) {
    Matrix3X out(3, samples + 1);
    const Interval i = domain(c);
    for (int k = 0; k <= samples; ++k) out.col(k) = position(c, i.begin + (i.end - i.begin) * k / samples);
    return out;
  };
  const Matrix3X on_a = points(a);
  const Matrix3X on_b = points(b);
  double least = INFINITY;
  for (int k = 0; k <= samples; ++k)
    least = std::min(least, (on_b.colwise() - on_a.col(k)).colwise().norm().minCoeff());
  return least;
}

TEST(Separation, is_below_the_distance_of_any_two_points_and_near_it) {
  RandomCurves random(3);
  int proved = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const PreparedCurve a = prepare(random.any());
    const PreparedCurve b = prepare(random.any());
    const double apart = sampled_distance(a, b);
    const double bound = separation(a, domain(a), b, domain(b), {.enough = 1.0, .least = 0.2 * apart});
    EXPECT_LE(bound, apart) << trial;
    if (bound == 0.0) continue;
    ++proved;
    EXPECT_GE(bound, 0.2 * apart) << trial;
  }
  EXPECT_GT(proved, 380);
}

/// Neighbours in a wisp: equal helices side by side, where the minimum itself is a valley that no query proves.
TEST(Separation, is_proved_for_curves_side_by_side) {
  HelixArc arc{Vector3::Zero(), Matrix3::Identity(), Vector3(10.0, 0.0, 60.0), 0.025};
  const PreparedCurve a = prepare(arc);
  arc.position += Vector3(0.0, 0.0, 1.3e-4);
  const PreparedCurve b = prepare(arc);
  const double bound = separation(a, domain(a), b, domain(b), {.enough = 1e-3, .least = 1.0e-4});
  EXPECT_GT(bound, 1.0e-4);
  EXPECT_LE(bound, sampled_distance(a, b));
}

TEST(Separation, is_given_up_where_two_points_are_nearer_and_ends_where_it_is_enough) {
  const PreparedCurve a = prepare(LineSegment{Vector3::Zero(), Vector3::UnitX()});
  const PreparedCurve b = prepare(LineSegment{Vector3(0.5, -1.0, 0.1), Vector3(0.5, 1.0, 0.1)});
  EXPECT_EQ(separation(a, domain(a), b, domain(b), {.enough = 1.0, .least = 0.11}), 0.0);
  const double enough = separation(a, domain(a), b, domain(b), {.enough = 0.05, .least = 0.01});
  EXPECT_GE(enough, 0.05);
  EXPECT_LE(enough, 0.1);
  EXPECT_NEAR(separation(a, domain(a), b, domain(b), {.enough = 1.0, .least = 0.05}), 0.1, 1e-9);
  EXPECT_THROW((void)separation(a, domain(a), b, domain(b), {.enough = 0.1, .least = 0.2}), InvalidInput);
}

TEST(CapsuleChain, holds_the_curve) {
  RandomCurves random(5);
  CapsuleChain chain;
  for (int trial = 0; trial < 200; ++trial) {
    const PreparedCurve curve = prepare(random.helix());
    const Interval whole = domain(curve);
    const Interval interval{0.1 * whole.end, random.uniform(0.2, 1.0) * whole.end};
    const double sagitta = random.uniform(1e-5, 1e-3);
    const int parts = chain_parts(curve, interval, sagitta, 5e-3);
    make_chain(curve, interval, parts, chain);
    ASSERT_EQ(static_cast<int>(chain.points.size()), parts + 1);
    if (parts < 64) {
      EXPECT_LE(chain.radius, sagitta * (1.0 + 1e-9));
    }
    constexpr int samples = 40;  // of each part
    double farthest = 0.0;
    for (int k = 0; k < parts; ++k) {
      const Vector3 chord = chain.points[k + 1] - chain.points[k];
      for (int j = 0; j <= samples; ++j) {
        const double s = interval.begin + (interval.end - interval.begin) * (k + j / double{samples}) / parts;
        const Vector3 from = position(curve, s) - chain.points[k];
        const double along = std::clamp(from.dot(chord) / chord.squaredNorm(), 0.0, 1.0);
        farthest = std::max(farthest, (from - along * chord).norm());
      }
    }
    EXPECT_LE(farthest, chain.radius);
    EXPECT_GE(farthest, 0.9 * chain.radius);  // an arc of constant curvature reaches its sagitta
  }
}

TEST(SegmentDistance, is_that_of_the_closest_points) {
  RandomCurves random(6);
  for (int trial = 0; trial < 2000; ++trial) {
    const LineSegment p = random.segment();
    LineSegment q = random.segment();
    if (trial % 5 == 0) q.to = q.from;                                                           // a point
    if (trial % 7 == 0) q = {p.from + 0.01 * Vector3::UnitZ(), p.to + 0.01 * Vector3::UnitZ()};  // parallel
    const double expected = closest_points(Curve(p), domain(Curve(p)), Curve(q), domain(Curve(q))).distance;
    EXPECT_NEAR(segment_distance(p.from, p.to, q.from, q.to), expected, 1e-9 * (1.0 + expected));
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
