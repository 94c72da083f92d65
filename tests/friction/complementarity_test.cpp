#include <tresse/friction/detail/complementarity.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <tresse/friction/coulomb.hpp>

#include "support/coulomb_law.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction::detail;
using tresse::Matrix3;
using tresse::Vector3;

constexpr Complementarity all[] = {Complementarity::alart_curnier, Complementarity::fischer_burmeister,
                                   Complementarity::conic_map};

Vector3 random_vector(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  return {normal(generator), normal(generator), normal(generator)};
}

/// Remainders of the first-order expansion fall as the square of the step wherever the function is smooth; the points
/// drawn are, with probability one.
TEST(Complementarity, derivatives_have_quadratic_taylor_remainders) {
  std::mt19937 generator(3);
  for (const Complementarity function : all)
    for (const double mu : {0.0, 0.01, 0.3, 1.0, 10.0})
      for (int trial = 0; trial < 60; ++trial) {
        const Vector3 r = random_vector(generator), u = random_vector(generator);
        const Vector3 dr = random_vector(generator), du = random_vector(generator);
        const ContactFunction at = evaluate(function, r, u, mu);
        const auto remainder = [&](double h) {
          return (evaluate(function, r + h * dr, u + h * du, mu).value - at.value - h * (at.dr * dr + at.du * du))
              .norm();
        };
        // 1e-4 to 1e-5: a slope of two leaves a hundredth. Rounding: 1e-13.
        const double coarse = remainder(1e-4), fine = remainder(1e-5);
        EXPECT_LE(fine, 0.03 * coarse + 1e-13) << static_cast<int>(function) << " mu " << mu << " trial " << trial;
      }
}

/// A pair (u, r) of each of the three cases, built from the law as written.
TEST(Complementarity, vanishes_where_the_law_holds_and_nowhere_else) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> uniform(0.05, 1.0);
  for (const double mu : {0.0, 0.2, 3.0})
    for (int trial = 0; trial < 100; ++trial) {
      const double angle = 6.28 * uniform(generator), slip = uniform(generator), load = uniform(generator);
      const Vector3 d(0.0, std::cos(angle), std::sin(angle));
      const Vector3 n(1.0, 0.0, 0.0);
      const std::pair<Vector3, Vector3> cases[] = {
          {slip * n + slip * d, Vector3::Zero()},             // open
          {Vector3::Zero(), load * n + 0.9 * mu * load * d},  // stick
          {slip * d, load * n - mu * load * d},               // slide
      };
      for (const auto& [u, r] : cases) {
        ASSERT_LE(tresse_test::coulomb_violation(u, r, mu), 1e-15);
        for (const Complementarity function : {Complementarity::alart_curnier, Complementarity::fischer_burmeister}) {
          // The square root in Fischer-Burmeister's: rounding of |x|^2 + |y|^2 seen beside the smaller of both.
          EXPECT_LE(evaluate(function, r, u, mu).value.norm(), 1e-13) << static_cast<int>(function) << " mu " << mu;
          EXPECT_LE(law_map(function, r, u, mu).norm(), 1e-14);
        }
        const Vector3 shifted = tresse::friction::de_saxce(u, mu);
        EXPECT_LE(evaluate(Complementarity::conic_map, r, shifted, mu).value.norm(), 1e-14);
      }
      const Vector3 r = random_vector(generator), u = random_vector(generator);
      for (const Complementarity function : all)
        EXPECT_GT(evaluate(function, r, u, mu).value.norm(), 1e-3 * law_map(function, r, u, mu).norm());
    }
}

TEST(Complementarity, is_finite_at_its_kinks) {
  for (const Complementarity function : all)
    for (const double mu : {0.0, 0.3})
      for (const Vector3& r : {Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(1, mu, 0)})
        for (const Vector3& u : {Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, -1, 0)}) {
          const ContactFunction at = evaluate(function, r, u, mu);
          EXPECT_TRUE(at.value.allFinite() && at.dr.allFinite() && at.du.allFinite());
        }
}

}  // namespace TRESSE_TEST_FILE
