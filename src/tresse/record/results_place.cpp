#include <tresse/record/results_place.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

namespace tresse::record {
namespace {

namespace fs = std::filesystem;

using Files = std::span<const char* const>;

constexpr std::size_t most_folders = 10'000;  // that are looked at

/// The first that is there, or nothing.
fs::path first_of(const fs::path& folder, Files files) {
  std::error_code error;
  const auto found = std::ranges::find_if(files, [&](const char* name) { return fs::exists(folder / name, error); });
  return found == files.end() ? fs::path() : folder / *found;
}

/// Names of the folders in a folder, in order; with `files`, of those that hold one.
std::vector<std::string> folders_in(const fs::path& folder, Files files) {
  std::vector<std::string> out;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end && seen < most_folders; entry.increment(error), ++seen) {
    std::error_code unknown;
    if (entry->is_directory(unknown) && (files.empty() || !first_of(entry->path(), files).empty()))
      out.push_back(entry->path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

[[noreturn]] void refuse_missing(const fs::path& place) {
  const fs::path path = place.has_filename() ? place : place.parent_path();
  const std::string near = nearest_word(path.filename().string(), folders_in(path.parent_path(), {}));
  throw InvalidInput(
      fmt::format("{}: no such folder; expected that of a run{}", place.string(),
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", (path.parent_path() / near).string())));
}

[[noreturn]] void refuse_file(const fs::path& place, Files files) {
  const std::string name = place.string();
  require(place.extension() != ".toml", [&] {
    return fmt::format("{}: is a scene, not what a run left; tresse run {} -o out makes results, in the folder out",
                       name, name);
  });
  const fs::path folder = fs::absolute(place).parent_path();
  const bool own = !first_of(folder, files).empty();
  throw InvalidInput(fmt::format("{}: is a file; expected the folder of a run{}", name,
                                 own ? fmt::format(", here {}", folder.string()) : std::string()));
}

/// What a folder holds where it holds no results.
std::string instead(const fs::path& folder, Files files) {
  std::error_code error;
  if (fs::exists(folder / "sweep.csv", error))
    return fmt::format("; it holds a sweep, each run in a folder such as {}", (folder / "case-000").string());
  const std::vector<std::string> runs = folders_in(folder, files);
  if (!runs.empty())
    return fmt::format("; {} in it holds one{}", (folder / runs.front()).string(),
                       runs.size() > 1
                           ? fmt::format(", and {} more", counted(static_cast<std::int64_t>(runs.size()) - 1, "folder"))
                           : "");
  if (fs::exists(folder / "steps.csv", error))
    return "; its tables are there, but no frame is written yet, or its frames were removed";
  if (fs::exists(folder / "scene.toml", error))
    return fmt::format("; it holds a scene.toml but no results yet: tresse run {} -o out makes them",
                       (folder / "scene.toml").string());
  return fs::is_empty(folder, error) ? "; the folder is empty" : "";
}

}  // namespace

fs::path find_results(const fs::path& place, std::span<const char* const> files) {
  std::error_code error;
  if (!fs::exists(place, error)) refuse_missing(place);
  if (!fs::is_directory(place, error)) refuse_file(place, files);
  fs::path found = first_of(place, files);
  if (found.empty())
    throw InvalidInput(fmt::format("{}: no such file; expected the folder of a run{}", (place / files.back()).string(),
                                   instead(place, files)));
  return found;
}

}  // namespace tresse::record
