#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <variant>
#include <vector>

#include <tresse/record/trajectory.hpp>
#include <tresse/record/trajectory_log.hpp>

namespace tresse::record {

/// The frames of a run that ended, goes on or was killed: those of trajectory.log while there is one, of trajectory.h5
/// otherwise. As many as there were when opened, or when grow() last looked.
class RunFrames {
 public:
  using AnyReader = std::variant<std::unique_ptr<TrajectoryReader>, std::unique_ptr<TrajectoryLogReader>>;

  /// `path`: the folder of a run, or a trajectory.h5. @throws InvalidInput when there are none, or they are damaged.
  explicit RunFrames(const std::filesystem::path& path);

  const std::filesystem::path& file() const { return file_; }  ///< that they are read from
  const observe::TrajectoryLayout& layout() const;
  std::size_t frame_count() const;
  const std::vector<double>& times() const;  ///< (frame_count) [s]
  /// Counts the frames that a run has added since. False when the file is gone, shorter or another one now, or a log
  /// has begun beside a trajectory.h5: open anew.
  bool grow();
  observe::Frame frame(std::size_t index);  ///< index < frame_count

 private:
  /// What tells a file that was replaced from the one that was opened.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const std::filesystem::path& file);

  std::filesystem::path file_;
  AnyReader reader_;
  Identity identity_;
};

}  // namespace tresse::record
