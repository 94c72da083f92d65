#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

TEST(GaussLegendre, ExactForPolynomialsOfDegreeTwiceTheirPointsLessOne) {
  for (int n = 1; n <= 64; ++n) {
    const GaussRule& rule = gauss_legendre(n);
    ASSERT_EQ(rule.nodes.size(), static_cast<std::size_t>(n));
    for (int degree = 0; degree < 2 * n; ++degree) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += rule.weights[i] * std::pow(rule.nodes[i], degree);
      EXPECT_NEAR(sum * (degree + 1), 1.0, 1e-14 * (1 + degree)) << n << " points, degree " << degree;
    }
    double next = 0.0;
    for (int i = 0; i < n; ++i) next += rule.weights[i] * std::pow(rule.nodes[i], 2 * n);
    if (n < 12) {
      EXPECT_GT(std::abs(next * (2 * n + 1) - 1.0), 1e-14) << n;
    }
  }
}

TEST(GaussLegendre, SymmetricAscendingPositive) {
  for (int n = 1; n <= 64; ++n) {
    const GaussRule& rule = gauss_legendre(n);
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(rule.nodes[i] + rule.nodes[n - 1 - i], 1.0, 1e-16 * 4);
      EXPECT_NEAR(rule.weights[i], rule.weights[n - 1 - i], 1e-16);
      EXPECT_GT(rule.weights[i], 0.0);
      if (i > 0) {
        EXPECT_GT(rule.nodes[i], rule.nodes[i - 1]);
      }
    }
  }
}

TEST(GaussLegendre, KnownRuleOfThree) {
  const GaussRule& rule = gauss_legendre(3);
  EXPECT_DOUBLE_EQ(rule.nodes[0], 0.5 - 0.5 * std::sqrt(0.6));
  EXPECT_DOUBLE_EQ(rule.nodes[1], 0.5);
  EXPECT_DOUBLE_EQ(rule.weights[0], 5.0 / 18.0);
  EXPECT_DOUBLE_EQ(rule.weights[1], 8.0 / 18.0);
}

TEST(GaussLegendre, RefusesOtherCounts) {
  for (const int n : {-1, 0, 65}) {
    try {
      gauss_legendre(n);
      FAIL();
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find("[1, 64]"), std::string::npos);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
