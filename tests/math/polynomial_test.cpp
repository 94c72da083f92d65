#include <tresse/math/polynomial.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace TRESSE_TEST_FILE {

using tresse::math::real_roots;

std::array<double, 5> from_roots(const std::vector<double>& roots, double lead) {
  std::array<double, 5> c{lead, 0, 0, 0, 0};
  for (const double root : roots)
    for (int k = 4; k >= 0; --k)
      c[static_cast<std::size_t>(k)] =
          (k > 0 ? c[static_cast<std::size_t>(k - 1)] : 0.0) - root * c[static_cast<std::size_t>(k)];
  return c;
}

double value(const std::array<double, 5>& c, double x) {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

/// |p(x)| a few roundings of its terms: nothing more can be asked of a root.
double rounding(const std::array<double, 5>& c, double x) {
  double sum = 0.0;
  for (int k = 4; k >= 0; --k) sum = sum * std::abs(x) + std::abs(c[static_cast<std::size_t>(k)]);
  return 1e-15 * sum;
}

/// The real roots by another road: Aberth's simultaneous iteration in long double.
std::vector<double> aberth(const std::array<double, 5>& c) {
  using Complex = std::complex<long double>;
  std::array<Complex, 4> z{Complex(0.4L, 0.9L), Complex(-0.65L, 0.72L), Complex(-0.9L, -0.5L), Complex(0.3L, -1.1L)};
  for (int step = 0; step < 400; ++step)
    for (std::size_t i = 0; i < 4; ++i) {
      Complex p = c[4], slope = 0;
      for (int k = 3; k >= 0; --k) {
        slope = slope * z[i] + p;
        p = p * z[i] + Complex(c[static_cast<std::size_t>(k)]);
      }
      Complex sum = 0;
      for (std::size_t j = 0; j < 4; ++j)
        if (j != i) sum += Complex(1) / (z[i] - z[j]);
      if (std::abs(p) > 0) z[i] -= (p / slope) / (Complex(1) - p / slope * sum);
    }
  std::vector<double> real;
  for (const Complex& root : z)
    if (std::abs(root.imag()) < 1e-12L * std::max(1.0L, std::abs(root)))
      real.push_back(static_cast<double>(root.real()));
  std::sort(real.begin(), real.end());
  return real;
}

TEST(Polynomial, lower_degrees_and_the_empty_ones) {
  EXPECT_EQ(real_roots<double>({0, 0, 0, 0, 0}).count, 0);
  EXPECT_EQ(real_roots<double>({3, 0, 0, 0, 0}).count, 0);
  const auto linear = real_roots<double>({-6, 3, 0, 0, 0});
  ASSERT_EQ(linear.count, 1);
  EXPECT_DOUBLE_EQ(linear.value[0], 2.0);
  EXPECT_EQ(real_roots<double>({1, 0, 1, 0, 0}).count, 0);
  const auto quadratic = real_roots<double>({1, -1e8, 1, 0, 0});  // the small root cancels in the school formula
  ASSERT_EQ(quadratic.count, 2);
  EXPECT_NEAR(quadratic.value[0], 1e-8, 1e-23);
}

TEST(Polynomial, touching_roots_count_once) {
  const auto square = real_roots<double>({1, -2, 1, 0, 0});
  ASSERT_EQ(square.count, 1);
  EXPECT_NEAR(square.value[0], 1.0, 1e-8);
  const auto two_pairs = real_roots<double>(from_roots({-1, -1, 2, 2}, 3.0));
  ASSERT_EQ(two_pairs.count, 2);
  EXPECT_NEAR(two_pairs.value[0], -1.0, 1e-7);
  EXPECT_NEAR(two_pairs.value[1], 2.0, 1e-7);
  EXPECT_GE(real_roots<double>(from_roots({1, 1, 1, 1}, 1.0)).count, 1);
}

TEST(Polynomial, scales_without_overflow) {
  const auto far = real_roots<double>({-1e100, 0, 1e-100, 0, 0});
  ASSERT_EQ(far.count, 2);
  EXPECT_NEAR(far.value[1] / 1e100, 1.0, 1e-14);
  const auto tiny_lead = real_roots<double>({-2, 1, 0, 0, 1e-300});
  ASSERT_GE(tiny_lead.count, 1);
  const double nearest = *std::min_element(tiny_lead.begin(), tiny_lead.end(),
                                           [](double a, double b) { return std::abs(a - 2) < std::abs(b - 2); });
  EXPECT_NEAR(nearest, 2.0, 1e-14);
}

TEST(Polynomial, extended_precision_is_used) {
  const auto root = real_roots<long double>({-2, 0, 1, 0, 0});
  ASSERT_EQ(root.count, 2);
  EXPECT_NEAR(static_cast<double>(root.value[1] * root.value[1] - 2.0L), 0.0, 1e-18);
}

RC_GTEST_PROP(Polynomial, separated_roots_are_all_found_to_rounding, ()) {
  const int count = *rc::gen::inRange(1, 5);
  std::vector<double> roots;
  double at = *rc::gen::inRange(-5000, 1000) * 1e-3;
  for (int k = 0; k < count; ++k) {
    roots.push_back(at);
    at += 0.05 + 1e-3 * *rc::gen::inRange(0, 3000);
  }
  const auto c = from_roots(roots, *rc::gen::element(1.0, -3.0, 1e-5, 7e8));
  const auto found = real_roots<double>(c);
  RC_ASSERT(found.count == count);
  for (int k = 0; k < count; ++k) {
    const double x = found.value[static_cast<std::size_t>(k)];
    RC_ASSERT(std::abs(value(c, x)) <= rounding(c, x));
    RC_ASSERT(std::abs(x - roots[static_cast<std::size_t>(k)]) <= 1e-8);
  }
}

RC_GTEST_PROP(Polynomial, agrees_with_simultaneous_iteration, ()) {
  std::array<double, 5> c{};
  for (double& x : c) x = *rc::gen::inRange(-1000, 1001) * 1e-2;
  RC_PRE(std::abs(c[4]) > 0.1);
  const std::vector<double> expected = aberth(c);
  for (std::size_t k = 1; k < expected.size(); ++k) RC_PRE(expected[k] - expected[k - 1] > 1e-5);
  const auto found = real_roots<double>(c);
  RC_ASSERT(found.count == static_cast<int>(expected.size()));
  for (std::size_t k = 0; k < expected.size(); ++k)
    RC_ASSERT(std::abs(found.value[k] - expected[k]) < 1e-9 * (1 + std::abs(expected[k])));
}

}  // namespace TRESSE_TEST_FILE
