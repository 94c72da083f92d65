#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include <tresse/geometry/material_span.hpp>

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();

TEST(MaterialSpan, TakesAnyNumberAndKeepsTheOrder) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> power(-12.0, 12.0);
  std::uniform_real_distribution<double> share(-0.5, 1.5);
  for (int i = 0; i < 2000; ++i) {
    const MaterialSpan span{std::pow(10.0, power(random)), i % 20 == 0 ? 0.0 : std::pow(10.0, power(random))};
    EXPECT_EQ(span.in_material(span.curve), span.curve > 0.0 ? span.rest : 0.0);
    EXPECT_EQ(span.on_curve(span.rest), span.curve);
    for (const double beyond : {infinite, 2.0 * std::max(span.rest, span.curve)}) {
      EXPECT_EQ(span.in_material(beyond), span.rest);
      EXPECT_EQ(span.on_curve(beyond), span.curve);
    }
    for (const double before : {0.0, -1.0, -infinite, std::nan("")}) {
      EXPECT_EQ(span.in_material(before), 0.0);
      EXPECT_EQ(span.on_curve(before), 0.0);
    }
    double x = share(random), y = share(random);
    if (x > y) std::swap(x, y);
    EXPECT_LE(span.on_curve(x * span.rest), span.on_curve(y * span.rest));
    EXPECT_LE(span.in_material(x * span.curve), span.in_material(y * span.curve));
    if (span.curve == 0.0 || x < 0.0 || x > 1.0) continue;
    EXPECT_NEAR(span.on_curve(x * span.rest), x * span.curve, rounding * span.curve);
    EXPECT_NEAR(span.in_material(span.on_curve(x * span.rest)), x * span.rest, rounding * span.rest);
  }
}

TEST(MaterialSpan, IsNothingWhereNothingStretches) {
  for (const MaterialSpan& span : {MaterialSpan{}, MaterialSpan{0.3, 0.3}}) {
    for (const double s : {0.0, 0.1, 0.1 + 0.2 - 1e-16, 0.29999}) {
      EXPECT_EQ(span.in_material(s), s);
      EXPECT_EQ(span.on_curve(s), s);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
