#include <tresse/base/words.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tresse {
namespace {

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

}  // namespace
}  // namespace tresse
