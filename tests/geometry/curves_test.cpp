#include <fstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/geometry/box.hpp>
#include <tresse/geometry/prepared_curve.hpp>

#include "geometry/random_curves.hpp"

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

using test::RandomCurves;
constexpr double arc_error = 1e-13;  // of a position, relative to the arc length: the accuracy that the docs promise

/// The helix by its definition in long double: the integral of exp(s [k]) e_x in closed form about the axis, or by its
/// power series where it barely turns.
struct LongHelix {
  Eigen::Matrix<long double, 3, 1> offset, tangent;
};
LongHelix long_helix(const Vector3& curvature, long double s) {
  using V = Eigen::Matrix<long double, 3, 1>;
  const V k = curvature.cast<long double>();
  const V x(1, 0, 0);
  V term = x, tangent = x, offset = s * x;  // the series of exp(s [k]) x, in pieces of less than a radian
  const long double t = k.norm() * s;
  if (t < 2) {
    for (int n = 1; n < 60; ++n) {
      term = (s / n) * k.cross(term);
      tangent += term;
      offset += (s / (n + 1)) * term;
    }
    return {offset, tangent};
  }
  const V axis = k / k.norm();
  const V along = axis * axis.dot(x);
  const V side = x - along;
  const V up = axis.cross(side);
  return {s * along + (std::sin(t) * side + (1 - std::cos(t)) * up) / k.norm(),
          along + std::cos(t) * side + std::sin(t) * up};
}

TEST(Trigonometry, sine_and_cosine_match_long_double) {
  RandomCurves random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = random.uniform(-1.0, 1.0) * std::pow(10.0, random.uniform(-3.0, 5.0));
    const auto [sine, cosine] = math::quick::sine_cosine(x);
    ASSERT_NEAR(sine, static_cast<double>(std::sin(static_cast<long double>(x))), 3e-16) << x;
    ASSERT_NEAR(cosine, static_cast<double>(std::cos(static_cast<long double>(x))), 3e-16) << x;
  }
}

TEST(Trigonometry, four_angles_are_as_good_as_one) {
  RandomCurves random(2);
  for (int i = 0; i < 50000; ++i) {
    lanes::Doubles x{};
    for (int k = 0; k < lanes::count; ++k)  // one of many times is beyond what is reduced
      x[k] = random.uniform(-1.0, 1.0) * std::pow(10.0, random.uniform(-3.0, 5.05));
    const auto [sine, cosine] = math::quick::sine_cosine(x);
    for (int k = 0; k < lanes::count; ++k) {
      ASSERT_NEAR(sine[k], static_cast<double>(std::sin(static_cast<long double>(x[k]))), 3e-16) << x[k];
      ASSERT_NEAR(cosine[k], static_cast<double>(std::cos(static_cast<long double>(x[k]))), 3e-16) << x[k];
    }
  }
}

TEST(Curves, helix_matches_long_double_for_every_curvature) {
  RandomCurves random(2);
  for (int i = 0; i < 20000; ++i) {
    const double size = i % 20 == 0 ? 0.0 : std::pow(10.0, random.uniform(-12.0, 4.0));
    const HelixArc arc{Vector3::Zero(), Matrix3::Identity(), random.vector(size),
                       std::pow(10.0, random.uniform(-3.0, 0.0))};
    const double s = random.uniform(0.0, arc.length);
    const LongHelix exact = long_helix(arc.curvature, s);
    const Vector3 kappa = arc.curvature;
    ASSERT_LE((position(arc, s) - exact.offset.cast<double>()).norm(), arc_error * arc.length) << kappa.transpose();
    const double phase = 1.0 + kappa.norm() * arc.length;  // the rounding of the angle itself
    ASSERT_LE((derivative(arc, s) - exact.tangent.cast<double>()).norm(), 4e-16 * phase + 1e-15) << kappa.transpose();
  }
}

TEST(Curves, helix_is_continuous_across_the_small_angle_switch) {
  for (const double turn : {0.9999999999, 1.0, 1.0000000001}) {
    const HelixArc arc{Vector3::Zero(), Matrix3::Identity(), Vector3(0.6, 0.48, 0.64) * turn, 1.0};
    const LongHelix exact = long_helix(arc.curvature, 0.7L);
    EXPECT_LE((position(arc, 0.7) - exact.offset.cast<double>()).norm(), 5e-16);
    EXPECT_LE((derivative(arc, 0.7) - exact.tangent.cast<double>()).norm(), 5e-16);
  }
}

TEST(Curves, clothoids_end_where_sixty_digits_say) {
  std::ifstream in(TRESSE_TEST_DATA "/clothoid_ends/elements.json");
  const auto data = nlohmann::json::parse(in);
  const auto vec = [](const nlohmann::json& v) { return Vector3(v[0], v[1], v[2]); };
  const auto mat = [&](const nlohmann::json& rows) {
    Matrix3 m;
    for (int i = 0; i < 3; ++i) m.row(i) = vec(rows[i]).transpose();
    return m;
  };
  ASSERT_GE(data["elements"].size(), 20U);
  for (const auto& e : data["elements"]) {
    const ClothoidArc arc{vec(e["r0"]), mat(e["frame0"]), vec(e["kappa_start"]), vec(e["kappa_slope"]), e["length"]};
    const Pose end = end_pose(arc);
    EXPECT_LE((position(arc, arc.length) - vec(e["r_end"])).norm(), arc_error * arc.length) << e["id"];
    EXPECT_LE((end.position - vec(e["r_end"])).norm(), arc_error * arc.length) << e["id"];
    EXPECT_LE((end.frame - mat(e["frame_end"])).norm(), arc_error * (1.0 + e["turns"].get<double>())) << e["id"];
  }
}

