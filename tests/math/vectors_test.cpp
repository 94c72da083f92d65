#include <gtest/gtest.h>

#include <limits>

#include <tresse/math/vectors.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

TEST(SafeNorm, neither_overflows_nor_underflows) {
  for (const double size : {1e-300, 1e-160, 1e-3, 1.0, 1e160, 1e300}) {
    const Vector3 v(3.0 * size, 0.0, -4.0 * size);
    EXPECT_NEAR(safe_norm(v) / size, 5.0, 1e-14);
    EXPECT_NEAR((safe_normalized(v) - Vector3(0.6, 0.0, -0.8)).norm(), 0.0, 1e-15);
  }
  EXPECT_EQ(safe_norm(Vector3::Zero()), 0.0);
  EXPECT_EQ(safe_normalized(Vector3::Zero()), Vector3(Vector3::Zero()));
}

TEST(SafeNorm, of_what_is_not_finite_is_not_finite) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(safe_norm(Vector3(infinite, 0.0, 1.0))));
  EXPECT_FALSE(std::isfinite(safe_norm(Vector3(0.0, nan, 1.0))));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
