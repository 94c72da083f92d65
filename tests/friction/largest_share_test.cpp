#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <tresse/friction/detail/largest_share.hpp>

namespace tresse::friction::detail {
namespace TRESSE_TEST_FILE {

TEST(LargestShare, IsWhatASortWouldTake) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> size(0, 300), value(0, 40);  // many are equal
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values(static_cast<std::size_t>(size(random)));
    for (double& x : values) x = std::exp2(value(random) - 20);
    const double share = round % 3 == 0 ? 1.0 : 0.9;
    const std::size_t most = round % 2 == 0 ? values.size() / 5 : values.size() + 3;
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int i) { return values[static_cast<std::size_t>(i)]; };
    std::sort(order.begin(), order.end(), [&](int i, int j) { return at(i) > at(j) || (at(i) == at(j) && i > j); });
    const double total = std::accumulate(values.begin(), values.end(), 0.0);
    std::size_t count = 0;
    for (double sum = 0.0; count < order.size() && count < most && sum < share * total; ++count)
      sum += at(order[count]);
    order.resize(count);
    EXPECT_EQ(largest_share(values, share, most), order) << round;
  }
}

TEST(LargestShare, IsNothingWithoutAnOrder) {
  std::vector<double> values(200, 1.0);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = std::nan("");
  EXPECT_TRUE(largest_share(values, 0.999, 40).empty());
  EXPECT_EQ(largest_share({1.0, INFINITY, 2.0}, 0.999, 2), std::vector<int>({1}));
  EXPECT_TRUE(largest_share({0.0, 0.0}, 0.999, 2).empty());
  EXPECT_TRUE(largest_share({}, 0.999, 2).empty());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::friction::detail
