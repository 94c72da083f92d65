#include <tresse/friction/problem.hpp>

#include <gtest/gtest.h>

namespace tresse::friction {
namespace TRESSE_TEST_FILE {

/// No memory is taken for the entries.
TEST(FactoredProblem, rows_beyond_two_to_the_31_have_their_place) {
  constexpr int columns = 1 << 21;
  std::vector<std::array<ContactRows, 2>> contacts(1000);
  for (auto& sides : contacts) {
    sides[0] = {.body = 0, .columns = columns, .offset = 0};
    sides[1] = {.body = 1, .columns = columns, .offset = 0};
  }
  contacts[7][1].body = -1;  // prescribed: takes none
  const std::ptrdiff_t all = lay_out_rows(contacts);
  EXPECT_EQ(all, std::ptrdiff_t{3} * columns * 1999);
  std::ptrdiff_t next = 0;
  for (const auto& sides : contacts) {
    for (const ContactRows& side : sides) {
      if (side.body < 0) continue;
      EXPECT_EQ(side.offset, next);
      next = side.offset + std::ptrdiff_t{3} * side.columns;
    }
  }
  EXPECT_EQ(next, all);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::friction
