#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/scene/location.hpp>

/// TOML text as a plain tree with a position on every node; keys in the order of the file.
namespace tresse::scene_file::detail {

struct TomlMember;

struct TomlNode {
  enum class Kind { table, array, text, integer, number, boolean, other };
  Kind kind = Kind::other;
  std::string text;
  std::int64_t integer = 0;
  double number = 0.0;  ///< of an integer too
  bool boolean = false;
  std::vector<TomlNode> items;
  std::vector<TomlMember> members;
  scene::Location location;
  int text_column = 0;  ///< where the text's first byte stands when it can be told, else 0

  bool is(Kind wanted) const { return kind == wanted; }
  const TomlNode* find(std::string_view key) const;
};

struct TomlMember {
  std::string key;
  scene::Location location;
  TomlNode value;
};

/// "a table", "an array of 3", "the string "x"", "the number 3"...: what was found, for messages.
std::string describe(const TomlNode& node);

/// Throws InvalidInput, "file:line:column: ...", for anything that is not TOML, is larger than 64 MiB or nests more
/// than 32 deep.
TomlNode parse_toml(std::string_view text, std::string_view file_name);

/// "file:line:column: message" as one line.
std::string at(std::string_view file_name, const scene::Location& location, std::string_view message);

}  // namespace tresse::scene_file::detail
