#include "view/run_data.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/json.hpp>
#include <tresse/record/results_place.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "view/frame_bytes.hpp"

namespace tresse::app::view {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kept_frames = 3;  // one, the one before for speeds, and one to spare
constexpr std::uintmax_t largest_summary = std::uintmax_t{1} << 20U;
/// Where no lock can be seen, a file younger than this belongs to a run under way.
constexpr std::chrono::seconds fresh{15};

std::vector<scene::FibreGroup> groups_of(const std::string& text) {
  try {
    return scene_file::parse_scene_without_meshes(text, "scene").fibres;
  } catch (const std::exception&) {
    return {};  // of another version, perhaps: only where points are held is lost
  }
}

Json arc_length_of(const observe::TrajectoryLayout& layout, const std::vector<scene::FibreGroup>& groups,
                   const HeldPoint& point) {
  const auto fibre = static_cast<std::size_t>(point.fibre);
  if (point.fibre < 0 || fibre >= layout.fibre_count()) return nullptr;
  const std::string& name = layout.group_names.at(static_cast<std::size_t>(layout.group[fibre]));
  for (const scene::FibreGroup& group : groups) {
    if (group.name != name) continue;
    for (const scene::Hold& hold : group.holds) {
      if (hold.name == point.name) return hold.at;
    }
  }
  return nullptr;
}

}  // namespace

bool is_locked(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  const std::string inode = fmt::format(":{}", status.st_ino);
  std::ifstream in("/proc/locks");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, process, file;
    words >> number >> kind >> mode >> access >> process >> file;
    if (kind == "FLOCK" && access == "WRITE" && file.ends_with(inode)) return true;
  }
  return false;
}

RunData::RunData(const fs::path& run) : tables_(run) {
  std::error_code error;
  const bool is_file = run.filename() == "trajectory.h5" && fs::is_regular_file(run, error);
  const fs::path folder = is_file ? fs::absolute(run).parent_path() : run;
  static_cast<void>(record::find_results(folder, record::files_of_frames));
  folder_ = fs::canonical(folder);
  tables_ = Tables(folder_);
  open();
}

/// A link inside the folder may point anywhere; what it leads to is served only when that is inside as well.
fs::path RunData::confined(const char* name) const {
  fs::path path = folder_ / name;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return path;  // not there: whoever opens it says so
  const auto [end, _] = std::mismatch(folder_.begin(), folder_.end(), real.begin(), real.end());
  require(end == folder_.end(), [&] { return fmt::format("{}: leads out of the folder", path.string()); });
  require(fs::is_regular_file(real, error), [&] { return fmt::format("{}: not a regular file", path.string()); });
  return path;
}

void RunData::open() {
  frames_.reset();  // so that a file that was replaced is closed even when the next one cannot be read
  for (const char* name : {"trajectory.log", "trajectory.h5"}) confined(name);
  auto frames = std::make_unique<record::RunFrames>(folder_);
  auto layout = std::make_shared<const observe::TrajectoryLayout>(frames->layout());
  // At the end of a run its log is replaced by trajectory.h5, which holds the same frames.
  const bool same = layout_ && *layout == *layout_ && frames->frame_count() >= frame_count_;
  if (!same) {
    ++generation_;
    cache_.clear();
    groups_ = groups_of(layout->scene);
  }
  frames_ = std::move(frames);
  layout_ = std::move(layout);
}

void RunData::look() {
  try {
    if (!frames_ || !frames_->grow()) open();
    frame_count_ = frames_->frame_count();
    error_.clear();
  } catch (const std::exception& error) {
    error_ = error.what();
  }
}

void RunData::require_generation(std::uint64_t generation) const {
  if (!frames_) throw InvalidInput(error_);
  require(generation == generation_, "the run has begun anew");
}

Json RunData::summary() const {
  try {
    const fs::path path = confined("summary.json");
    if (fs::file_size(path) > largest_summary) return Json::object();
    return files::read_json_object<Json>(path);
  } catch (const std::exception&) {
    return Json::object();
  }
}

bool RunData::recently_written() const {
  const auto now = fs::file_time_type::clock::now();
  for (const char* name : {"trajectory.log", "steps.csv"}) {
    std::error_code error;
    const auto written = fs::last_write_time(folder_ / name, error);
    if (!error && now - written < fresh) return true;
  }
  return false;
}

Json RunData::state() {
  const std::lock_guard lock(mutex_);
  look();
  const Json summary = this->summary();
  const auto field = summary.find("status");
  const std::string status = field != summary.end() && field->is_string() ? field->get<std::string>() : "unknown";
  const bool live = status == "running" && (is_locked(folder_) || recently_written());
  return {{"generation", generation_}, {"frames", frame_count_}, {"live", live},
          {"status", status},          {"error", error_},        {"summary", summary}};
}

