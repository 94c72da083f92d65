#include <tresse/io/csv.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include <tresse/base/errors.hpp>

#include "io/synthetic_run.hpp"

namespace tresse::io {
namespace {

using namespace synthetic;

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

TEST(CsvRow, holds_the_columns_of_its_header) {
  dynamics::StepReport report;
  report.step = 3;
  report.time = 0.25;
  report.contacts = 7;
  report.iterations = 11;
  report.residual = 0.5;
  report.max_penetration = 1.5;
  report.energies = {2.5, 3.5, 4.5};
  report.work_external = 5.5;
  report.t_detection = 6.5;
  report.t_assembly = 7.5;
  report.t_solve = 8.5;
  report.t_step = 9.5;
  report.obstacles = {{.force = {1, -2, 0.5}, .torque = {9, 9, 9}, .contacts = 4}, {}};
  std::string row;
  append_step_row(row, report);
  EXPECT_EQ(row, "0.25,7,11,0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5\n");
  EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(steps_header.begin(), steps_header.end(), ','));
  row.clear();
  append_force_rows(row, report, {"comb", "\"a,b\""});
  EXPECT_EQ(row, "0.25,comb,1,-2,0.5,4\n0.25,\"a,b\",0,0,0,0\n");
  row.clear();
  append_root_rows(row, 0.25, {{.force = {1, -2, 0.5}, .torque = {9, 8, 7}}, {}}, {"hair,300", "fur,1"});
  EXPECT_EQ(row, "0.25,hair,300,1,-2,0.5,9,8,7\n0.25,fur,1,0,0,0,0,0,0\n");
  row.clear();
  append_text(row, "a,\"b\"");
  EXPECT_EQ(row, "\"a,\"\"b\"\"\"");
}

TEST(CsvRemarks, a_row_quotes_its_message) {
  std::string row;
  append_remark_row(row, {12, 0.5, Trouble::contact_lost, "fibre 1 and 'a, \"b\"': lost"});
  EXPECT_EQ(row, "12,0.5,contact-lost,\"fibre 1 and 'a, \"\"b\"\"': lost\"\n");
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

}  // namespace
}  // namespace tresse::io
