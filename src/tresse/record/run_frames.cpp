#include <tresse/record/run_frames.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <tresse/base/errors.hpp>
#include <tresse/record/results_place.hpp>

namespace tresse::record {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& path) {
  std::error_code error;
  const bool file = fs::exists(path, error) && !fs::is_directory(path, error);
  return file && path.extension() != ".toml" ? path : find_results(path, files_of_frames);
}

RunFrames::AnyReader open_frames(fs::path& file) {
  if (file.filename() != "trajectory.log") return std::make_unique<TrajectoryReader>(file);
  try {
    return std::make_unique<TrajectoryLogReader>(file, LogEnd::open);
  } catch (const InvalidInput&) {
    std::error_code error;
    if (fs::exists(file, error)) throw;
  }
  file.replace_extension(".h5");  // the run has just ended
  return std::make_unique<TrajectoryReader>(file);
}

}  // namespace

RunFrames::RunFrames(const fs::path& path)
    : file_(file_of(path)), reader_(open_frames(file_)), identity_(identity_of(file_)) {
  require(frame_count() > 0, [&] { return fmt::format("{}: holds no frame", file_.string()); });
}

const observe::TrajectoryLayout& RunFrames::layout() const {
  return std::visit([](const auto& reader) -> const observe::TrajectoryLayout& { return reader->layout(); }, reader_);
}

std::size_t RunFrames::frame_count() const {
  return std::visit([](const auto& reader) -> std::size_t { return reader->frame_count(); }, reader_);
}

const std::vector<double>& RunFrames::times() const {
  return std::visit([](const auto& reader) -> const std::vector<double>& { return reader->times(); }, reader_);
}

bool RunFrames::grow() {
  if (identity_of(file_) != identity_) return false;
  if (auto* log = std::get_if<std::unique_ptr<TrajectoryLogReader>>(&reader_)) return (*log)->grow();
  std::error_code error;
  return !fs::exists(fs::path(file_).replace_filename("trajectory.log"), error);
}

RunFrames::Identity RunFrames::identity_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

observe::Frame RunFrames::frame(std::size_t index) {
  return std::visit([index](auto& reader) { return reader->frame(index); }, reader_);
}

}  // namespace tresse::record
