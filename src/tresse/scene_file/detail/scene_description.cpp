#include <tresse/scene_file/detail/scene_description.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <tresse/bodies/rigid_body.hpp>
#include <tresse/scene_file/expression.hpp>

namespace tresse::scene_file::detail {
namespace {

constexpr double degrees_per_radian = 180.0 / std::numbers::pi;

/// What is no value that could be given is no default.
bool is_default(const nlohmann::ordered_json& value, const scene::Field& field) {
  if (value.is_array())
    return std::all_of(value.begin(), value.end(), [&](const auto& x) { return is_default(x, field); });
  if (!value.is_number()) return true;
  const double x = value.get<double>();
  return field.range.contains(x) || x == field.none;
}

template <bodies::Kind Shape>
TableDescription obstacle_of() {
  scene::Obstacle sample;
  sample.body.shape = Shape{};
  TableDescription out = described<scene::Obstacle>(sample);
  Describe describe(out.keys);
  if (bodies::can_be_free(sample.body.shape)) scene::Table<scene::FreeBody>::fields(sample, describe);
  if constexpr (bodies::FromFile<Shape>)
    scene::Table<Shape>::fields(sample, describe);
  else
    scene::Table<Shape>::fields(std::get<Shape>(sample.body.shape), describe);
  for (KeyDescription& key : out.keys) {
    if (key.key != "shape") continue;
    key.words = {std::string(Shape::word)};
    key.whole = true;
  }
  return out;
}

template <bodies::Kind... K>
std::vector<TableDescription> obstacles_of(bodies::KindList<K...>) {
  return {obstacle_of<K>()...};
}

}  // namespace

const KeyDescription* TableDescription::find(std::string_view key) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const KeyDescription& one) { return one.key == key; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> TableDescription::names() const {
  std::vector<std::string> out;
  for (const KeyDescription& key : keys) out.push_back(key.key);
  return out;
}

files::Dimension dimension_of(std::string_view unit) {
  static const ParameterLookup none = [](std::string_view) { return Quantity{}; };
  if (unit.empty()) return {};
  return evaluate("1 " + std::string(unit), none).dimension;
}

void Describe::finish(KeyDescription out) {
  out.dimension = dimension_of(out.field.unit);
  if (out.field.forms != 0) out.forms = out.field.forms;
  const bool shown = out.field.needed.empty() && !out.field.derived && is_default(out.initial, out.field);
  if (!shown) out.initial = nullptr;
  if (!out.field.word.empty()) out.initial = out.field.word;
  keys_.push_back(out);
  if (out.field.in_degrees.empty()) return;
  out.key += "_deg";
  out.field.meaning = out.field.in_degrees;
  out.field.unit = "deg";
  out.dimension = dimension_of(out.field.unit);
  if (out.initial.is_number()) out.initial = out.initial.get<double>() * degrees_per_radian;
  keys_.push_back(std::move(out));
}

const std::vector<TableDescription>& obstacle_descriptions() {
  static const std::vector<TableDescription> all = obstacles_of(bodies::Kinds{});
  return all;
}

}  // namespace tresse::scene_file::detail
