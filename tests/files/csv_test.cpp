#include <tresse/files/csv.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include <tresse/base/errors.hpp>

#include "support/folder_test.hpp"

namespace tresse::files {
namespace TRESSE_TEST_FILE {

using namespace test;

class Csv : public FolderTest {};

std::string printed(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

TEST(CsvRow, gives_back_what_was_appended) {
  const std::vector<std::string> texts{"", "bar", "a,b", "say \"no\"", "\"", " ", ",\","};
  std::string line;
  for (const std::string& text : texts) {
    if (&text != texts.data()) line += ',';
    append_text(line, text);
  }
  EXPECT_EQ(row_fields(line), texts);
  EXPECT_EQ(row_fields(""), std::vector<std::string>{""});
  EXPECT_EQ(row_fields("0,5;\"a;b\";", ';'), (std::vector<std::string>{"0,5", "a;b", ""}));
}

TEST(CsvNumber, reads_as_printf_writes_it) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof(value));
    if (i % 2 == 1) value = static_cast<double>(bits % 100000) * 1e-3;
    if (!std::isfinite(value)) continue;
    char expected[40];
    std::snprintf(expected, sizeof(expected), "%.17g", value);
    ASSERT_EQ(printed(value), expected);
    ASSERT_EQ(std::strtod(printed(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(printed(0.0), "0");
  EXPECT_EQ(printed(-0.0), "-0");
  EXPECT_EQ(printed(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(printed(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(printed(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST_F(Csv, length_of_rows_finds_the_end_of_a_row_and_names_what_is_wrong) {
  const auto file = folder / "a.csv";
  std::string text = "x,y\n";
  std::vector<std::size_t> ends = {text.size()};
  for (int i = 0; i < 200000; ++i) {  // over a megabyte: more than one block
    text += std::to_string(i) + "," + std::to_string(i % 7) + "\n";
    ends.push_back(text.size());
  }
  put_bytes(file, text + "unfinished");
  for (const std::size_t rows : {0, 1, 2, 117000, 200000}) EXPECT_EQ(length_of_rows(file, "x,y\n", rows), ends[rows]);
  EXPECT_EQ(message_of<InvalidInput>([&] { length_of_rows(file, "x,y\n", 200001); }),
            file.string() + ": 200000 rows, expected at least 200001");
  EXPECT_EQ(message_of<InvalidInput>([&] { length_of_rows(file, "x,z\n", 1); }),
            file.string() + ": its first line is not 'x,z'");
  EXPECT_EQ(message_of<InvalidInput>([&] { length_of_rows(folder / "b.csv", "x,y\n", 1); }),
            (folder / "b.csv").string() + ": No such file or directory; expected a table");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::files
