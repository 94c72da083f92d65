#include <tresse/scene_file/detail/scene_recorder.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

struct Place {
  std::vector<std::string> segments;  ///< without names and indices
  int depth = 0;                      ///< indices behind the last one
};

/// "fibres.hair.holds[0].at[1]" is fibres, holds, at with one index.
Place place_of(std::string_view path) {
  static constexpr std::array<std::string_view, 3> with_names{"materials", "fibres", "obstacles"};
  Place out;
  for (std::size_t index = 0; !path.empty(); ++index) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view segment = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    // "fibres.hair" names what "fibres[0]" counts.
    const bool name = index == 1 && out.depth == 0 &&
                      std::find(with_names.begin(), with_names.end(), out.segments[0]) != with_names.end();
    out.depth = static_cast<int>(std::count(segment.begin(), segment.end(), '['));
    if (!name) out.segments.emplace_back(segment.substr(0, segment.find('[')));
  }
  const auto motion = std::find(out.segments.begin(), out.segments.end(), "motion");
  if (motion != out.segments.end() && motion + 1 != out.segments.end())
    out.segments.erase(out.segments.begin(), motion);
  return out;
}

std::string joined(const std::vector<std::string>& segments) {
  std::string out;
  for (const std::string& segment : segments) out += (out.empty() ? "" : ".") + segment;
  return out;
}

void merge(SceneRecorder::Form& into, const SceneRecorder::Form& form) {
  const auto add = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const std::string& item : more) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    }
  };
  add(into.units, form.units);
  add(into.words, form.words);
  if (!into.range || !form.range) return;
  into.range->least = std::min(into.range->least, form.range->least);
  into.range->open = into.range->open && form.range->open;
  // An upper bound that differs hangs on another value of the scene.
  if (into.range->most != form.range->most) into.range->most = std::numeric_limits<double>::infinity();
}

constexpr double degrees_per_radian = 180.0 / std::numbers::pi;

}  // namespace

void SceneRecorder::table(const TomlNode& node, std::string_view path, const std::vector<std::string_view>& keys) {
  Instance out;
  if (path != "the scene") {
    const Place place = place_of(path);
    // A table at the end of "root.motion" is a motion; its keys stand behind it.
    out.table = place.segments.back() == "motion" ? "motion" : joined(place.segments);
    out.in_array = place.depth > 0;
  }
  out.keys.assign(keys.begin(), keys.end());
  if (const TomlNode* shape = node.find("shape")) out.shape = shape->text;
  open_[&node] = instances_.size();
  instances_.push_back(out);
}

void SceneRecorder::value(std::string_view path, Form form) {
  const Place place = place_of(path);
  form.depth = place.depth;
  Key& key = keys_[joined(place.segments)];
  const auto same = std::find_if(key.forms.begin(), key.forms.end(), [&](const Form& other) {
    return other.kind == form.kind && other.depth == form.depth && other.triplet == form.triplet;
  });
  if (same == key.forms.end())
    key.forms.push_back(form);
  else
    merge(*same, form);
}

void SceneRecorder::initial(std::string_view path, const nlohmann::ordered_json& value) {
  Key& key = keys_[joined(place_of(path).segments)];
  if (!key.initial.is_null() && key.initial != value) key.varies = true;
  key.initial = value;
}

void SceneRecorder::close() {
  for (const auto& [node, index] : open_) {
    instances_[index].required = required_[node];
    instances_[index].refused = refused_[node];
  }
  open_.clear();
  required_.clear();
  refused_.clear();
}

const SceneRecorder::Key* SceneRecorder::find(std::string_view table, std::string_view key) const {
  const auto found = keys_.find(table.empty() ? std::string(key) : std::string(table) + "." + std::string(key));
  return found == keys_.end() ? nullptr : &found->second;
}

SceneRecorder::Form form_of(const Wanted& wanted, bool triplet) {
  SceneRecorder::Form out{.kind = SceneRecorder::Kind::number, .triplet = triplet, .degrees = wanted.degrees};
  const bool bare = wanted.dimension.none() && !wanted.dimension.angle();
  out.units.push_back(wanted.degrees ? "deg" : bare ? "" : files::si_unit(wanted.dimension));
  out.range = wanted.range;
  if (wanted.degrees) {
    out.range->least *= degrees_per_radian;
    out.range->most *= degrees_per_radian;
  }
  return out;
}

nlohmann::ordered_json initial_of(double value, const Wanted& wanted) {
  const bool never = value >= scene::limits::always;
  if (never || !wanted.range.contains(value)) return nullptr;
  return wanted.degrees ? value * degrees_per_radian : value;
}

nlohmann::ordered_json initial_of(const Vector3& value, const Wanted& wanted) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (int i = 0; i < 3; ++i) out.push_back(initial_of(value[i], wanted));
  return out;
}

}  // namespace tresse::scene_file::detail
