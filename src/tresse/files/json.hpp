#pragma once

#include <exception>
#include <filesystem>
#include <string_view>

#include <tresse/files/atomic_file.hpp>

/// Every JSON text that is read comes through here. `Json` is a class of nlohmann's library, whose parser and values
/// are recursive: what is nested very deep would end the program.
namespace tresse::files {

constexpr int deepest_json = 100;  ///< lists and objects within each other

/// Whether a text is nested no deeper than that.
bool is_shallow_json(std::string_view text);

/// A value that is_discarded() where the text is no JSON or nested too deep.
template <class Json>
Json parse_json(std::string_view text) {
  return Json::parse(is_shallow_json(text) ? text : std::string_view(), nullptr, false);
}

/// The object in a file; an empty one where there is none, whatever the reason.
template <class Json>
Json read_json_object(const std::filesystem::path& file) {
  try {
    Json json = parse_json<Json>(read_file(file));
    if (json.is_object()) return json;
  } catch (const std::exception&) {  // it cannot be read
  }
  return Json::object();
}

}  // namespace tresse::files
