#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tresse/record/run_frames.hpp>
#include <tresse/scene/scene.hpp>

#include "view/tables.hpp"

/// The folder of a run as `tresse view` serves it: only ever read, and nothing outside it.
namespace tresse::app::view {

/// What tells runs from each other: the end of each folder's path, as much of it as differs from the others.
std::vector<std::string> run_names(const std::vector<std::filesystem::path>& folders);

/// Whether some process holds the lock of a run on `folder`, as /proc/locks has it.
bool is_locked(const std::filesystem::path& folder);

/// May be called from several threads. A generation ends when the frames at hand are no longer those of the run, such
/// as after a new run in the same folder; all calls with another generation throw InvalidInput, as do all that find
/// their file gone or damaged.
class RunData {
 public:
  /// Of a folder, or of the one around a trajectory.h5. @throws InvalidInput when it is none or holds no frame.
  explicit RunData(const std::filesystem::path& run);

  const std::filesystem::path& folder() const { return folder_; }

  /// Looks at the files again. {generation, frames, live, status, error, summary}; never throws for what it finds.
  nlohmann::json state();
  nlohmann::json description();  ///< {generation, folder, scene, version, names of groups, obstacles, surfaces}
  nlohmann::json steps();
  nlohmann::json forces();
  nlohmann::json holds();  ///< that of Tables, of each hold also "at", its arc length, null where it is not known [m]

  std::string layout(std::uint64_t generation);
  std::string meshes(std::uint64_t generation);
  std::string vertices(std::uint64_t generation, std::size_t mesh, std::size_t key);
  /// Of every mesh and each key frame of its animation.
  void for_each_mesh_key(const std::function<void(std::size_t mesh, std::size_t key)>& visit);
  double least_radius();                                          ///< of all fibres; 1 where there is none [m]
  std::string times(std::uint64_t generation, std::size_t from);  ///< float64, of the frames from `from` on [s]
  std::string frame(std::uint64_t generation, std::size_t index);
  std::string hold_loads(std::uint64_t generation, std::size_t index);  ///< of the points in holds()
  std::string quantity(std::uint64_t generation, std::size_t index, std::string_view name);

 private:
  using Layout = std::shared_ptr<const observe::TrajectoryLayout>;
  using Frame = std::shared_ptr<const observe::Frame>;

  void look();
  void open();
  void require_generation(std::uint64_t generation) const;
  Layout layout_of(std::uint64_t generation);
  std::filesystem::path confined(const char* name) const;
  Frame decoded(std::size_t index);
  void update_tables();
  nlohmann::json summary() const;
  bool recently_written() const;

  std::filesystem::path folder_;
  std::mutex mutex_;  ///< HDF5 allows one thread at a time
  std::unique_ptr<record::RunFrames> frames_;
  Layout layout_;
  std::vector<scene::FibreGroup> groups_;  ///< of the scene; none where it cannot be read
  std::size_t frame_count_ = 0;
  std::uint64_t generation_ = 0;
  std::string error_;                                ///< why the frames cannot be read now; empty: they can
  std::deque<std::pair<std::size_t, Frame>> cache_;  ///< last decoded ones
  Tables tables_;
};

}  // namespace tresse::app::view
