#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/files/atomic_file.hpp>

namespace tresse::exporters::detail {

/// A file that is written piece by piece and appears whole with finish(); without it nothing is left.
class StagedFile {
 public:
  explicit StagedFile(std::filesystem::path path) : place_(std::move(path)), file_(files::AppendFile::create(place_)) {}

  void append(std::string_view bytes) { file_.append(bytes); }
  std::uint64_t length() const { return file_.length(); }
  void finish();

 private:
  files::Replacement place_;
  files::AppendFile file_;
};

/// Texts that come frame by frame and are wanted channel by channel: kept in a file beside `output` meanwhile.
class Spool {
 public:
  Spool(const std::filesystem::path& output, std::size_t channels);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void append(std::size_t channel, std::string_view bytes);
  bool empty(std::size_t channel) const { return chunks_[channel].empty(); }
  /// What one channel was given, in order. Nothing can be appended afterwards.
  void copy(std::size_t channel, StagedFile& into);

 private:
  struct Chunk {
    std::uint64_t begin;
    std::uint64_t size;
  };
  std::filesystem::path path_;
  files::AppendFile file_;
  std::ifstream reader_;
  std::vector<std::vector<Chunk>> chunks_;
};

}  // namespace tresse::exporters::detail
