#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include <tresse/files/atomic_file.hpp>
#include <tresse/observe/frame.hpp>

/// The trajectory while a run writes it: a file that only grows, so that a kill costs no more than the last record.
/// Layout in docs/reference/files.md.
namespace tresse::record {

class TrajectoryLogWriter {
 public:
  /// New, with the layout as its first record.
  static TrajectoryLogWriter create(files::AppendFile file, const observe::TrajectoryLayout& layout);
  static TrajectoryLogWriter create(const std::filesystem::path& file, const observe::TrajectoryLayout& layout) {
    return create(files::AppendFile::create(file), layout);
  }
  /// Cut to its first `length` bytes. @throws InvalidInput when it is shorter, or made for another layout.
  static TrajectoryLogWriter resume(const std::filesystem::path& file, const observe::TrajectoryLayout& layout,
                                    std::uint64_t length);

  void append(const observe::Frame& frame);                ///< its sizes must fit the layout
  std::uint64_t length() const { return file_.length(); }  ///< [bytes]
  void flush() { file_.flush(); }
  void flush_when_due() { file_.append({}); }  ///< so that a reader sees the last frame although no other comes
  void sync() { file_.sync(); }
  void close() { file_.close(); }

 private:
  explicit TrajectoryLogWriter(files::AppendFile file) : file_(std::move(file)) {}
  files::AppendFile file_;
  std::string record_;  ///< kept for its memory
};

/// Whether a log has to end with a whole record. That of a run under way, or killed, need not: what stands after the
/// last whole record is then left out.
enum class LogEnd { whole, open };

/// Reads a log from its beginning, as long as it was when opened. A record that is cut short or whose checksum fails
/// throws InvalidInput.
class TrajectoryLogReader {
 public:
  explicit TrajectoryLogReader(const std::filesystem::path& file, LogEnd end = LogEnd::whole);

  const observe::TrajectoryLayout& layout() const { return layout_; }
  std::uint64_t frame_count() const { return offsets_.size(); }
  std::uint64_t contact_total() const { return contacts_; }    ///< over all frames
  const std::vector<double>& times() const { return times_; }  ///< (frame_count) [s]
  /// Counts the frames that were appended since; an open end stays open. False when the file is shorter than before.
  bool grow();
  /// The next frame; false after the last.
  bool next(observe::Frame& frame);
  /// Any frame; next() goes on after it. index < frame_count
  observe::Frame frame(std::size_t index);

 private:
  void count_records(std::uint64_t begin, LogEnd end);

  std::filesystem::path path_;
  std::ifstream in_;
  observe::TrajectoryLayout layout_;
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> offsets_;  ///< (frames) where their records begin
  std::vector<double> times_;           ///< (frames) [s]
  std::uint64_t contacts_ = 0;
  std::string payload_;
};

}  // namespace tresse::record
