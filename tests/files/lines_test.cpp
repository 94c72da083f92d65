#include <tresse/files/lines.hpp>

#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace TRESSE_TEST_FILE {

using namespace tresse::files;

TEST(Lines, are_numbered_and_split_whatever_their_ends) {
  Lines lines("one two\r\n\n\t three");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.line(), "one two");
  EXPECT_EQ(lines.words(), (std::vector<std::string_view>{"one", "two"}));
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.words().empty());
  EXPECT_EQ(lines.at(), 10U);
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.words(), std::vector<std::string_view>{"three"});
  EXPECT_EQ(lines.number(), 3U);
  EXPECT_FALSE(lines.next());
  EXPECT_FALSE(Lines("").next());
}

TEST(Lines, end_in_any_of_three_ways_and_begin_behind_a_mark) {
  Lines lines("\xef\xbb\xbfone\rtwo\r\n\rthree");
  std::vector<std::string_view> found;
  while (lines.next()) found.push_back(lines.line());
  EXPECT_EQ(found, (std::vector<std::string_view>{"one", "two", "", "three"}));
  EXPECT_EQ(lines.number(), 4U);
}

TEST(Lines, numbers_are_whole_words_that_fit) {
  EXPECT_EQ(real_in("+1.5e3"), 1500.0);
  EXPECT_EQ(real_in("1e-400"), 0.0);
  EXPECT_EQ(real_in("-4e-310"), -4e-310);
  for (const char* word : {"", "+", "1e400", "-1e400", "1.5x", "0x10", " 1"}) EXPECT_FALSE(real_in(word)) << word;
  EXPECT_EQ(integer_in("-12"), -12);
  for (const char* word : {"", "1.5", "9223372036854775808"}) EXPECT_FALSE(integer_in(word)) << word;
}

}  // namespace TRESSE_TEST_FILE
