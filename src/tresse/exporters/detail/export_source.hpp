#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tresse/exporters/export.hpp>
#include <tresse/geometry/box.hpp>
#include <tresse/observe/layout_meshes.hpp>
#include <tresse/observe/layout_surfaces.hpp>
#include <tresse/record/run_frames.hpp>

namespace tresse::exporters::detail {

/// The fibres of one group, in the order of the trajectory.
struct FibreSet {
  std::string name;
  std::vector<std::size_t> fibres;
  std::size_t points = 0;  ///< of all of them
};

/// What an export reads: the chosen frames of a run, their numbers checked to be finite and within single precision.
class ExportSource {
 public:
  ExportSource(const std::filesystem::path& run, const ExportOptions& options);

  const observe::TrajectoryLayout& layout() const { return run_.layout(); }
  const std::vector<FibreSet>& sets() const { return sets_; }  ///< groups that have fibres
  std::size_t size() const { return chosen_.size(); }
  std::size_t number(std::size_t i) const { return chosen_[i]; }  ///< of chosen frame i in the run
  /// Chosen frame i. The reference holds until the next call.
  const observe::Frame& frame(std::size_t i) {
    if (progress_) progress_(i + 1, size());
    return read(chosen_[i]);
  }
  /// Velocities of the centreline points in chosen frame i, by differences over the run's frames before and after it;
  /// zero in a run of one frame. (P, 3) [m/s]
  std::vector<double> velocities(std::size_t i);

  std::size_t point_begin(std::size_t fibre) const { return static_cast<std::size_t>(layout().point_offsets[fibre]); }
  std::size_t point_end(std::size_t fibre) const { return point_begin(fibre + 1); }

 private:
  const observe::Frame& read(std::size_t index);

  record::RunFrames run_;
  std::vector<std::size_t> chosen_;
  std::function<void(std::size_t, std::size_t)> progress_;
  std::vector<FibreSet> sets_;
  /// A frame and its neighbours, at its index modulo the size.
  std::array<std::optional<std::pair<std::size_t, observe::Frame>>, 3> cache_;
};

/// What has to be known of all chosen frames before the first is written.
struct ExportOverview {
  std::vector<double> times;                      ///< (F) [s]
  std::vector<std::vector<geometry::Box>> boxes;  ///< (F)(sets) of centrelines; empty sets: lower > upper
  geometry::Box extent;                           ///< of fibres, surfaces, capsules and meshes over all frames
  std::vector<std::vector<Pose>> obstacles;       ///< (F)(o) x at the reference pose stands at position + frame x
  std::size_t contacts = 0;                       ///< most in a frame
};

/// Reads every chosen frame once. @throws InvalidInput unless times increase.
ExportOverview survey(ExportSource& source);

/// The smallest box; of no points lower > upper.
geometry::Box box_about(const std::vector<Vector3>& points);

}  // namespace tresse::exporters::detail
