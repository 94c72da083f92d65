#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include <tresse/files/hdf5.hpp>
#include <tresse/observe/frame.hpp>

/// trajectory.h5, the whole story of a run for whoever draws or measures it. Its datasets are listed in
/// docs/reference/files.md.
namespace tresse::record {

/// Writes `file` in one pass, whole or not at all, and reads it back before it takes its place; the same frames leave
/// the same bytes. `next` fills the frames in turn, `frames` times; together they have `contacts` contacts. Memory: a
/// frame and 64 KiB an array.
void write_trajectory(const std::filesystem::path& file, const observe::TrajectoryLayout& layout, std::uint64_t frames,
                      std::uint64_t contacts, const std::function<void(observe::Frame&)>& next);

/// The same from memory.
void write_trajectory(const std::filesystem::path& file, const observe::TrajectoryLayout& layout,
                      const std::vector<observe::Frame>& frames);

/// The same from the log of a run.
void write_trajectory_from_log(const std::filesystem::path& file, const std::filesystem::path& log);

/// Reads frames in any order. Bad files throw InvalidInput.
class TrajectoryReader {
 public:
  explicit TrajectoryReader(const std::filesystem::path& file);

  const observe::TrajectoryLayout& layout() const { return layout_; }
  std::size_t frame_count() const { return times_.size(); }
  const std::vector<double>& times() const { return times_; }  ///< (frame_count) [s]
  observe::Frame frame(std::size_t index) const;               ///< index < frame_count

 private:
  files::Hdf5Reader file_;
  observe::TrajectoryLayout layout_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
  std::vector<std::int64_t> contact_offsets_;
};

}  // namespace tresse::record
