#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

/// Files that survive a kill at any moment: replaced whole, or only ever appended to. Refusals throw SystemFailure with
/// one line.
namespace tresse::io {

/// Replaces `file` by `bytes`: a temporary file beside it, fsync, rename. A reader sees the old file or the new one,
/// never a part. A device or a pipe is written to as it is.
void write_atomically(const std::filesystem::path& file, std::string_view bytes);

/// The name that write_atomically uses, and that a caller who writes the temporary file by other means passes to
/// put_in_place().
std::filesystem::path temporary_name(const std::filesystem::path& file);

/// Second half of write_atomically: fsync of temporary_name(file), rename to `file`.
void put_in_place(const std::filesystem::path& file);

/// The whole file. @throws InvalidInput, with what was `expected`, when there is no regular one; SystemFailure when
/// reading fails.
std::string read_file(const std::filesystem::path& file, const char* expected = "a file");

/// Removes a file if it is there.
void remove_file(const std::filesystem::path& file);

/// A file that grows at its end, through a buffer that is handed to the system when 64 KiB are full or a second has
/// passed.
class AppendFile {
 public:
  AppendFile() = default;
  /// New and empty, replacing `file`.
  static AppendFile create(const std::filesystem::path& file);
  /// `file` cut to its first `length` bytes. @throws InvalidInput when it is shorter.
  static AppendFile reopen(const std::filesystem::path& file, std::uint64_t length);
  ~AppendFile();  ///< what was not flushed is dropped
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string_view bytes);
  std::uint64_t length() const { return written_ + buffer_.size(); }  ///< appended so far [bytes]
  void flush();                                                       ///< to the system
  void sync();                                                        ///< to the disk

 private:
  AppendFile(std::filesystem::path path, int descriptor, std::uint64_t length);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  double last_flush_ = 0.0;
  std::string buffer_;
};

/// Held by the one process that writes into a folder; released when the process ends, however it ends.
class FolderLock {
 public:
  /// @throws InvalidInput when another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// CRC-32 (IEEE 802.3) of `bytes`, continuing from `crc`.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);

}  // namespace tresse::io