Json RunData::description() {
  const std::lock_guard lock(mutex_);
  return {{"generation", generation_},
          {"folder", folder_.filename().string()},
          {"scene", layout_->scene},
          {"version", layout_->version},
          {"group_names", layout_->group_names},
          {"obstacle_names", layout_->obstacle_names},
          {"surface_names", layout_->surface_names}};
}

void RunData::update_tables() {
  for (const char* name : {"steps.csv", "forces.csv", "holds.csv"}) confined(name);
  tables_.update();
}

Json RunData::steps() {
  const std::lock_guard lock(mutex_);
  update_tables();
  return tables_.steps_json();
}

Json RunData::forces() {
  const std::lock_guard lock(mutex_);
  update_tables();
  return tables_.forces_json();
}

Json RunData::holds() {
  const std::lock_guard lock(mutex_);
  update_tables();
  Json out = tables_.holds_json();
  for (Json& hold : out["holds"]) {
    hold["at"] = arc_length_of(*layout_, groups_, {hold["name"].get<std::string>(), hold["fibre"].get<int>()});
  }
  return out;
}

RunData::Layout RunData::layout_of(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  require_generation(generation);
  return layout_;
}

std::string RunData::layout(std::uint64_t generation) { return layout_bytes(*layout_of(generation)); }

std::string RunData::meshes(std::uint64_t generation) { return meshes_bytes(*layout_of(generation)); }

std::string RunData::vertices(std::uint64_t generation, std::size_t mesh, std::size_t key) {
  return vertices_bytes(*layout_of(generation), mesh, key);
}

void RunData::for_each_mesh_key(const std::function<void(std::size_t, std::size_t)>& visit) {
  const Layout layout = layout_of(generation_);
  for (std::size_t mesh = 0; mesh < layout->mesh_frames.size(); ++mesh) {
    for (std::int64_t key = 0; key < layout->mesh_frames[mesh]; ++key) visit(mesh, static_cast<std::size_t>(key));
  }
}

double RunData::least_radius() {
  const std::lock_guard lock(mutex_);
  const auto least = std::min_element(layout_->radius.begin(), layout_->radius.end());
  return least != layout_->radius.end() && *least > 0.0 ? *least : 1.0;
}

std::string RunData::times(std::uint64_t generation, std::size_t from) {
  const std::lock_guard lock(mutex_);
  require_generation(generation);
  const std::vector<double>& times = frames_->times();
  if (from >= times.size()) return {};
  return {reinterpret_cast<const char*>(times.data() + from), (times.size() - from) * sizeof(double)};
}

RunData::Frame RunData::decoded(std::size_t index) {
  const auto at = std::find_if(cache_.begin(), cache_.end(), [&](const auto& entry) { return entry.first == index; });
  if (at != cache_.end()) return at->second;
  auto frame = std::make_shared<const observe::Frame>(frames_->frame(index));
  cache_.emplace_front(index, frame);
  if (cache_.size() > kept_frames) cache_.pop_back();
  return frame;
}

std::string RunData::frame(std::uint64_t generation, std::size_t index) {
  Frame frame;
  Layout layout;
  {
    const std::lock_guard lock(mutex_);
    require_generation(generation);
    frame = decoded(index);
    layout = layout_;
  }
  return frame_bytes(*layout, *frame);
}

std::string RunData::hold_loads(std::uint64_t generation, std::size_t index) {
  const std::lock_guard lock(mutex_);
  require_generation(generation);
  const std::vector<double>& times = frames_->times();
  require(index < times.size(), [&] { return fmt::format("no frame {}", index); });
  update_tables();
  return hold_load_bytes(confined("holds.csv"), tables_.held_points(), times[index]);
}

std::string RunData::quantity(std::uint64_t generation, std::size_t index, std::string_view name) {
  const auto quantity = quantity_of(name);
  require(quantity.has_value(), [&] { return fmt::format("no quantity '{}'", name); });
  Frame frame, before;
  Layout layout;
  {
    const std::lock_guard lock(mutex_);
    require_generation(generation);
    if (*quantity == Quantity::speed && index > 0) before = decoded(index - 1);
    frame = decoded(index);
    layout = layout_;
  }
  return quantity_bytes(*layout, *frame, before.get(), *quantity);
}

std::vector<std::string> run_names(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> names(folders.size());
  std::vector<std::filesystem::path> rest = folders;
  const std::set<std::filesystem::path> different(folders.begin(), folders.end());
  do {
    for (std::size_t i = 0; i < folders.size(); ++i) {
      names[i] = (rest[i].filename() / names[i]).generic_string();
      if (names[i].ends_with('/')) names[i].pop_back();
      rest[i] = rest[i].parent_path();
    }
  } while (std::set<std::string>(names.begin(), names.end()).size() < different.size());
  return names;
}

}  // namespace tresse::app::view
