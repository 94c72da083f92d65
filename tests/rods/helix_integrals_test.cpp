#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/rods/detail/helix_element.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

#include "rods/rod_cases.hpp"

// Integrals by power series against many Gauss points of the closed forms.
namespace tresse::rods::detail {
namespace {

struct Sums {
  ElementMoments<3> moments{};
  ElementForce<3> force{};
};

Matrix3 gradient_at(double s, const Vector3& w) {
  return gradient_matrix(helix_point(s, triple(w), helix_stumpff<8>(s, w)));
}

Sums by_quadrature(double length, const Vector3& w, const Vector3& rate, const LineForce& line) {
  Sums out;
  out.moments = {0.0, Vector3::Zero(), Matrix3::Zero(), Matrix3::Zero(), Matrix3::Zero(), Matrix3::Zero()};
  out.force = {Vector3::Zero(), Vector3::Zero(), Vector3::Zero()};
  const math::GaussRule& rule = math::gauss_legendre(32);
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double s = length * rule.nodes[i], weight = length * rule.weights[i];
    const auto c = helix_stumpff<8>(s, w);
    const auto point = helix_point(s, triple(w), c);
    const Vector3 p(point.p[0], point.p[1], point.p[2]);
    const Matrix3 gradient = gradient_at(s, w);
    const auto second = helix_second(s, triple(w), triple(rate), c);
    const Vector3 f = line.constant + line.position * p + line.rate * (gradient * rate) -
                      line.density * Vector3(second[0], second[1], second[2]);
    out.moments.length += weight;
    out.moments.p += weight * p;
    out.moments.p_p += weight * p * p.transpose();
    out.moments.P += weight * gradient;
    for (int k = 0; k < 3; ++k) out.moments.p_cross_P.col(k) += weight * p.cross(gradient.col(k));
    out.moments.P_P += weight * gradient.transpose() * gradient;
    out.force.resultant += weight * f;
    out.force.torque += weight * p.cross(f);
    out.force.generalised += weight * gradient.transpose() * f;
  }
  return out;
}

TEST(HelixIntegrals, AreThoseOfTheClosedForms) {
  constexpr double tolerance = 1e-13;  // of the largest entry: the series cancel by two digits at a turn of 3
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  const auto vector = [&](double scale) { return Vector3(scale * Vector3(u(random), u(random), u(random))); };
  double worst = 0.0;
  // Across where the number of terms changes, X = 0.1, 1, and to the end.
  for (const double turn : {0.0, 1e-9, 1e-3, 0.3, 0.316, 0.317, 0.9, 0.9999, 1.0001, 1.7, 2.5, 2.9999}) {
    for (int k = 0; k < 20; ++k) {
      const double length = 0.02 * (1.5 + u(random));
      Vector3 w = vector(1.0).normalized() * turn / length;
      if (k == 0) w = Vector3(turn / length, 0.0, 0.0);  // twist alone
      const Vector3 rate = vector(3.0 / length);
      const LineForce line{vector(1.0), Matrix3(vector(10.0) * vector(5.0).transpose()), vector(3.0).asDiagonal(), 0.7};
      const Sums expected = by_quadrature(length, w, rate, line);
      HelixIntegrals integrals;
      integrals.set(length, w);
      const ElementMoments<3> m = integrals.moments();
      const ElementForce<3> f = integrals.force(line, rate);
      EXPECT_EQ(m.length, length);
      for (const double error :
           {testing::relative(m.p, expected.moments.p), testing::relative(m.p_p, expected.moments.p_p),
            testing::relative(m.P, expected.moments.P), testing::relative(m.p_cross_P, expected.moments.p_cross_P),
            testing::relative(m.P_P, expected.moments.P_P), testing::relative(f.resultant, expected.force.resultant),
            testing::relative(f.torque, expected.force.torque),
            testing::relative(f.generalised, expected.force.generalised)}) {
        EXPECT_LT(error, tolerance) << turn;
        worst = std::max(worst, error);
      }
    }
  }
  if (testing::printing()) std::printf("integrals of helices by series: %.1e\n", worst);
}

/// What a straight element's twist moves by is as good relative to itself, not to the element.
TEST(HelixIntegrals, NearlyStraightElementsKeepTheirTwist) {
  const double length = 0.02;
  const Vector3 w(1e-4, 2e-4, -3e-4);
  HelixIntegrals integrals;
  integrals.set(length, w);
  const LineForce none{Vector3::Zero(), Matrix3::Zero(), Matrix3::Zero(), 0.0};
  const double expected = by_quadrature(length, w, Vector3::Zero(), none).moments.P_P(0, 0);
  EXPECT_NEAR(integrals.moments().P_P(0, 0), expected, 1e-12 * expected);
}

}  // namespace
}  // namespace tresse::rods::detail
