#include <tresse/scene_file/detail/toml_document.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>

namespace tresse::scene_file::detail {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;
constexpr int deepest_nesting = 32;

/// Where each line of the text starts, to look at what stands at a position.
class LineStarts {
 public:
  explicit LineStarts(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  /// Column of the first byte of a string that starts at `location`, if it is written without escapes on one line.
  /// toml++ counts columns in code points; the answer is only given where the line is ASCII up to there.
  int text_column(const scene::Location& location, const std::string& value) const {
    if (location.line < 1 || location.line > static_cast<int>(starts_.size()) || location.column < 1) return 0;
    const std::size_t quote =
        starts_[static_cast<std::size_t>(location.line - 1)] + static_cast<std::size_t>(location.column - 1);
    if (quote >= text_.size() || (text_[quote] != '"' && text_[quote] != '\'')) return 0;
    return text_.substr(quote + 1).starts_with(value) && value.find('\n') == std::string::npos ? location.column + 1
                                                                                               : 0;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

scene::Location location_of(const toml::source_region& source) {
  return {static_cast<int>(source.begin.line), static_cast<int>(source.begin.column)};
}

/// The parser recurses on nested values and its trees on dotted keys: both are bounded here, before it sees the text.
void refuse_deep_nesting(std::string_view text, std::string_view file_name) {
  scene::Location here{1, 1};
  int brackets = 0, chain = 0;
  bool dotted = false;
  const auto is_key = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const char c = text[i];
    if (c == '\n') {
      ++here.line;
      here.column = 1;
      chain = 0;
      dotted = false;
      ++i;
      continue;
    }
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '"' || c == '\'' || is_key(c)) {
      chain = dotted ? chain + 1 : 1;
      dotted = false;
      ++i;
      if (is_key(c)) {
        while (i < text.size() && is_key(text[i])) ++i;
      } else {
        while (i < text.size() && text[i] != c && text[i] != '\n')
          i += c == '"' && text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n' ? 2 : 1;
        if (i < text.size() && text[i] == c) ++i;
      }
    } else {
      if (c == '.') dotted = true;
      if (c == '[' || c == '{') ++brackets;
      if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
      if (c != '.' && c != ' ' && c != '\t') {
        chain = 0;
        dotted = false;
      }
      ++i;
    }
    if (chain > deepest_nesting || brackets > deepest_nesting) {
      throw InvalidInput(at(file_name, here, fmt::format("values or keys nested more than {} deep", deepest_nesting)));
    }
    here.column += static_cast<int>(i - start);
  }
}

TomlNode convert(const toml::node& node, const LineStarts& lines);

void convert_table(const toml::table& table, const LineStarts& lines, TomlNode& out) {
  out.kind = TomlNode::Kind::table;
  out.members.reserve(table.size());
  for (const auto& [key, value] : table) {
    out.members.push_back({std::string(key.str()), location_of(key.source()), convert(value, lines)});
  }
  std::stable_sort(out.members.begin(), out.members.end(), [](const TomlMember& a, const TomlMember& b) {
    return std::pair(a.location.line, a.location.column) < std::pair(b.location.line, b.location.column);
  });
}

TomlNode convert(const toml::node& node, const LineStarts& lines) {
  TomlNode out;
  out.location = location_of(node.source());
  if (const auto* table = node.as_table()) {
    convert_table(*table, lines, out);
  } else if (const auto* array = node.as_array()) {
    out.kind = TomlNode::Kind::array;
    out.items.reserve(array->size());
    for (const auto& item : *array) out.items.push_back(convert(item, lines));
  } else if (const auto* text = node.as_string()) {
    out.kind = TomlNode::Kind::text;
    out.text = text->get();
    out.text_column = lines.text_column(out.location, out.text);
  } else if (const auto* integer = node.as_integer()) {
    out.kind = TomlNode::Kind::integer;
    out.integer = integer->get();
    out.number = static_cast<double>(out.integer);
  } else if (const auto* number = node.as_floating_point()) {
    out.kind = TomlNode::Kind::number;
    out.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    out.kind = TomlNode::Kind::boolean;
    out.boolean = boolean->get();
  }
  return out;
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const TomlMember& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

std::string describe(const TomlNode& node) {
  switch (node.kind) {
    case TomlNode::Kind::table:
      return "a table";
    case TomlNode::Kind::array:
      return node.items.empty() ? std::string("an empty array") : fmt::format("an array of {}", node.items.size());
    case TomlNode::Kind::text:
      return files::in_quotes(node.text);
    case TomlNode::Kind::integer:
      return fmt::format("{}", node.integer);
    case TomlNode::Kind::number:
      return files::number(node.number);
    case TomlNode::Kind::boolean:
      return node.boolean ? "true" : "false";
    case TomlNode::Kind::other:
      break;
  }
  return "a date or time";
}

std::string at(std::string_view file_name, const scene::Location& location, std::string_view message) {
  const std::string file = one_line(file_name, 200), text = one_line(message, 600);
  if (location.line <= 0) return fmt::format("{}: {}", file, text);
  return fmt::format("{}:{}:{}: {}", file, location.line, location.column, text);
}

TomlNode parse_toml(std::string_view text, std::string_view file_name) {
  if (text.size() > largest_file) {
    throw InvalidInput(
        at(file_name, {}, fmt::format("a file of {} bytes; a scene has at most {}", text.size(), largest_file)));
  }
  refuse_deep_nesting(text, file_name);
  try {
    const toml::table table = toml::parse(text, std::string(file_name));
    TomlNode out;
    out.location = {1, 1};
    convert_table(table, LineStarts(text), out);
    return out;
  } catch (const toml::parse_error& error) {
    throw InvalidInput(
        at(file_name, location_of(error.source()), fmt::format("not valid TOML: {}", error.description())));
  }
}

}  // namespace tresse::scene_file::detail
