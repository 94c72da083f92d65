#include <tresse/base/words.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tresse {
namespace TRESSE_TEST_FILE {

TEST(NearestWord, IsTheOneOfFewestEdits) {
  const std::vector<std::string> known{"run", "render", "plot", "export"};
  EXPECT_EQ(nearest_word("rnu", known), "run") << "neighbours swapped count as one edit";
  EXPECT_EQ(nearest_word("PLT", known), "plot") << "case does not count";
  EXPECT_EQ(nearest_word("exprot", known), "export");
  EXPECT_EQ(nearest_word("rendering", known), "render") << "with something appended";
}

TEST(NearestWord, OfThoseThatTheWordBeginsTakesTheShortest) {
  const std::vector<std::string> known{"frames", "framing", "frame"};
  EXPECT_EQ(nearest_word("fram", known), "frame");
  EXPECT_EQ(nearest_word("framed", known), "frames") << "a tie goes to the first";
}

TEST(NearestWord, IsNoneWhenAllAreFar) {
  const std::vector<std::string> known{"run", "plot"};
  EXPECT_EQ(nearest_word("quux", known), "");
  EXPECT_EQ(nearest_word("", known), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'r'), known), "");
  EXPECT_EQ(nearest_word("run", {}), "");
}

TEST(Counted, HasAnSUnlessThereIsOne) {
  EXPECT_EQ(counted(0, "strand"), "0 strands");
  EXPECT_EQ(counted(1, "strand"), "1 strand");
  EXPECT_EQ(counted(2, "strand"), "2 strands");
}

TEST(Words, control_characters_are_shown) {
  EXPECT_EQ(one_line("a\x1b[2J\tb\r\nc\x7f"), "a\\x1b[2J\\x09b\\x0d\\nc\\x7f");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m \x9b \xff"),
            "\\xc2\\x9b31m \\x9b \\xff");
  EXPECT_EQ(one_line("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"), "gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line(std::string(1000, 'a'), std::string_view::npos), std::string(1000, 'a'));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
