#include <tresse/scene_file/scene_schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <tresse/scene_file/detail/scene_description.hpp>

namespace tresse::scene_file {
namespace {

using namespace detail;
using nlohmann::ordered_json;
using Kind = KeyDescription::Kind;

/// A string that a parameter may stand in; plain words have their own list.
ordered_json parameter() { return {{"type", "string"}, {"pattern", "\\$\\{"}}; }

constexpr double degrees_per_radian = 180.0 / std::numbers::pi;

/// One number, text or truth value.
ordered_json scalar(const KeyDescription& key) {
  if (key.whole) return {{"anyOf", {{{"const", key.words.front()}}, parameter()}}};
  if (!key.words.empty()) return {{"anyOf", {{{"enum", key.words}}, parameter()}}};
  if (key.kind == Kind::text) return {{"type", "string"}};
  if (key.kind == Kind::boolean)
    return {{"anyOf", {{{"type", "boolean"}}, {{"type", "string"}, {"pattern", "\\$\\{|^(true|false)$"}}}}};
  const bool whole = key.kind == Kind::integer;
  scene::Range range = key.field.direction ? direction_range : key.field.range;
  if (key.field.none && *key.field.none <= range.least) range = {*key.field.none, range.most};
  const double scale = key.field.unit == "deg" ? degrees_per_radian : 1.0;
  const auto bound = [&](double x) {
    return whole ? ordered_json(static_cast<std::int64_t>(x)) : ordered_json(scale * x);
  };
  ordered_json plain = {{"type", whole ? "integer" : "number"}};
  if (std::isfinite(range.least)) plain[range.open ? "exclusiveMinimum" : "minimum"] = bound(range.least);
  if (std::isfinite(range.most)) plain["maximum"] = bound(range.most);
  ordered_json out = {{"anyOf", {plain, {{"type", "string"}}}}};
  if (!key.field.word.empty()) out["anyOf"].push_back({{"enum", {key.field.word}}});
  return out;
}

ordered_json array_of(const ordered_json& items) { return {{"type", "array"}, {"items", items}}; }

/// Every form that a value may have.
ordered_json forms_of(const KeyDescription& key) {
  ordered_json out = ordered_json::array();
  if (key.kind == Kind::none) return out;
  const ordered_json one = scalar(key);
  ordered_json triplet = array_of(one);
  triplet["minItems"] = triplet["maxItems"] = 3;
  if ((key.forms & scene::forms::one) != 0) out.push_back(one);
  if ((key.forms & scene::forms::list) != 0) out.push_back(array_of(one));
  if ((key.forms & scene::forms::triplet) != 0) out.push_back(triplet);
  if ((key.forms & scene::forms::triplets) != 0) out.push_back(array_of(triplet));
  return out;
}

std::string definition_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

ordered_json reference(const KeyDescription& key) {
  const ordered_json out = {{"$ref", "#/definitions/" + definition_name(key.tables.front()->name)}};
  if (key.several == KeyDescription::Tables::by_name) return {{"type", "object"}, {"additionalProperties", out}};
  return key.several == KeyDescription::Tables::array ? array_of(out) : out;
}

/// What a key is for: a table at the top says so itself.
std::string meaning(const KeyDescription& key) {
  return key.field.meaning.empty() && !key.tables.empty() ? key.tables.front()->meaning
                                                          : std::string(key.field.meaning);
}

std::string unit_of(const KeyDescription& key) {
  if (!key.field.units.empty()) return std::string(key.field.units);
  if (key.field.unit == "deg") return "deg";
  return key.dimension.none() && !key.dimension.angle() ? "" : files::si_unit(key.dimension);
}

ordered_json property(const KeyDescription& key) {
  ordered_json forms = forms_of(key);
  if (!key.tables.empty())
    forms.push_back(reference(key));
  else if (key.several == KeyDescription::Tables::by_name)  // parameters
    forms.push_back({{"type", "object"}, {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}});
  const std::string unit = unit_of(key);
  std::string words = meaning(key);
  if (!unit.empty()) words += fmt::format(" [{}]", unit);
  if (!key.initial.is_null()) words += fmt::format(". Default: {}", key.initial.dump());
  ordered_json out = {{"description", words}, {"x-tresse", {{"meaning", meaning(key)}, {"unit", unit}}}};
  if (!key.initial.is_null()) out["default"] = key.initial;
  if (forms.size() > 1)
    out["anyOf"] = forms;
  else if (forms.front().contains("$ref"))
    out["allOf"] = forms;  // draft 7 reads nothing beside a $ref
  else
    out.update(forms.front());
  return out;
}

ordered_json variant(const TableDescription& table) {
  ordered_json properties = ordered_json::object();
  std::vector<std::string> required;
  for (const KeyDescription& key : table.keys) {
    properties[key.key] = property(key);
    if (!key.field.needed.empty()) required.push_back(key.key);
  }
  ordered_json out = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = false;
  return out;
}

/// Adds the tables that stand below one, each once.
void add_definitions(ordered_json& definitions, const TableDescription& table) {
  for (const KeyDescription& key : table.keys) {
    if (key.tables.empty()) continue;
    const std::string name = definition_name(key.tables.front()->name);
    if (definitions.contains(name)) continue;
    const std::string& own = key.tables.front()->meaning;
    ordered_json& out = definitions[name];
    out["description"] = own.empty() ? meaning(key) : own;
    if (key.tables.size() == 1) out.update(variant(*key.tables.front()));
    if (key.tables.size() > 1) {
      for (const TableDescription* one : key.tables) out["anyOf"].push_back(variant(*one));
    }
    for (const TableDescription* one : key.tables) add_definitions(definitions, *one);  // moves what `out` names
  }
}

}  // namespace

ordered_json detail::table_schema(const TableDescription& table) {
  ordered_json out = variant(table);
  add_definitions(out["definitions"], table);
  return out;
}

std::string scene_schema() {
  const TableDescription& scene = description<scene::Scene>();
  ordered_json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "tresse scene"},
                      {"description", scene.meaning}};
  out.update(detail::table_schema(scene));
  return out.dump(2) + "\n";
}

}  // namespace tresse::scene_file
