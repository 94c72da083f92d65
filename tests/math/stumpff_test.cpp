#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include <tresse/math/stumpff.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

constexpr double tolerance = 1e-14;  // a few roundings of c_m(0) = 1/m!

double factorial(int m) { return std::tgamma(m + 1.0); }

/// The defining series in extended precision; cancellation costs e^t, tolerable for t <= 8.
long double defining_series(int m, long double x) {
  long double term = 1.0L;
  for (int k = 2; k <= m; ++k) term /= k;
  long double sum = 0.0L;
  for (int k = 0; k < 80; ++k) {
    sum += term;
    term *= -x / ((2 * k + m + 1) * (2 * k + m + 2));
  }
  return sum;
}

TEST(Stumpff, DefiningSeries) {
  for (double t = 0.0; t < 8.0; t += 0.0137) {
    const auto c = stumpff<9>(t * t);
    const auto few = stumpff<4>(t * t);
    for (int m = 0; m < 9; ++m) {
      const double expected = static_cast<double>(defining_series(m, static_cast<long double>(t) * t));
      ASSERT_NEAR(c[m] * factorial(m), expected * factorial(m), tolerance) << m << " at " << t;
      if (m < 4) {
        ASSERT_NEAR(few[m] * factorial(m), expected * factorial(m), tolerance);
      }
    }
  }
}

TEST(Stumpff, TrigonometryAtLargeArguments) {
  for (double t = 8.0; t < 1e5; t *= 1.37) {
    const auto c = stumpff<6>(t * t);
    const long double exact = t;
    const long double x = exact * exact;
    const long double c2 = (1.0L - std::cos(exact)) / x;
    const long double c3 = (exact - std::sin(exact)) / (x * exact);
    const double phase = 1e-15 * t;  // of the square root of the rounded square
    EXPECT_NEAR(c[0], static_cast<double>(std::cos(exact)), tolerance + phase);
    EXPECT_NEAR(c[1] * t, static_cast<double>(std::sin(exact)), tolerance + phase);
    EXPECT_NEAR(c[2] * t * t, static_cast<double>(c2 * x), tolerance + phase);
    EXPECT_NEAR(c[3], static_cast<double>(c3), tolerance * static_cast<double>(c3) + phase / (t * t * t));
    EXPECT_NEAR(c[4], static_cast<double>((0.5L - c2) / x), tolerance * c[4]);
    EXPECT_NEAR(c[5], static_cast<double>((1.0L / 6.0L - c3) / x), tolerance * c[5]);
  }
}

TEST(Stumpff, AngleWithCorrectionKeepsThePhase) {
  const long double exact = 9876.54321098765432109876L;
  const double angle = static_cast<double>(exact);
  const auto c = stumpff_of_angle<4>(angle, static_cast<double>(exact - angle));
  EXPECT_NEAR(c[0], static_cast<double>(std::cos(exact)), 1e-15);
  EXPECT_NEAR(c[1] * angle, static_cast<double>(std::sin(exact)), 1e-15);
}

TEST(Stumpff, ContinuousAcrossTheSwitch) {
  const auto below = stumpff<9>(stumpff_switch);
  const auto above = stumpff<9>(std::nextafter(stumpff_switch, 100.0));
  for (int m = 0; m < 9; ++m) EXPECT_NEAR(below[m] * factorial(m), above[m] * factorial(m), tolerance) << m;
}

TEST(Stumpff, DerivativeRuleByComplexStep) {
  constexpr double h = 1e-30;
  for (double x = 0.0; x <= stumpff_switch; x += 0.31) {
    std::array<std::complex<double>, 9> c;
    stumpff_series<9>(std::complex<double>(x, h), c);
    for (int m = 0; m + 2 < 9; ++m) {
      const double rule = 0.5 * (m * c[m + 2].real() - c[m + 1].real());
      EXPECT_NEAR(c[m].imag() / h * factorial(m + 1), rule * factorial(m + 1), 10.0 * tolerance) << m << " at " << x;
    }
  }
}

TEST(Stumpff, ZeroIsTheInverseFactorial) {
  const auto c = stumpff<9>(0.0);
  for (int m = 0; m < 9; ++m) EXPECT_DOUBLE_EQ(c[m], 1.0 / factorial(m));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
