#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include <tresse/fluid/stokeslet_segments.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::fluid {
namespace TRESSE_TEST_FILE {

constexpr double epsilon = 1.02e-3;

void expect_near(const SegmentIntegrals& found, const SegmentIntegrals& exact, double tolerance) {
  EXPECT_NEAR(found.t01, exact.t01, tolerance * exact.t01);
  EXPECT_NEAR(found.t11, exact.t11, tolerance * exact.t11);
  EXPECT_NEAR(found.t03, exact.t03, tolerance * exact.t03);
  EXPECT_NEAR(found.t13, exact.t13, tolerance * exact.t13);
  EXPECT_NEAR(found.t23, exact.t23, tolerance * exact.t23);
  EXPECT_NEAR(found.t33, exact.t33, tolerance * exact.t33);
}

/// In extended precision, over parts so short that the rule is exact.
SegmentIntegrals by_quadrature(const Segment& segment, const Vector3& x) {
  constexpr int parts = 64;
  const math::GaussRule& rule = math::gauss_legendre(24);
  long double sums[6] = {};
  for (int part = 0; part < parts; ++part) {
    for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
      const long double a = (part + static_cast<long double>(rule.nodes[k])) / parts;
      long double square = static_cast<long double>(epsilon) * epsilon;
      for (int i = 0; i < 3; ++i) {
        const long double d =
            x[i] - (segment.begin[i] + a * (static_cast<long double>(segment.end[i]) - segment.begin[i]));
        square += d * d;
      }
      const long double first = static_cast<long double>(rule.weights[k]) / parts / std::sqrt(square);
      const long double third = first / square;
      const long double terms[] = {first, a * first, third, a * third, a * a * third, a * a * a * third};
      for (int i = 0; i < 6; ++i) sums[i] += terms[i];
    }
  }
  const auto of = [&](int i) { return static_cast<double>(sums[i]); };
  return {of(0), of(1), of(2), of(3), of(4), of(5)};
}

// Values worked out for the design of this, on a segment of 5 mm.
TEST(StokesletSegments, IntegralsOfOneSegment) {
  const Segment segment{Vector3::Zero(), Vector3(3e-3, 4e-3, 0.0)};
  const Vector3 x(1e-3, -2e-3, 5e-3);
  expect_near(segment_integrals(segment, x, epsilon),
              {153.065727335, 71.592185081, 3720553.8255, 1513271.16895, 897821.46723, 625657.12065}, 1e-10);
  const SegmentInfluence influence = segment_influence(segment, x, epsilon);
  EXPECT_NEAR(influence.from_begin(0, 0), 0.423670313, 1e-9);
  EXPECT_NEAR(influence.from_end(0, 0), 0.37461924, 1e-8);
}

TEST(StokesletSegments, IntegralsAreExactEverywhere) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const auto direction = [&] { return Vector3(normal(random), normal(random), normal(random)).normalized(); };
  for (int i = 0; i < 400; ++i) {
    const Vector3 axis = direction();
    const double length = 5e-3 * std::pow(10.0, 0.5 * normal(random));
    const Segment segment{1e-2 * direction(), {}};
    const Segment whole{segment.begin, segment.begin + length * axis};
    // From on the axis, ahead of the segment and behind it, to 60 lengths away.
    const double away = length * std::pow(10.0, -2.0 + 3.8 * (i % 40) / 39.0);
    const Vector3 x = whole.begin + 0.5 * length * axis +
                      (i % 3 == 0   ? Vector3(away * axis)
                       : i % 3 == 1 ? Vector3(-away * axis)
                                    : Vector3(away * direction()));
    expect_near(segment_integrals(whole, x, epsilon), by_quadrature(whole, x), 2e-12);
  }
}

// Force densities turned round with the segment make the same flow.
TEST(StokesletSegments, EndsMayChangePlaces) {
  const Segment one{Vector3(1e-3, 2e-3, -1e-3), Vector3(4e-3, -1e-3, 2e-3)};
  const Segment other{one.end, one.begin};
  for (const double away : {2e-3, 8e-3, 1e-1}) {
    const Vector3 x = Vector3(0.5, -0.3, 0.8) * away;
    const SegmentInfluence a = segment_influence(one, x, epsilon), b = segment_influence(other, x, epsilon);
    EXPECT_LT((a.from_begin - b.from_end).norm(), 1e-12 * a.from_begin.norm());
    EXPECT_LT((a.from_end - b.from_begin).norm(), 1e-12 * a.from_end.norm());
  }
}

TEST(StokesletSegments, FarAwayItIsAPointForce) {
  const Segment segment{Vector3(-1e-3, 0.0, 0.0), Vector3(1e-3, 0.0, 0.0)};
  const double viscosity = 0.7;
  const Vector3 force(2.0, -1.0, 3.0);
  const Vector3 x(0.3, 0.4, -0.2);
  const Vector3 u = velocity({segment}, {force}, {force}, epsilon, viscosity, {x}).front();
  const double r = x.norm();
  const Vector3 total = force * 2e-3;
  const Vector3 point = (total / r + x * x.dot(total) / (r * r * r)) / (8.0 * std::numbers::pi * viscosity);
  EXPECT_LT((u - point).norm(), 2e-5 * point.norm());  // the segment's size and epsilon, over the distance, squared
}

// The flow keeps volume, and its force balances: div u = 0 and the flux through a sphere is none.
TEST(StokesletSegments, FlowKeepsVolume) {
  const Segment segment{Vector3(-2e-3, 0.0, 1e-3), Vector3(3e-3, 1e-3, 0.0)};
  const Vector3 f0(1.0, 2.0, -0.5), f1(-0.3, 0.7, 1.5);
  const double h = 2e-5;
  for (const Vector3& x : {Vector3(1e-3, 1e-3, 0.0), Vector3(0.0, 2e-3, -3e-3), Vector3(1e-2, -4e-3, 2e-2)}) {
    double divergence = 0.0, size = 0.0;
    for (int i = 0; i < 3; ++i) {
      const Vector3 step = h * Vector3::Unit(i);
      const auto u =
          velocity({segment}, {f0}, {f1}, epsilon, 1.0, {x + step, x - step, x + 2.0 * step, x - 2.0 * step});
      const Vector3 slope = (8.0 * (u[0] - u[1]) - (u[2] - u[3])) / (12.0 * h);
      divergence += slope[i];
      size += slope.norm();
    }
    EXPECT_LT(std::abs(divergence), 1e-6 * size);
  }
}

TEST(StokesletSegments, APointIsTheLimitOfASegment) {
  const Vector3 x(2e-3, 1e-3, 0.0);
  const Segment point{Vector3::Zero(), Vector3::Zero()};
  const SegmentIntegrals t = segment_integrals(point, x, epsilon);
  const double r = std::sqrt(x.squaredNorm() + epsilon * epsilon);
  EXPECT_NEAR(t.t01, 1.0 / r, 1e-12 / r);
  EXPECT_TRUE(segment_influence(point, x, epsilon).from_begin.isZero(0.0));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::fluid
