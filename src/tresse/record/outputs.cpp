#include <tresse/record/outputs.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/files/hdf5.hpp>

namespace tresse::record {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  // Neither need be there yet.
  return fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error);
}

void try_to_create(const fs::path& file) {
  std::error_code error;
  if (fs::is_other(fs::status(file, error))) return;
  const fs::path folder = file.parent_path();
  if (!folder.empty() && !fs::exists(folder, error))
    throw SystemFailure(fmt::format("{}: cannot create: there is no folder {}", file.string(), folder.string()));
  const files::Replacement place(file);  // removes what is created here
  static_cast<void>(files::AppendFile::create(place));
}

/// Whether a file begins so.
bool begins_with(const fs::path& file, std::string_view wanted) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  std::string found(wanted.size(), '\0');
  const ssize_t count = ::read(descriptor, found.data(), found.size());
  ::close(descriptor);
  return count == static_cast<ssize_t>(wanted.size()) && found == wanted;
}

/// "tresse trajectory" and the like; empty for other files.
std::string format_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  try {
    const files::Hdf5Reader in(file);
    return in.has_attribute("/", "format") ? in.string_attribute("/", "format") : std::string();
  } catch (const InvalidInput&) {
    return {};
  }
}

/// Whether a run or an equilibrium was written to the folder. A version may have added columns.
bool holds_run(const fs::path& folder) {
  constexpr std::array<std::pair<const char*, std::string_view>, 4> texts{{{"steps.csv", "time,contacts,"},
                                                                           {"forces.csv", "time,obstacle,"},
                                                                           {"trajectory.log", "tresse trajectory log"},
                                                                           {"shape.csv", "fibre,s,x,y,z,"}}};
  if (std::any_of(texts.begin(), texts.end(),
                  [&](const auto& text) { return begins_with(folder / text.first, text.second); }))
    return true;
  return format_of(folder / "checkpoint.h5").starts_with("tresse") ||
         format_of(folder / "trajectory.h5").starts_with("tresse");
}

/// The first by name of what is there, leaving out folders, which a run leaves alone except for its own, and what a run
/// that was killed at once left under its other names.
std::string first_foreign(const fs::path& folder, const FileList& ours) {
  std::string first;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool left_over = std::any_of(ours.begin(), ours.end(), [&](const fs::path& file) {
      return name == files::temporary_name(file.filename()).string();
    });
    const bool apart = fs::is_directory(entry->path()) && (name != "failure" || fs::is_empty(entry->path()));
    if (name.starts_with('.') || left_over || apart) continue;
    if (first.empty() || name < first) first = name;
  }
  if (error) throw SystemFailure(fmt::format("{}: cannot read the folder: {}", folder.string(), error.message()));
  return first;
}

void require_nothing(const fs::path& folder, const std::string& foreign, const char* whose) {
  require(foreign.empty(), [&] {
    return fmt::format("{}: holds '{}' and nothing of {}; expected a new folder, an empty one or that of {}",
                       folder.string(), foreign, whose, whose);
  });
}

}  // namespace

void require_apart(const FileList& outputs, const FileList& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const fs::path& file = outputs[i];
    for (const fs::path& input : inputs)
      require(!same_file(file, input), [&] {
        return fmt::format("{}: is an input, {}; expected output to go elsewhere", file.string(), input.string());
      });
    for (std::size_t k = 0; k < i; ++k)
      require(!same_file(file, outputs[k]), [&] {
        return fmt::format("{}: is also {}; expected a file for each output", file.string(), outputs[k].string());
      });
  }
}

void require_outputs(const FileList& outputs, const FileList& inputs) {
  require_apart(outputs, inputs);
  for (const fs::path& file : outputs) try_to_create(file);
}

FileList files_of_run(const fs::path& folder) {
  FileList out{folder / "shape.csv"};
  for (const char* name : run_files) out.push_back(folder / name);
  return out;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw SystemFailure(fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
}

void require_folder_of_run(const fs::path& folder) {
  if (!holds_run(folder)) require_nothing(folder, first_foreign(folder, files_of_run(folder)), "a run of tresse");
}

void require_folder_of(const fs::path& folder, const char* whose, bool (*is_mark)(const std::string& name)) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_mark(entry.path().filename().string())) return;
  }
  if (error) throw SystemFailure(fmt::format("{}: cannot read the folder: {}", folder.string(), error.message()));
  require_nothing(folder, first_foreign(folder, {}), whose);
}

}  // namespace tresse::record