TEST(Curves, clothoid_without_slope_is_a_helix) {
  RandomCurves random(3);
  for (int i = 0; i < 300; ++i) {
    const HelixArc helix = random.helix();
    const ClothoidArc clothoid{helix.position, helix.frame, helix.curvature, Vector3::Zero(), helix.length};
    const double s = random.uniform(0.0, helix.length);
    EXPECT_LE((position(helix, s) - position(clothoid, s)).norm(), arc_error * helix.length);
    EXPECT_LE((second_derivative(helix, s) - second_derivative(clothoid, s)).norm(), 1e-11);
  }
}

TEST(Curves, bezier_is_de_casteljau) {
  RandomCurves random(4);
  for (int i = 0; i < 300; ++i) {
    const CubicBezier curve = random.bezier();
    const double t = random.uniform(0.0, 1.0);
    auto p = curve.points;
    for (int n = 3; n > 0; --n)
      for (int j = 0; j < n; ++j) p[j] = (1.0 - t) * p[j] + t * p[j + 1];
    EXPECT_LE((position(curve, t) - p[0]).norm(), 1e-16);
  }
}

/// Derivatives by the slope of the Taylor remainder over halvings: at least 1.9 where the order is 2.
RC_GTEST_PROP(Curves, derivatives_pass_the_taylor_test, (unsigned seed)) {
  RandomCurves random(seed);
  const Curve curve = random.any();
  const double middle = 0.5 * domain(curve).end;
  const double h0 = 0.02 * domain(curve).end;
  std::array<double, 3> first{}, second{};
  for (int i = 0; i < 3; ++i) {
    const double h = h0 / (1 << i);
    const Vector3 r = position(curve, middle), d = derivative(curve, middle), d2 = second_derivative(curve, middle);
    first[i] = (position(curve, middle + h) - r - h * d).norm();
    second[i] = (position(curve, middle + h) - r - h * d - 0.5 * h * h * d2).norm();
  }
  const double rounding = 1e-15 * (1.0 + test::scale(curve));
  for (int i = 0; i < 2; ++i) {
    RC_ASSERT(first[i + 1] <= rounding || std::log2(first[i] / first[i + 1]) >= 1.5);
    RC_ASSERT(second[i + 1] <= rounding || std::log2(second[i] / second[i + 1]) >= 2.4);
  }
}

RC_GTEST_PROP(Curves, derivative_bounds_hold, (unsigned seed)) {
  RandomCurves random(seed);
  const Curve curve = random.any();
  const Interval part = random.part(curve);
  std::visit(
      [&](const auto& c) {
        const DerivativeBounds bounds = c.bounds(part);
        const double h = 1e-4 * c.domain().end;
        for (int i = 0; i < 20; ++i) {
          const double s = random.uniform(part.begin, part.end);
          RC_ASSERT(c.jet(s).second.norm() <= bounds.second * (1.0 + 1e-12) + 1e-12);
          const Vector3 third = (c.jet(s + h).second - c.jet(s - h).second) / (2.0 * h);
          RC_ASSERT(third.norm() <= bounds.third * (1.0 + 1e-3) + 1e-3);
        }
      },
      prepare(curve));
}

RC_GTEST_PROP(Box, quick_one_holds_the_curve_with_little_room, (unsigned seed)) {
  RandomCurves random(seed);
  const Curve curve = random.any();
  Interval part = random.part(curve);
  if (random.uniform(0.0, 1.0) < 0.5) part.end = part.begin + 0.05 * (part.end - part.begin);
  const PreparedCurve prepared = prepare(curve);
  const Box box = quick_box(prepared, part);
  const double rounding = 1e-15 * (1.0 + test::scale(curve));
  Vector3 lower = Vector3::Constant(1e9), upper = Vector3::Constant(-1e9);
  constexpr int samples = 500;
  for (int i = 0; i <= samples; ++i) {
    const Vector3 p = position(curve, part.begin + (part.end - part.begin) * i / samples);
    RC_ASSERT((p.array() >= box.lower.array() - rounding).all() && (p.array() <= box.upper.array() + rounding).all());
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
  }
  // Its parabolas leave the curve by one remainder at most and are grown by another; samples miss an extremum by the
  // sagitta between them.
  const double length = part.end - part.begin;
  const DerivativeBounds bounds = std::visit([&](const auto& c) { return c.bounds(part); }, prepared);
  const double remainder = bounds.third * std::pow(length / 8.0, 3) / 6.0;
  const double sagitta = bounds.second * std::pow(length / samples, 2) / 8.0;
  const double room = (1.0 + 1e-5) * (2.0 * remainder + sagitta) + 100.0 * rounding;
  RC_ASSERT((lower - box.lower).maxCoeff() <= room);
  RC_ASSERT((box.upper - upper).maxCoeff() <= room);
  // A piece that barely turns: its box is no larger than the piece is long.
  if (bounds.second * length < 0.5 && !std::holds_alternative<CubicBezier>(curve)) {
    RC_ASSERT((box.upper - box.lower).maxCoeff() <= 1.01 * length + 100.0 * rounding);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
