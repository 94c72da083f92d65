#include <tresse/io/atomic_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/base/log.hpp>
#include <tresse/io/regular_file.hpp>

namespace tresse::io {
namespace {

constexpr std::size_t buffer_limit = 64U << 10U;
constexpr double flush_interval = 1.0;  // s

[[noreturn]] void fail(const std::filesystem::path& file, const char* doing) {
  throw SystemFailure(fmt::format("{}: cannot {}: {}", file.string(), doing, std::strerror(errno)));
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void write_all(int descriptor, const std::filesystem::path& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Closes a descriptor at the end of a scope.
class Closer {
 public:
  explicit Closer(int of) : descriptor(of) {}
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;
  ~Closer() {
    if (descriptor >= 0) ::close(descriptor);
  }
  const int descriptor;
};

void sync_to_disk(int descriptor, const std::filesystem::path& file) {
  // EINVAL, EROFS: the file system has nothing to sync.
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail(file, "write");
}

/// True for /dev/stdout, whatever stands behind it.
bool is_standard_output(const std::filesystem::path& file) {
  struct stat named {};
  struct stat output {};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 && named.st_dev == output.st_dev &&
         named.st_ino == output.st_ino;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

std::filesystem::path temporary_name(const std::filesystem::path& file) { return file.string() + ".tmp"; }

void put_in_place(const std::filesystem::path& file) {
  const std::filesystem::path temporary = temporary_name(file);
  {
    const Closer open{::open(temporary.c_str(), O_RDONLY | O_CLOEXEC)};
    if (open.descriptor < 0) fail(temporary, "open");
    sync_to_disk(open.descriptor, temporary);
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) fail(file, "replace");
  const Closer folder{::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.descriptor >= 0) ::fsync(folder.descriptor);  // some file systems cannot sync a folder: the rename stands
}

void write_atomically(const std::filesystem::path& file, std::string_view bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (is_standard_output(file)) {
    write_all(STDOUT_FILENO, file, bytes);  // where it stands: more may come
    return;
  }
  if (fs::is_other(fs::status(file, error))) {
    // A device or a pipe cannot be replaced.
    const Closer open{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (open.descriptor < 0) fail(file, "open");
    write_all(open.descriptor, file, bytes);
    return;
  }
  // What a link points to is replaced, not the link.
  fs::path target = fs::is_symlink(file, error) ? fs::weakly_canonical(file, error) : file;
  if (target.empty()) target = file;
  const fs::path temporary = temporary_name(target);
  try {
    {
      const Closer open{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
      if (open.descriptor < 0) fail(file, "create");
      write_all(open.descriptor, file, bytes);
    }
    put_in_place(target);
  } catch (const SystemFailure&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string read_file(const std::filesystem::path& file, const char* expected) {
  require_regular_file(file, expected);
  const Closer open{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (open.descriptor < 0)
    throw InvalidInput(fmt::format("{}: {}; expected {}", file.string(), std::strerror(errno), expected));
  std::string bytes;
  std::array<char, 1U << 16U> block;
  for (;;) {
    const ssize_t count = ::read(open.descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(file, "read");
    if (count == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
  }
}

void remove_file(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) fail(file, "remove");
}

AppendFile::AppendFile(std::filesystem::path path, int descriptor, std::uint64_t length)
    : path_(std::move(path)), descriptor_(descriptor), written_(length), last_flush_(now()) {
  buffer_.reserve(2 * buffer_limit);
}

AppendFile AppendFile::create(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file, "create");
  return {file, descriptor, 0};
}

AppendFile AppendFile::reopen(const std::filesystem::path& file, std::uint64_t length) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail(file, "open");
  AppendFile out(file, descriptor, length);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(file, "read");
  if (static_cast<std::uint64_t>(status.st_size) < length) {
    throw InvalidInput(fmt::format("{}: {} bytes, expected at least {}", file.string(), status.st_size, length));
  }
  if (::ftruncate(descriptor, static_cast<off_t>(length)) != 0) fail(file, "cut");
  if (::lseek(descriptor, 0, SEEK_END) < 0) fail(file, "seek in");
  return out;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept { *this = std::move(other); }

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(written_, other.written_);
  std::swap(last_flush_, other.last_flush_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

void AppendFile::append(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_limit || now() - last_flush_ > flush_interval) flush();
}

void AppendFile::flush() {
  write_all(descriptor_, path_, buffer_);
  written_ += buffer_.size();
  buffer_.clear();
  last_flush_ = now();
}

void AppendFile::sync() {
  flush();
  sync_to_disk(descriptor_, path_);
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(folder, "open");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) {
    ::close(std::exchange(descriptor_, -1));
    throw InvalidInput(
        fmt::format("{}: another run writes here; wait for it or choose another folder", folder.string()));
  }
  log(LogLevel::warning, fmt::format("{}: this file system knows no locks; keep other runs out", folder.string()));
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

namespace {
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Tables for eight bytes at a time.
CrcTables make_crc_tables() {
  constexpr std::uint32_t polynomial = 0xedb88320U;
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0U ? polynomial : 0U);
    tables[0][i] = value;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t k = 1; k < 8; ++k) {
      tables[k][i] = (tables[k - 1][i] >> 8U) ^ tables[0][tables[k - 1][i] & 0xffU];
    }
  }
  return tables;
}
}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  static const CrcTables tables = make_crc_tables();
  crc = ~crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint32_t next = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      const auto byte = static_cast<std::uint8_t>(bytes[k]);
      next ^= tables[7 - k][k < 4 ? byte ^ ((crc >> (8U * k)) & 0xffU) : byte];
    }
    crc = next;
  }
  for (const char c : bytes) crc = (crc >> 8U) ^ tables[0][(crc ^ static_cast<std::uint8_t>(c)) & 0xffU];
  return ~crc;
}

}  // namespace tresse::io
