#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/rods/detail/element_integrals.hpp>
#include <tresse/rods/detail/helix_element.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

#include "rods/rod_cases.hpp"

// Integrals by power series against many Gauss points of the closed forms.
namespace tresse::rods::detail {
namespace TRESSE_TEST_FILE {

struct Sums {
  ElementMoments<3> moments{};
  ElementForce<3> force{};
};

Matrix3 gradient_at(double s, const Vector3& w) {
  return gradient_matrix(helix_point(s, triple(w), helix_stumpff<8>(s, w)));
}

Sums by_quadrature(double length, const Vector3& w, const Vector3& rate, const LineForce<double>& line) {
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
    const Vector3 f = vector(line.constant) + matrix(line.position) * p + matrix(line.rate) * (gradient * rate) -
                      line.density * vector(second);
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

using lanes::lane_of;
Matrix3 lane_of(const Columns<lanes::Doubles>& m, int lane) {
  Matrix3 out;
  for (int k = 0; k < 3; ++k) out.col(k) = lane_of(m[static_cast<std::size_t>(k)], lane);
  return out;
}

/// Of one element, and of four side by side that turn by very different amounts.
TEST(HelixIntegrals, AreThoseOfTheClosedForms) {
  constexpr double tolerance = 1e-13;  // of the largest entry: the series cancel by two digits at a turn of 3
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  const auto random_vector = [&](double scale) { return Vector3(scale * Vector3(u(random), u(random), u(random))); };
  double worst = 0.0;
  const auto expect_close = [&](const auto& found, const auto& expected, double turn) {
    const double error = rod_cases::relative(found, expected);
    EXPECT_LT(error, tolerance) << turn;
    worst = std::max(worst, error);
  };
  constexpr int four = lanes::count;
  // Across where the number of terms changes, X = 0.1, 1, and to the end.
  const std::array<double, 12> turns = {0.0, 1e-9, 1e-3, 0.3, 0.316, 0.317, 0.9, 0.9999, 1.0001, 1.7, 2.5, 2.9999};
  for (std::size_t first = 0; first < turns.size(); ++first) {
    for (int k = 0; k < 20; ++k) {
      std::array<Sums, four> expected;
      std::array<double, four> own_turn{};
      lanes::Doubles lengths{};
      Triple<lanes::Doubles> curvatures{}, rates{};
      LineForce<lanes::Doubles> lines{};
      for (int lane = 0; lane < four; ++lane) {
        // Of one element, then of others.
        const double turn = turns[(first + static_cast<std::size_t>(k % 3 * lane)) % turns.size()];
        own_turn[static_cast<std::size_t>(lane)] = turn;
        const double length = 0.02 * (1.5 + u(random));
        Vector3 w = random_vector(1.0).normalized() * turn / length;
        if (k == 0) w = Vector3(turn / length, 0.0, 0.0);  // twist alone
        const Vector3 rate = random_vector(3.0 / length);
        const LineForce<double> line{triple(random_vector(1.0)),
                                     columns(random_vector(10.0) * random_vector(5.0).transpose()),
                                     columns(random_vector(3.0).asDiagonal()),
                                     0.7,
                                     {},
                                     {},
                                     {}};
        const Sums& own = expected[static_cast<std::size_t>(lane)] = by_quadrature(length, w, rate, line);
        lengths[lane] = length;
        lines.density[lane] = line.density;
        for (int r = 0; r < 3; ++r) {
          const auto at = static_cast<std::size_t>(r);
          curvatures[at][lane] = w[r];
          rates[at][lane] = rate[r];
          lines.constant[at][lane] = line.constant[at];
          for (std::size_t c = 0; c < 3; ++c) {
            lines.position[c][at][lane] = line.position[c][at];
            lines.rate[c][at][lane] = line.rate[c][at];
          }
        }
        HelixIntegrals<double> integrals;
        HelixMoments<double> m;
        HelixForce<double> f;
        integrals.set(length, triple(w));
        integrals.moments(m);
        integrals.force(line, triple(rate), f);
        expect_close(vector(m.p), own.moments.p, turn);
        expect_close(matrix(m.p_p), own.moments.p_p, turn);
        expect_close(matrix(m.P), own.moments.P, turn);
        expect_close(matrix(m.p_cross_P), own.moments.p_cross_P, turn);
        expect_close(matrix(m.P_P), own.moments.P_P, turn);
        expect_close(vector(f.resultant), own.force.resultant, turn);
        expect_close(vector(f.torque), own.force.torque, turn);
        expect_close(vector(f.generalised), own.force.generalised, turn);
      }
      HelixIntegrals<lanes::Doubles> integrals;
      HelixMoments<lanes::Doubles> m;
      HelixForce<lanes::Doubles> f;
      integrals.set(lengths, curvatures);
      integrals.moments(m);
      integrals.force(lines, rates, f);
      Triple<lanes::Doubles> p;
      Columns<lanes::Doubles> P;
      HelixIntegrals<lanes::Doubles> for_gravity;
      for_gravity.set_first(lengths, curvatures);
      for_gravity.first_moments(p, P);
      for (int lane = 0; lane < four; ++lane) {
        const Sums& own = expected[static_cast<std::size_t>(lane)];
        const double turn = own_turn[static_cast<std::size_t>(lane)];
        expect_close(lane_of(m.p, lane), own.moments.p, turn);
        expect_close(lane_of(m.p_p, lane), own.moments.p_p, turn);
        expect_close(lane_of(m.P, lane), own.moments.P, turn);
        expect_close(lane_of(m.p_cross_P, lane), own.moments.p_cross_P, turn);
        expect_close(lane_of(m.P_P, lane), own.moments.P_P, turn);
        expect_close(lane_of(p, lane), own.moments.p, turn);
        expect_close(lane_of(P, lane), own.moments.P, turn);
        expect_close(lane_of(f.resultant, lane), own.force.resultant, turn);
        expect_close(lane_of(f.torque, lane), own.force.torque, turn);
        expect_close(lane_of(f.generalised, lane), own.force.generalised, turn);
      }
    }
  }
  if (rod_cases::printing()) std::printf("integrals of helices by series: %.1e\n", worst);
}

/// What a straight element's twist moves by is as good relative to itself, not to the element.
TEST(HelixIntegrals, NearlyStraightElementsKeepTheirTwist) {
  const double length = 0.02;
  const Vector3 w(1e-4, 2e-4, -3e-4);
  HelixIntegrals<double> integrals;
  integrals.set(length, triple(w));
  HelixMoments<double> m;
  integrals.moments(m);
  const double expected = by_quadrature(length, w, Vector3::Zero(), LineForce<double>{}).moments.P_P(0, 0);
  EXPECT_NEAR(m.P_P[0][0], expected, 1e-12 * expected);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods::detail
