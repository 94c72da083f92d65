#include <gtest/gtest.h>

#include <random>

#include <tresse/geometry/curve_motion.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

class Random {
 public:
  double in(double low, double high) { return low + (high - low) * std::uniform_real_distribution<>()(engine_); }
  Vector3 vector(double size) { return {in(-size, size), in(-size, size), in(-size, size)}; }

 private:
  std::mt19937 engine_{20};
};

/// Largest distance of a sampled point from where the rigid motion alone would bring it.
double largest_spread(const PreparedCurve& before, const PreparedCurve& after, Interval interval,
                      const CurveMotion& motion) {
  const Vector3 middle = position(before, 0.5 * (interval.begin + interval.end));
  double largest = 0.0;
  constexpr int samples = 400;
  for (int i = 0; i <= samples; ++i) {
    const double s = interval.begin + (interval.end - interval.begin) * i / samples;
    const Vector3 rigid = middle + motion.shift + motion.turn * (position(before, s) - middle);
    largest = std::max(largest, (position(after, s) - rigid).norm());
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
    EXPECT_NEAR((motion.turn * motion.turn.transpose() - Matrix3::Identity()).norm(), 0.0, 1e-14);
    const double found = largest_spread(before, after, interval, motion);
    EXPECT_GE(motion.spread, found * (1.0 - 1e-12)) << trial;
    if (found > 0.0) tightest = std::max(tightest, found / motion.spread);
  }
  EXPECT_GT(tightest, 0.7);  // a bound that is far too wide would keep nothing apart
}

TEST(CurveMotion, of_a_rigid_motion_leaves_nothing_to_spread) {
  Random random;
  for (int trial = 0; trial < 100; ++trial) {
    HelixArc arc{random.vector(0.1), math::rotation_exp(random.vector(3.0)), random.vector(200.0), 0.025};
    arc.curvature.z() += 60.0;  // well bent: the rotation about the chord shows
    const Matrix3 turn = math::rotation_exp(random.vector(0.3));
    HelixArc next = arc;
    next.position = turn * arc.position + random.vector(0.01);
    next.frame = turn * arc.frame;
    const PreparedCurve before = prepare(arc);
    const CurveMotion motion = motion_between(before, prepare(next), domain(before));
    EXPECT_NEAR((motion.turn - turn).norm(), 0.0, 1e-9);
    EXPECT_LT(motion.spread, 1e-9);
  }
  const PreparedCurve before = prepare(LineSegment{Vector3::Zero(), Vector3(1.0, 0.0, 0.0)});
  const PreparedCurve after = prepare(LineSegment{Vector3(0.0, 0.0, 1.0), Vector3(0.8, 0.0, 1.6)});
  EXPECT_LT(motion_between(before, after, domain(before)).spread, 1e-14);
}

TEST(CurveMotion, knows_nothing_of_a_change_of_type) {
  const PreparedCurve segment = prepare(LineSegment{Vector3::Zero(), Vector3(1.0, 0.0, 0.0)});
  const PreparedCurve helix = prepare(HelixArc{Vector3::Zero(), Matrix3::Identity(), Vector3::Ones(), 1.0});
  EXPECT_EQ(motion_between(segment, helix, domain(segment)).spread, std::numeric_limits<double>::infinity());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
