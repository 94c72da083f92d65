#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include <tresse/base/local_memory.hpp>

namespace tresse {
namespace TRESSE_TEST_FILE {

/// Whether the array stands within the object.
template <std::size_t size>
bool is_own(const LocalMemory<size>& memory, std::span<const double> array) {
  const auto* begin = reinterpret_cast<const std::byte*>(&memory);
  const auto* first = reinterpret_cast<const std::byte*>(array.data());
  return first >= begin && first + array.size_bytes() <= begin + sizeof(memory);
}

TEST(LocalMemory, ArraysStandInItUntilItIsFullAndOnTheHeapThen) {
  LocalMemory<1024> memory;
  std::vector<std::span<double>> arrays;
  for (const std::size_t count : {5, 60, 100, 1000}) {
    const std::span<double> array = memory.array<double>(count);
    ASSERT_EQ(array.size(), count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U);
    std::iota(array.begin(), array.end(), static_cast<double>(count));
    arrays.push_back(array);
  }
  EXPECT_TRUE(is_own(memory, arrays[0]));
  EXPECT_TRUE(is_own(memory, arrays[1]));
  EXPECT_FALSE(is_own(memory, arrays[2]));
  EXPECT_FALSE(is_own(memory, arrays[3]));
  // None was laid over another.
  for (const std::span<double> array : arrays) {
    for (std::size_t i = 0; i < array.size(); ++i) EXPECT_EQ(array[i], static_cast<double>(array.size() + i));
  }
}

TEST(LocalMemory, ContainersGrowInItAndBeyond) {
  LocalMemory<256> memory;
  std::pmr::vector<double> numbers(memory.resource());
  numbers.reserve(16);
  EXPECT_TRUE(is_own(memory, numbers));
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  EXPECT_EQ(numbers.back(), 999.0);
  EXPECT_EQ(numbers.front(), 0.0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
