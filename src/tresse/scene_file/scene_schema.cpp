#include <tresse/scene_file/scene_schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_meanings.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file {
namespace {

using namespace detail;
using nlohmann::ordered_json;
using Kind = SceneRecorder::Kind;
using Form = SceneRecorder::Form;

/// Instances of a table that take the same keys.
struct Variant {
  std::vector<std::string> keys;
  std::set<std::string> required, refused;  ///< by every instance
  std::set<std::string> shapes;
};

struct Table {
  std::string name;
  bool in_array = false;
  std::vector<Variant> variants;
};

std::set<std::string> common(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

std::vector<Table> tables_of(const SceneRecorder& recorder) {
  std::vector<Table> out;
  for (const SceneRecorder::Instance& instance : recorder.instances()) {
    auto table = std::find_if(out.begin(), out.end(), [&](const Table& t) { return t.name == instance.table; });
    if (table == out.end()) table = out.insert(out.end(), {instance.table, instance.in_array, {}});
    auto variant = std::find_if(table->variants.begin(), table->variants.end(),
                                [&](const Variant& v) { return v.keys == instance.keys; });
    if (variant == table->variants.end()) {
      table->variants.push_back({instance.keys, instance.required, instance.refused, {instance.shape}});
      continue;
    }
    variant->required = common(variant->required, instance.required);
    variant->refused = common(variant->refused, instance.refused);
    variant->shapes.insert(instance.shape);
  }
  return out;
}

/// A string that a parameter may stand in; plain words have their own list.
ordered_json parameter() { return {{"type", "string"}, {"pattern", "\\$\\{"}}; }

ordered_json scalar(const Form& form) {
  switch (form.kind) {
    case Kind::text:
      return {{"type", "string"}};
    case Kind::word:
      return {{"anyOf", {{{"enum", form.words}}, parameter()}}};
    case Kind::boolean:
      return {{"anyOf", {{{"type", "boolean"}}, {{"type", "string"}, {"pattern", "\\$\\{|^(true|false)$"}}}}};
    case Kind::number:
    case Kind::integer:
      break;
  }
  const bool whole = form.kind == Kind::integer;
  const auto bound = [&](double x) { return whole ? ordered_json(static_cast<std::int64_t>(x)) : ordered_json(x); };
  ordered_json plain = {{"type", whole ? "integer" : "number"}};
  plain[form.range->open ? "exclusiveMinimum" : "minimum"] = bound(form.range->least);
  if (std::isfinite(form.range->most)) plain["maximum"] = bound(form.range->most);
  return {{"anyOf", {plain, {{"type", "string"}}}}};
}

ordered_json array_of(const ordered_json& items) { return {{"type", "array"}, {"items", items}}; }

ordered_json schema_of(const Form& form) {
  ordered_json out = scalar(form);
  if (form.triplet) {
    out = array_of(out);
    out["minItems"] = out["maxItems"] = 3;
  }
  for (int i = 0; i < form.depth; ++i) out = array_of(out);
  return out;
}

std::string definition_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class Builder {
 public:
  explicit Builder(const SceneRecorder& recorder) : recorder_(recorder), tables_(tables_of(recorder)) {}

  ordered_json schema() const {
    ordered_json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "tresse scene"},
                        {"description", "A scene of tresse: fibres, obstacles, friction and how they are simulated"}};
    out.update(table(tables_.front()));
    ordered_json& definitions = out["definitions"];
    for (auto t = tables_.begin() + 1; t != tables_.end(); ++t) definitions[definition_name(t->name)] = table(*t);
    return out;
  }

 private:
  const Table* find(std::string_view name) const {
    const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.name == name; });
    return found == tables_.end() ? nullptr : &*found;
  }

  /// The table that stands under a key, if one may.
  const Table* under(const std::string& place, std::string_view key) const {
    return key == "motion" ? find("motion") : find(place);
  }

  ordered_json reference(const Table& table) const {
    const ordered_json out = {{"$ref", "#/definitions/" + definition_name(table.name)}};
    if (table.name == "materials") return {{"type", "object"}, {"additionalProperties", out}};
    return table.in_array || table.name == "fibres" || table.name == "obstacles" ? array_of(out) : out;
  }

  ordered_json property(const std::string& table, const std::string& key, const Variant& variant) const {
    const std::string place = table.empty() ? key : table + "." + key;
    const SceneRecorder::Key* values = recorder_.find(table, key);
    ordered_json forms = ordered_json::array();
    std::vector<std::string> units;
    if (values != nullptr) {
      for (const Form& form : values->forms) {
        forms.push_back(schema_of(form));
        for (const std::string& unit : form.units) {
          if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
        }
      }
    }
    if (const Table* inner = under(place, key)) forms.push_back(reference(*inner));
    if (place == "parameters")
      forms.push_back({{"type", "object"}, {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}});
    if (key == "shape") forms = {{{"const", *variant.shapes.begin()}}, parameter()};
    ordered_json initial = values == nullptr || values->varies ? ordered_json() : values->initial;
    if (initial.is_array() && std::any_of(initial.begin(), initial.end(), [](const auto& x) { return x.is_null(); }))
      initial = nullptr;
    return described(place, units, initial, forms);
  }

  static ordered_json described(const std::string& place, const std::vector<std::string>& units,
                                const ordered_json& initial, const ordered_json& forms) {
    std::string unit;
    for (const std::string& u : units) unit += (unit.empty() ? "" : " or ") + (u.empty() && units.size() > 1 ? "1" : u);
    std::string words(meaning(place));
    if (!unit.empty()) words += fmt::format(" [{}]", unit);
    if (!initial.is_null()) words += fmt::format(". Default: {}", initial.dump());
    ordered_json out = {{"description", words}, {"x-tresse", {{"meaning", meaning(place)}, {"unit", unit}}}};
    if (!initial.is_null()) out["default"] = initial;
    if (forms.size() > 1)
      out["anyOf"] = forms;
    else if (!forms.empty() && forms.front().contains("$ref"))
      out["allOf"] = forms;  // draft 7 reads nothing beside a $ref
    else if (!forms.empty())
      out.update(forms.front());
    return out;
  }

  ordered_json variant(const Table& table, const Variant& variant) const {
    ordered_json properties = ordered_json::object();
    for (const std::string& key : variant.keys) {
      if (!variant.refused.contains(key)) properties[key] = property(table.name, key, variant);
    }
    ordered_json out = {{"type", "object"}, {"properties", properties}};
    std::vector<std::string> required(variant.required.begin(), variant.required.end());
    if (!required.empty()) out["required"] = required;
    out["additionalProperties"] = false;
    return out;
  }

  ordered_json table(const Table& table) const {
    ordered_json out;
    if (!table.name.empty()) out["description"] = meaning(table.name);
    if (table.variants.size() == 1) {
      out.update(variant(table, table.variants.front()));
      return out;
    }
    for (const Variant& v : table.variants) {
      out["anyOf"].push_back(variant(table, v));
    }
    return out;
  }

  const SceneRecorder& recorder_;
  std::vector<Table> tables_;
};

}  // namespace

std::string scene_schema() {
  SceneRecorder recorder;
  for (const std::string_view scene : probe_scenes()) parse_document(scene, "probe", {}, &recorder);
  return Builder(recorder).schema().dump(2) + "\n";
}

}  // namespace tresse::scene_file
