#include <tresse/files/hdf5.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <tresse/base/errors.hpp>

#include "support/folder_test.hpp"

namespace tresse::files {
namespace TRESSE_TEST_FILE {

using namespace test;
namespace fs = std::filesystem;

class Hdf5 : public FolderTest {};

std::vector<double> awkward_numbers() {
  return {0.0,
          -0.0,
          1.0 / 3.0,
          5e-324,
          -1.7976931348623157e308,
          std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN(),
          0.1};
}

void write_sample(Hdf5Writer& writer) {
  const std::vector<double> numbers = awkward_numbers();
  writer.write("group/inner/numbers", numbers.data(), {2, 4});
  std::vector<double> rows(3000);
  std::iota(rows.begin(), rows.end(), 0.5);
  writer.create<double>("rows", {10, 100, 3}, {.chunk = {4, 100, 3}, .gzip = 1});
  writer.write_rows("rows", 0, 4, rows.data());
  writer.write_rows("rows", 4, 6, rows.data() + 1200);
  writer.write<std::int32_t>("empty", nullptr, {0, 3});
  writer.write<std::int64_t>("integers", {-1, std::int64_t{1} << 60U});
  writer.write_scalar<std::uint64_t>("hash", ~std::uint64_t{0});
  writer.write_string("text", "fibres \u00e9\nsecond line");
  writer.write_string("nothing", "");
  writer.write_strings("names", {"comb", "", "support"});
  writer.attribute("rows", "unit", "m");
  writer.attribute("/", "version", "1.2");
  writer.attribute("rows", "scale", 2.5);
}

void check_sample(const fs::path& file) {
  const Hdf5Reader reader(file);
  const auto numbers = reader.read<double>("group/inner/numbers", {2, 4});
  const auto expected = awkward_numbers();
  EXPECT_EQ(std::memcmp(numbers.data(), expected.data(), 8 * sizeof(double)), 0);
  const auto rows = reader.read_rows<double>("rows", 3, 2);
  ASSERT_EQ(rows.size(), 600U);
  EXPECT_EQ(rows.front(), 900.5);
  EXPECT_EQ(rows.back(), 1499.5);
  EXPECT_EQ(reader.shape("empty"), (Shape{0, 3}));
  EXPECT_TRUE(reader.read<std::int32_t>("empty").empty());
  EXPECT_EQ(reader.read<std::int64_t>("integers")[1], std::int64_t{1} << 60U);
  EXPECT_EQ(reader.read_scalar<std::uint64_t>("hash"), ~std::uint64_t{0});
  EXPECT_EQ(reader.read_string("text"), "fibres \u00e9\nsecond line");
  EXPECT_EQ(reader.read_string("nothing"), "");
  EXPECT_EQ(reader.read_strings("names"), (std::vector<std::string>{"comb", "", "support"}));
  EXPECT_EQ(reader.string_attribute("rows", "unit"), "m");
  EXPECT_EQ(reader.string_attribute("/", "version"), "1.2");
  EXPECT_FALSE(reader.has_attribute("rows", "nothing"));
  EXPECT_TRUE(reader.contains("group/inner"));
  EXPECT_FALSE(reader.contains("group/other/numbers"));
  EXPECT_EQ(reader.children("group"), std::vector<std::string>{"inner"});
}

TEST_F(Hdf5, gives_back_what_was_written_bit_for_bit) {
  Hdf5Writer writer(folder / "a.h5");
  write_sample(writer);
  writer.close();
  check_sample(folder / "a.h5");
}

TEST_F(Hdf5, same_calls_leave_the_same_bytes) {
  for (const char* name : {"a.h5", "b.h5"}) {
    Hdf5Writer writer(folder / name);
    write_sample(writer);
    writer.close();
    sleep(name[0] == 'a' ? 1 : 0);  // a stored time would differ
  }
  EXPECT_EQ(bytes_of(folder / "a.h5"), bytes_of(folder / "b.h5"));
}

TEST_F(Hdf5, messages_name_file_and_dataset_on_one_line) {
  const fs::path file = folder / "a.h5";
  EXPECT_EQ(message_of<InvalidInput>([&] { Hdf5Reader reader(file); }),
            file.string() + ": No such file or directory; expected an HDF5 file");
  EXPECT_EQ(message_of<InvalidInput>([&] { Hdf5Reader reader(folder); }),
            folder.string() + ": a folder; expected an HDF5 file");
  Hdf5Writer writer(file);
  write_sample(writer);
  writer.close();
  const Hdf5Reader reader(file);
  const std::string start = file.string() + ": dataset '";
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read<double>("none"); }), start + "none': missing");
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read<double>("group"); }),
            start + "group': not a dataset, or damaged");
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read<double>("text"); }), start + "text': expected numbers");
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read_string("rows"); }), start + "rows': expected text");
  EXPECT_EQ(message_of<InvalidInput>([&] {
              reader.read<double>("rows", {10, 3});
            }),
            start + "rows': shape (10, 100, 3), expected (10, 3)");
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read_scalar<double>("integers"); }),
            start + "integers': 2 values, expected one");
  EXPECT_EQ(message_of<InvalidInput>([&] { reader.read_rows<double>("rows", 9, 2); }),
            start + "rows': shape (10, 100, 3) has no rows 9 to 11");
  EXPECT_EQ(message_of<SystemFailure>([&] { Hdf5Writer nowhere(folder / "none" / "a.h5"); }),
            (folder / "none" / "a.h5").string() + ": cannot write '/': No such file or directory");
}

TEST_F(Hdf5, damaged_files_are_refused_or_read_never_more) {
  const fs::path file = folder / "a.h5";
  Hdf5Writer writer(file);
  write_sample(writer);
  writer.close();
  const std::string good = bytes_of(file);
  const auto read_all = [&] {
    const Hdf5Reader reader(file);
    for (const char* name : {"group/inner/numbers", "rows", "empty", "integers"}) reader.read<double>(name);
    reader.read_strings("names");
    reader.string_attribute("rows", "unit");
  };
  for (std::size_t size = 0; size < good.size(); size += 1 + good.size() / 97) {
    put_bytes(file, good.substr(0, size));
    EXPECT_THROW(read_all(), InvalidInput) << "cut at " << size;
  }
  test::expect_damage_told<InvalidInput>(file, good, 7, read_all);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::files
