#include <tresse/importers/detail/obj_statements.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace TRESSE_TEST_FILE {

using namespace tresse::importers::detail;

TEST(ObjStatements, join_lines_and_drop_comments) {
  ObjStatements statements("# all\nl 1 2 \\\n3\\\r\n\\\n 4 # tip \\\nv 1.#QNAN 0 0\nl 5#6 7\nl 8 \\");
  std::vector<std::vector<std::string_view>> found;
  std::vector<std::size_t> numbers;
  while (statements.next()) {
    found.push_back(statements.words());
    numbers.push_back(statements.number());
  }
  const std::vector<std::vector<std::string_view>> expected{
      {}, {"l", "1", "2", "3", "4"}, {"v", "1.#QNAN", "0", "0"}, {"l", "5"}, {"l", "8"}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 2, 6, 7, 8}));
}

}  // namespace TRESSE_TEST_FILE
