#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <variant>

#include <tresse/io/trajectory.hpp>
#include <tresse/io/trajectory_log.hpp>

namespace tresse::io {

/// The frames of a run that ended, goes on or was killed: those of trajectory.log while there is one, of trajectory.h5
/// otherwise. As many as there were when opened.
class RunFrames {
 public:
  using AnyReader = std::variant<std::unique_ptr<TrajectoryReader>, std::unique_ptr<TrajectoryLogReader>>;

  /// `path`: the folder of a run, or a trajectory.h5. @throws InvalidInput when there are none, or they are damaged.
  explicit RunFrames(const std::filesystem::path& path);

  const std::filesystem::path& file() const { return file_; }  ///< that they are read from
  const TrajectoryLayout& layout() const;
  std::size_t frame_count() const;
  Frame frame(std::size_t index);  ///< index < frame_count

 private:
  std::filesystem::path file_;
  AnyReader reader_;
};

}  // namespace tresse::io
