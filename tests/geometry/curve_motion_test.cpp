#include <gtest/gtest.h>

#include <random>

#include <tresse/geometry/curve_motion.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::geometry {
namespace {

class Random {
 public:
  double in(double low, double high) { return low + (high - low) * std::uniform_real_distribution<>()(engine_); }
  Vector3 vector(double size) { return {in(-size, size), in(-size, size), in(-size, size)}; }

 private:
  std::mt19937 engine_{20};
};

double largest_spread(const PreparedCurve& before, const PreparedCurve& after, Interval interval,
                      const Vector3& shift) {
  double largest = 0.0;
  constexpr int samples = 400;
  for (int i = 0; i <= samples; ++i) {
    const double s = interval.begin + (interval.end - interval.begin) * i / samples;
    largest = std::max(largest, (position(after, s) - position(before, s) - shift).norm());
  }
  return largest;
}

TEST(CurveMotion, bounds_the_displacement_of_helices_that_turn_move_and_bend) {
  Random random;
  double tightest = 0.0;
  for (int trial = 0; trial < 500; ++trial) {
    const double step = std::pow(10.0, random.in(-6.0, -0.5));
    HelixArc arc{random.vector(0.1), math::rotation_exp(random.vector(3.0)), random.vector(random.in(0.0, 200.0)),
                 0.025};
    HelixArc next = arc;
    next.position += random.vector(step * 0.1);
    next.frame = math::rotation_exp(random.vector(step)) * arc.frame;
    next.curvature += random.vector(step * 100.0);
    const double begin = random.in(0.0, 0.02);
    const Interval interval{begin, random.in(begin, 0.025)};
    const PreparedCurve before = prepare(arc);
    const PreparedCurve after = prepare(next);
    const CurveMotion motion = motion_between(before, after, interval);
    const double middle = 0.5 * (interval.begin + interval.end);
    EXPECT_NEAR((position(after, middle) - position(before, middle) - motion.shift).norm(), 0.0, 1e-15);
    const double found = largest_spread(before, after, interval, motion.shift);
    EXPECT_GE(motion.spread, found * (1.0 - 1e-12)) << trial;
    if (found > 0.0) tightest = std::max(tightest, found / motion.spread);
  }
  EXPECT_GT(tightest, 0.95);  // a bound that is far too wide would keep nothing apart
}

TEST(CurveMotion, is_exact_for_rigid_segments_and_knows_nothing_of_a_change_of_type) {
  const PreparedCurve before = prepare(LineSegment{Vector3::Zero(), Vector3(1.0, 0.0, 0.0)});
  const PreparedCurve after = prepare(LineSegment{Vector3(0.0, 0.0, 1.0), Vector3(1.0, 0.0, 1.5)});
  const CurveMotion motion = motion_between(before, after, domain(before));
  EXPECT_NEAR(motion.spread, largest_spread(before, after, domain(before), motion.shift), 0.06);
  EXPECT_GE(motion.spread, largest_spread(before, after, domain(before), motion.shift) - 1e-15);
  const PreparedCurve helix = prepare(HelixArc{Vector3::Zero(), Matrix3::Identity(), Vector3::Ones(), 1.0});
  EXPECT_EQ(motion_between(before, helix, domain(before)).spread, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tresse::geometry
