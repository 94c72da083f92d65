#include <tresse/base/best.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tresse {
namespace TRESSE_TEST_FILE {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Best, a_number_is_better_than_none) {
  EXPECT_TRUE(is_better(1.0, 2.0));
  EXPECT_FALSE(is_better(2.0, 1.0));
  EXPECT_FALSE(is_better(1.0, 1.0));
  EXPECT_TRUE(is_better(1.0, nan));
  EXPECT_TRUE(is_better(infinity, nan));
  EXPECT_FALSE(is_better(nan, 1.0));
  EXPECT_FALSE(is_better(nan, nan));
  EXPECT_FALSE(is_better(nan, infinity));
}

TEST(Best, keeps_the_first_whatever_it_is_and_then_the_least) {
  Best<std::string> best;
  EXPECT_FALSE(best.any());
  EXPECT_EQ(best.error(), infinity);
  EXPECT_TRUE(best.offer(nan, "not a number"));
  EXPECT_EQ(best.candidate(), "not a number");
  EXPECT_FALSE(best.offer(nan, "another"));
  EXPECT_TRUE(best.offer(infinity, "far"));
  EXPECT_TRUE(best.offer(2.0, "near"));
  EXPECT_FALSE(best.offer(nan, "lost"));
  EXPECT_FALSE(best.offer(3.0, "farther"));
  EXPECT_EQ(best.candidate(), "near");
  EXPECT_EQ(best.error(), 2.0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
