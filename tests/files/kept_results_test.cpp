#include <tresse/files/kept_results.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tresse/files/atomic_file.hpp>

namespace tresse::files {
namespace TRESSE_TEST_FILE {

namespace fs = std::filesystem;

class KeptResults : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tresse_kept_" + std::to_string(::getpid()));
    keep("one build");
  }
  void TearDown() override {
    keep_results({});
    fs::remove_all(folder_);
  }
  void keep(const std::string& maker) {
    keep_results({.folder = folder_ / "deep", .maker = [maker] { return maker; }});
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_ / "deep")) out.push_back(entry.path());
    return out;
  }
  fs::path folder_;
};

TEST_F(KeptResults, FindsWhatTheSameBuildMadeOfTheSameInput) {
  EXPECT_FALSE(kept_result("in"));
  keep_result("in", std::string("o\0ut", 4));
  EXPECT_EQ(kept_result("in"), std::string("o\0ut", 4));
  EXPECT_FALSE(kept_result("im"));
  keep("another build");
  EXPECT_FALSE(kept_result("in"));
  keep_results({});
  EXPECT_FALSE(kept_result("in"));
}

TEST_F(KeptResults, DamagedAndForeignFilesCountAsNone) {
  keep_result("in", "out");
  ASSERT_EQ(files().size(), 1U);
  const fs::path file = files().front();
  const std::string good = read_file(file);
  std::vector<std::string> bad{"", "\n", "not ours", good + '\0'};
  for (std::size_t i = 0; i < good.size(); ++i) {
    bad.push_back(good.substr(0, i));
    bad.push_back(good);
    bad.back()[i] ^= 1;
  }
  for (const std::string& bytes : bad) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_FALSE(kept_result("in"));
  }
  keep_result("in", "out");
  EXPECT_EQ(kept_result("in"), "out");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(kept_result("in"));
  keep_result("in", "out");
  EXPECT_TRUE(fs::is_directory(file));
  EXPECT_EQ(files().size(), 1U) << "nothing is left over";
}

TEST_F(KeptResults, WhatWasUsedLongestAgoGoesFirst) {
  const std::string result(1000, 'x');
  keep_results({.folder = folder_ / "deep", .maker = {}, .most_bytes = 4500, .most_files = 1000});
  const auto age = [&](const char* input, int hours) {
    keep_result(input, result);
    for (const fs::path& file : files()) {
      const bool fresh = fs::file_time_type::clock::now() - fs::last_write_time(file) < std::chrono::minutes(1);
      if (fresh) fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    }
  };
  age("first", 4);
  age("second", 3);
  age("third", 2);
  std::ofstream(folder_ / "deep/of_a_killed_process.part") << result;
  fs::last_write_time(folder_ / "deep/of_a_killed_process.part",
                      fs::file_time_type::clock::now() - std::chrono::hours(9));
  EXPECT_TRUE(kept_result("first")) << "and is used";
  keep_result("fourth", result);
  EXPECT_TRUE(kept_result("first"));
  EXPECT_TRUE(kept_result("third"));
  EXPECT_TRUE(kept_result("fourth"));
  keep_result("fifth", result);
  EXPECT_FALSE(kept_result("second"));
  EXPECT_EQ(files().size(), 4U);
  keep_result("large", std::string(2300, 'x'));
  EXPECT_FALSE(kept_result("large")) << "would take half the place";
  keep_results({.folder = folder_ / "deep", .maker = {}, .most_files = 2});
  keep_result("sixth", result);
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(KeptResults, WhereNothingCanBeWrittenNothingIsKept) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "deep") << "a file";
  keep_result("in", "out");
  EXPECT_FALSE(kept_result("in"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::files
