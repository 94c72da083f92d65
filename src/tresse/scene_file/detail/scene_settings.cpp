#include <tresse/scene_file/detail/scene_settings.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>
#include <tresse/scene/setting_fields.hpp>

namespace tresse::scene_file::detail {
namespace {

const std::vector<std::string>& tables() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    const scene::Scene none;
    scene::for_each_settings_table(
        none, [&]<class Settings>(const Settings&) { out.emplace_back(scene::Table<Settings>::name); });
    return out;
  }();
  return names;
}

/// The value under a key, made with this location where there is none.
TomlNode& member(TomlNode& table, std::string_view key, const scene::Location& location) {
  const auto found = std::find_if(table.members.begin(), table.members.end(),
                                  [&](const TomlMember& candidate) { return candidate.key == key; });
  if (found != table.members.end()) return found->value;
  table.members.push_back({std::string(key), location, {}});
  return table.members.back().value;
}

void apply(TomlNode& root, const std::string& shown, std::string_view name, std::string_view raw,
           const scene::Location& location) {
  const auto complain = [&](std::string_view message) {
    throw InvalidInput(one_line(fmt::format("{}: {}", shown, message), 600));
  };
  const std::size_t dot = name.find('.');
  const std::string_view table_name = name.substr(0, dot);
  std::string_view key = name.substr(dot + 1);
  if (std::find(tables().begin(), tables().end(), table_name) == tables().end())
    complain(fmt::format("{} is no table of settings; expected a parameter, or a key of {}",
                         files::in_quotes(table_name, 40), files::alternatives(tables())));
  std::string_view value = files::trimmed(raw);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  if (value.empty()) complain("no value; expected name=value");
  TomlNode* table = &member(root, table_name, {});
  for (std::size_t deeper = key.find('.');; deeper = key.find('.')) {
    if (table->kind == TomlNode::Kind::other) table->kind = TomlNode::Kind::table;
    if (!table->is(TomlNode::Kind::table)) return;  // the reader of the table says so
    if (deeper == std::string_view::npos) break;
    table = &member(*table, key.substr(0, deeper), location);
    key = key.substr(deeper + 1);
  }
  TomlNode written;
  written.location = location;
  if (value == "true" || value == "false") {
    written.kind = TomlNode::Kind::boolean;
    written.boolean = value == "true";
  } else {
    written.kind = TomlNode::Kind::text;
    written.text = std::string(value);
  }
  member(*table, key, location) = written;
}

}  // namespace

ParameterOverrides apply_settings(TomlNode& root, const ParameterOverrides& set) {
  ParameterOverrides rest;
  rest.given_as = set.given_as;
  int number = 0;
  for (const auto& [name, value] : set) {
    ++number;
    if (name.find('.') == std::string::npos)
      rest.emplace_back(name, value);
    else
      apply(root, set.shown(name, value), name, value, {.line = -number});
  }
  return rest;
}

}  // namespace tresse::scene_file::detail
