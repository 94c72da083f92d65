#include <tresse/files/json.hpp>

#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

namespace tresse::files {
namespace TRESSE_TEST_FILE {

using Json = nlohmann::json;

std::string nested(int depth, const std::string& open, const std::string& close) {
  std::string out;
  for (int i = 0; i < depth; ++i) out += open;
  for (int i = 0; i < depth; ++i) out += close;
  return out;
}

TEST(Json, is_read_down_to_the_limit_and_refused_beyond) {
  EXPECT_FALSE(parse_json<Json>(nested(deepest_json, "[", "]")).is_discarded());
  EXPECT_TRUE(parse_json<Json>(nested(deepest_json + 1, "[", "]")).is_discarded());
  EXPECT_TRUE(parse_json<Json>(nested(1000000, "[", "]")).is_discarded());
  EXPECT_TRUE(parse_json<Json>(nested(1000000, "{\"a\":", "}")).is_discarded());
  EXPECT_TRUE(parse_json<Json>(std::string(1000000, '[')).is_discarded());  // broken as well
}

TEST(Json, brackets_within_texts_are_no_nesting) {
  const std::string brackets(1000, '[');
  const Json read = parse_json<Json>(R"({"a\\": ")" + brackets + R"(\"[", "b": 1})");
  ASSERT_TRUE(read.is_object());
  EXPECT_EQ(read["b"], 1);
}

TEST(Json, many_side_by_side_are_no_nesting) {
  std::string text = "[[]";
  for (int i = 0; i < 1000; ++i) text += ",[]";
  EXPECT_EQ(parse_json<Json>(text + "]").size(), 1001U);
}

TEST(Json, a_file_that_is_not_there_or_no_object_is_an_empty_object) {
  EXPECT_TRUE(read_json_object<Json>("/nowhere/at/all").empty());
  EXPECT_TRUE(read_json_object<Json>("/").empty());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::files
