#include <tresse/files/atomic_file.hpp>

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
#include <tresse/files/regular_file.hpp>

namespace tresse::files {
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

/// Closes a descriptor at the end of a scope; one that was written to before, by close(), which may still fail.
class Closer {
 public:
  explicit Closer(int opened) : descriptor(opened) {}
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;
  ~Closer() {
    if (descriptor >= 0) ::close(descriptor);
  }
  void close(const std::filesystem::path& file) {
    if (::close(std::exchange(descriptor, -1)) != 0) fail(file, "write");
  }
  int descriptor;
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

Replacement::Replacement(std::filesystem::path file) : file_(std::move(file)) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status found = fs::status(file_, error);
  if (fs::is_directory(found)) throw InvalidInput(fmt::format("{}: is a folder; expected a file", file_.string()));
  if (fs::is_other(found)) throw InvalidInput(fmt::format("{}: is a device; expected a file", file_.string()));
  target_ = fs::is_symlink(file_, error) ? fs::weakly_canonical(file_, error) : file_;
  if (target_.empty()) target_ = file_;
  temporary_ = temporary_name(target_);
}

Replacement::~Replacement() {
  if (!done_) ::unlink(temporary_.c_str());
}

void Replacement::commit() {
  {
    Closer open(::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
    if (open.descriptor < 0) fail(file_, "write");
    sync_to_disk(open.descriptor, file_);
    open.close(file_);
  }
  const std::filesystem::path folder = folder_of(target_);
  Closer open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open.descriptor < 0 && errno != EACCES) fail(folder, "open");  // one may write into folders that one may not read
  rename();
  if (open.descriptor < 0) return;
  sync_to_disk(open.descriptor, folder);
  open.close(folder);
}

void Replacement::rename() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(file_, "replace");
  done_ = true;
}

void write_atomically(const std::filesystem::path& file, std::string_view bytes) {
  if (is_standard_output(file)) {
    write_all(STDOUT_FILENO, file, bytes);  // where it stands: more may come
    return;
  }
  std::error_code error;
  if (std::filesystem::is_other(std::filesystem::status(file, error))) {
    // A device or a pipe cannot be replaced.
    Closer open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (open.descriptor < 0) fail(file, "open");
    write_all(open.descriptor, file, bytes);
    open.close(file);
    return;
  }
  Replacement place(file);
  AppendFile out = AppendFile::create(place);
  out.append(bytes);
  out.close();
  place.commit();
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

namespace {
int create_empty(const std::filesystem::path& file, const std::filesystem::path& told_as) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(told_as, "create");
  return descriptor;
}
}  // namespace

AppendFile AppendFile::create(const std::filesystem::path& file) { return {file, create_empty(file, file), 0}; }

AppendFile AppendFile::create(const Replacement& place) {
  return {place.file(), create_empty(place.temporary(), place.file()), 0};
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
  if (bytes.size() >= buffer_limit) {  // not worth a copy
    flush();
    write_all(descriptor_, path_, bytes);
    written_ += bytes.size();
    return;
  }
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

void AppendFile::close() {
  sync();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "write");
}

FolderLock::FolderLock(std::filesystem::path folder) : folder_(std::move(folder)) {
  Closer open(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open.descriptor < 0) fail(folder_, "open");
  if (::flock(open.descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      throw InvalidInput(
          fmt::format("{}: another run writes here; wait for it or choose another folder", folder_.string()));
    log(LogLevel::warning, fmt::format("{}: this file system knows no locks; keep other runs out", folder_.string()));
  }
  descriptor_ = open.descriptor;
  check();  // it may have been removed in between
  open.descriptor = -1;
}

void FolderLock::check() const {
  struct stat ours {};
  struct stat named {};
  if (::fstat(descriptor_, &ours) != 0 || ::stat(folder_.c_str(), &named) != 0) fail(folder_, "find the folder again");
  if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
    throw SystemFailure(fmt::format("{}: another folder bears this name now; the run stops", folder_.string()));
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

}  // namespace tresse::files
