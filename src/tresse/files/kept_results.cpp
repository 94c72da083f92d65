#include <tresse/files/kept_results.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <tresse/files/atomic_file.hpp>

namespace tresse::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "tresse kept result 1\n";
constexpr std::string_view ending = ".kept";
constexpr std::string_view unfinished = ".part";

struct Keeper {
  ResultKeeping keeping;
  std::string maker;  ///< empty: not asked yet

  /// Of the maker and the input.
  std::string key(std::string_view input) {
    if (maker.empty()) maker = keeping.maker ? keeping.maker() : std::string("nobody");
    std::string out = maker;
    out += '\0';
    out += input;
    return out;
  }
};

Keeper& keeper() {
  static Keeper out;
  return out;
}

void append_sized(std::string& out, std::string_view bytes) {
  std::array<char, sizeof(std::uint64_t)> size;
  const std::uint64_t count = bytes.size();
  std::memcpy(size.data(), &count, size.size());
  out.append(size.data(), size.size());
  out += bytes;
}

/// The next part of `from`, which loses it.
std::optional<std::string_view> take_sized(std::string_view& from) {
  std::uint64_t size = 0;
  if (from.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, from.data(), sizeof size);
  from.remove_prefix(sizeof size);
  if (from.size() < size) return std::nullopt;
  const std::string_view out = from.substr(0, size);
  from.remove_prefix(size);
  return out;
}

/// The file of a key; others may bear the same name, and then take its place.
fs::path place_of(const fs::path& folder, std::string_view key) {
  return folder / fmt::format("{:08x}-{}{}", crc32(key), key.size(), ending);
}

std::optional<std::string> result_in(std::string_view file, std::string_view key) {
  std::uint32_t checksum = 0;
  if (file.size() < head.size() + sizeof checksum || !file.starts_with(head)) return std::nullopt;
  std::memcpy(&checksum, file.data() + file.size() - sizeof checksum, sizeof checksum);
  file.remove_suffix(sizeof checksum);
  if (crc32(file) != checksum) return std::nullopt;
  file.remove_prefix(head.size());
  if (take_sized(file) != key) return std::nullopt;
  const std::optional<std::string_view> out = take_sized(file);
  if (!out || !file.empty()) return std::nullopt;
  return std::string(*out);
}

/// Removes what was used longest ago until the rest is within bounds, files that a killed process left among it.
void trim(const ResultKeeping& keeping) {
  struct Kept {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path file;
  };
  std::vector<Kept> all;
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(keeping.folder, error), end; entry != end; entry.increment(error)) {
    const std::string kind = entry->path().extension().string();
    if (error || (kind != ending && kind != unfinished)) continue;
    std::error_code gone;  // another process may have removed it
    const Kept one{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone || !entry->is_regular_file(gone)) continue;
    all.push_back(one);
    bytes += one.bytes;
  }
  std::ranges::sort(all, std::ranges::greater{}, &Kept::used);
  for (; !all.empty() && (bytes > keeping.most_bytes || all.size() > keeping.most_files); all.pop_back()) {
    fs::remove(all.back().file, error);
    bytes -= all.back().bytes;
  }
}

void write(const fs::path& file, std::string_view bytes) {
  // Two processes, or machines, that write the same file do so under different names.
  const auto now = std::chrono::system_clock::now();
  const fs::path temporary =
      file.string() + fmt::format("-{}-{:x}{}", ::getpid(), now.time_since_epoch().count(), unfinished);
  std::error_code error;
  try {
    AppendFile out = AppendFile::create(temporary);
    out.append(bytes);
    out.flush();
    fs::rename(temporary, file);
  } catch (const std::exception&) {
    fs::remove(temporary, error);
    throw;
  }
}

}  // namespace

void keep_results(ResultKeeping keeping) { keeper() = {std::move(keeping), {}}; }

std::optional<std::string> kept_result(std::string_view input) {
  const ResultKeeping& keeping = keeper().keeping;
  if (keeping.folder.empty()) return std::nullopt;
  try {
    const std::string key = keeper().key(input);
    const fs::path file = place_of(keeping.folder, key);
    std::error_code error;
    if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > keeping.most_bytes) return std::nullopt;
    std::optional<std::string> out = result_in(read_file(file), key);
    if (out) fs::last_write_time(file, fs::file_time_type::clock::now(), error);
    return out;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

void keep_result(std::string_view input, std::string_view result) {
  const ResultKeeping& keeping = keeper().keeping;
  if (keeping.folder.empty() || input.size() + result.size() > keeping.most_bytes / 2) return;
  try {
    const std::string key = keeper().key(input);
    std::string bytes(head);
    append_sized(bytes, key);
    append_sized(bytes, result);
    const std::uint32_t checksum = crc32(bytes);
    std::array<char, sizeof checksum> end;
    std::memcpy(end.data(), &checksum, end.size());
    bytes.append(end.data(), end.size());
    fs::create_directories(keeping.folder);
    write(place_of(keeping.folder, key), bytes);
    trim(keeping);
  } catch (const std::runtime_error&) {
    return;
  }
}

}  // namespace tresse::files
