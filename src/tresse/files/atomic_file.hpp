#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

/// Files that survive a kill at any moment: replaced whole, or only ever appended to. Refusals throw SystemFailure with
/// one line.
namespace tresse::files {

/// A new file on its way: written under another name beside it, it takes its place by commit(). A reader sees the old
/// file or the new one, never a part. Without commit(), or when that throws, the old one stands and nothing is left.
class Replacement {
 public:
  /// Where `file` is a link, what it points to is replaced. @throws InvalidInput for a folder or a device.
  explicit Replacement(std::filesystem::path file);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::filesystem::path& file() const { return file_; }            ///< as it was named
  const std::filesystem::path& temporary() const { return temporary_; }  ///< to be written to and closed
  void commit();                                                         ///< to the disk, then in place
  void rename();                                                         ///< in place; the disk gets it in time

 private:
  std::filesystem::path file_, target_, temporary_;
  bool done_ = false;
};

/// The other name: `file` and ".tmp".
std::filesystem::path temporary_name(const std::filesystem::path& file);

/// Replaces `file` by `bytes`. A device or a pipe is written to as it is.
void write_atomically(const std::filesystem::path& file, std::string_view bytes);

/// The whole file. @throws InvalidInput, with what was `expected`, when there is no regular one; SystemFailure when
/// reading fails.
std::string read_file(const std::filesystem::path& file, const char* expected = "a file");

/// Removes a file if it is there.
void remove_file(const std::filesystem::path& file);

/// A file that grows at its end, through a buffer that is handed to the system when 64 KiB are full or a second has
/// passed. Only close() says that all of it is there.
class AppendFile {
 public:
  AppendFile() = default;
  /// New and empty, replacing `file`.
  static AppendFile create(const std::filesystem::path& file);
  /// The same under its other name.
  static AppendFile create(const Replacement& place);
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
  void close();                                                       ///< likewise; nothing can be appended afterwards

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
  explicit FolderLock(std::filesystem::path folder);
  ~FolderLock();
  /// @throws SystemFailure when another folder bears the name now, or none: what is there is not ours to replace.
  void check() const;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

/// CRC-32 (IEEE 802.3) of `bytes`, continuing from `crc`.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);

}  // namespace tresse::files
