#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

/// Tests that write files.
namespace tresse::test {

/// A folder in memory where the system has one: hundreds of fsync calls then cost nothing.
inline std::filesystem::path scratch() {
  const std::filesystem::path memory = "/dev/shm";
  return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

/// A folder of its own for each test, removed afterwards.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = scratch() / ("tresse_io." + std::string(info->name()) + "." + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Reads `file` with a byte of `good` wrong, every `step` bytes: it may be read, and is refused in one line where it is
/// not.
template <class Error, class Read>
void expect_damage_told(const std::filesystem::path& file, const std::string& good, std::size_t step, Read&& read) {
  for (std::size_t i = 0; i < good.size(); i += step) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x5a);
    put_bytes(file, bad);
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

/// The message of the Error that `call` throws; what came instead otherwise.
template <class Error, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing thrown";
}

}  // namespace tresse::test
