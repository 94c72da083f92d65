#include <tresse/importers/detail/usda_layer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>

namespace tresse::importers::detail {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Walks through the text of a layer.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  UsdLayer read() {
    if (text_.starts_with("PXR-USDC")) files::fail(name_, "is USD in binary form; expected it as text");
    if (!text_.starts_with("#usda 1.")) fail("does not start with \"#usda 1.0\"; expected USD as text");
    skip_blank();
    if (peek() == '(') layer_.metadata = metadata();
    while (skip_blank(), at_ < text_.size()) {
      std::string_view first = word();
      read_prim(first, UsdPrim::none, 0);
    }
    return std::move(layer_);
  }

 private:
  static constexpr int deepest = 100;

  [[noreturn]] void fail(const std::string& message) { files::fail(name_, line(), message); }
  /// From 1. Places are asked for from the front to the back.
  std::size_t line() {
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(counted_);
    line_ += static_cast<std::size_t>(std::count(from, text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    counted_ = at_;
    return line_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip(std::string_view what) {
    while (at_ < text_.size()) {
      if (what.find(peek()) != std::string_view::npos) {
        ++at_;
      } else if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  void skip_blank() { skip(" \t\r\n;"); }

  std::string_view word() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n;=(){}\"'", at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  /// A text in quotes, with them; so too an asset between "@" and a path between "<" and ">".
  std::string_view quoted() {
    const std::size_t begin = at_;
    const char first = peek();
    std::string_view close = text_.substr(at_, 1);
    if (first == '<') close = ">";
    for (const std::string_view triple : {"\"\"\"", "'''", "@@@"}) {
      if (text_.substr(at_).starts_with(triple)) close = triple;
    }
    at_ += close.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(close))
      at_ = std::min(at_ + (peek() == '\\' ? 2 : 1), text_.size());
    if (at_ >= text_.size()) fail("ends within a text in quotes; expected its end");
    at_ += close.size();
    return text_.substr(begin, at_ - begin);
  }
  bool at_quote() const {
    return std::string_view("\"'@<").find(peek()) != std::string_view::npos && at_ < text_.size();
  }

  /// From a bracket to the one that closes it.
  std::string_view balanced() {
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size();) {
      // Most of a file is numbers between brackets.
      at_ = std::min(text_.find_first_of("\"'@<#()[]{}", at_), text_.size());
      if (at_ >= text_.size()) break;
      const char c = peek();
      if (at_quote()) {
        quoted();
      } else if (c == '#') {
        skip_blank();
      } else {
        ++at_;
        if (c == '(' || c == '[' || c == '{') ++depth;
        if ((c == ')' || c == ']' || c == '}') && --depth == 0) return text_.substr(begin, at_ - begin);
      }
    }
    fail("ends within brackets; expected their end");
  }

  std::string_view value() {
    skip_blank();
    if (peek() == '[' || peek() == '(' || peek() == '{') return balanced();
    if (!at_quote()) {
      const std::string_view out = word();
      if (out.empty()) fail("a name without a value; expected one behind =");
      return out;
    }
    // An asset may be followed by a path in it.
    const std::size_t begin = at_;
    quoted();
    if (peek() == '<') quoted();
    return text_.substr(begin, at_ - begin);
  }

  /// What stands in the brackets behind a prim or an attribute: "key = value" line by line, and texts that describe it.
  UsdValues metadata() {
    UsdValues out;
    ++at_;
    for (;;) {
      skip(" \t\r\n;,");
      if (at_ >= text_.size()) fail("ends within brackets; expected their end");
      if (peek() == ')') {
        ++at_;
        return out;
      }
      if (at_quote()) {
        quoted();
        continue;
      }
      if (peek() == '(' || peek() == '{' || peek() == '[') {
        balanced();
        continue;
      }
      const std::string_view key = word();
      if (key.empty()) fail(fmt::format("{}; expected metadata", files::in_quotes(text_.substr(at_, 1), 20)));
      skip(" \t");
      if (peek() != '=') continue;  // "prepend" before the key
      ++at_;
      out[std::string(key)] = value();
    }
  }

  void read_prim(std::string_view specifier, std::size_t parent, int depth) {
    if (depth > deepest) fail("nests prims more than 100 deep");
    if (specifier != "def" && specifier != "over" && specifier != "class")
      fail(fmt::format("{}; expected a prim: def, over or class",
                       files::in_quotes(specifier.empty() ? text_.substr(at_, 1) : specifier, 20)));
    UsdPrim prim;
    prim.specifier = specifier;
    prim.line = line();
    prim.parent = parent;
    skip_blank();
    if (peek() != '"') prim.type = word();
    skip_blank();
    if (peek() != '"') fail("a prim without a name; expected one in quotes");
    prim.name = unquoted(quoted());
    skip_blank();
    if (peek() == '(') prim.metadata = metadata();
    skip_blank();
    if (peek() != '{') fail(fmt::format("prim {} has no body; expected {{", files::in_quotes(prim.name, 40)));
    ++at_;
    layer_.prims.push_back(std::move(prim));
    read_body(layer_.prims.size() - 1, depth);
  }

  void read_body(std::size_t index, int depth) {
    for (;;) {
      skip_blank();
      if (at_ >= text_.size()) fail("ends within a prim; expected its end");
      if (peek() == '}') {
        ++at_;
        return;
      }
      const std::string_view first = word();
      if (first == "def" || first == "over" || first == "class") {
        read_prim(first, index, depth + 1);
        continue;
      }
      read_attribute(first, index);
    }
  }

  /// "uniform token type = ...": the name is the last word before what follows. One without a value ends with its line.
  void read_attribute(std::string_view name, std::size_t index) {
    for (;;) {
      skip(" \t");
      if (peek() == '"' || peek() == '\'') {  // the name of a set of variants
        quoted();
        continue;
      }
      const std::string_view next = word();
      if (next.empty()) break;
      name = next;
    }
    if (name.empty()) fail(fmt::format("{}; expected an attribute", files::in_quotes(text_.substr(at_, 1), 20)));
    UsdPrim& prim = layer_.prims[index];
    const bool variants = name == "variantSet";
    prim.variants = prim.variants || variants;
    const bool sampled = name.ends_with(".timeSamples");
    if (sampled) name.remove_suffix(std::string_view(".timeSamples").size());
    UsdAttribute& attribute = prim.attributes[std::string(name)];
    if (peek() == '=') {
      ++at_;
      const std::string_view found = value();
      (sampled ? attribute.samples : attribute.value) = found == "None" ? std::string_view() : found;
    }
    skip(" \t");
    if (peek() == '(') {
      for (auto& [key, what] : metadata()) attribute.metadata[key] = what;
    }
    if (peek() == '{') balanced();
    if (peek() == ')' || peek() == ']')
      fail(fmt::format("{}; expected an attribute", files::in_quotes(text_.substr(at_, 1), 20)));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1, counted_ = 0;  ///< the line of the place up to which lines were counted
  UsdLayer layer_;
};

}  // namespace

UsdLayer read_usda_layer(std::string_view text, const std::string& name) {
  return Parser(files::without_mark(text), name).read();
}

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

std::vector<std::string_view> usd_items(std::string_view value) {
  std::vector<std::string_view> out;
  constexpr std::string_view between = " \t\r\n,()[]";
  for (std::size_t at = value.find_first_not_of(between); at != std::string_view::npos;) {
    std::size_t end = std::min(value.find_first_of(between, at), value.size());
    if (value[at] == '#') {
      end = std::min(value.find('\n', at), value.size());
    } else {
      out.push_back(value.substr(at, end - at));
    }
    at = value.find_first_not_of(between, end);
  }
  return out;
}

std::vector<UsdSample> usd_samples(std::string_view text, const std::string& name) {
  std::vector<UsdSample> out;
  if (!text.starts_with('{') || !text.ends_with('}')) return out;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n,");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    if (text.front() == '#') {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
      continue;
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) files::fail(name, "has time samples without a time; expected time: value");
    const std::optional<double> time = files::real_in(files::trimmed(text.substr(0, colon)));
    if (!time)
      files::fail(name, fmt::format("has a time sample at {}; expected a number",
                                    files::in_quotes(files::trimmed(text.substr(0, colon)), 40)));
    text.remove_prefix(colon + 1);
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    std::size_t end = 0;
    int depth = 0;
    for (; end < text.size(); ++end) {
      const char c = text[end];
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      if (c == ',' && depth == 0) break;
    }
    out.push_back({*time, files::trimmed(text.substr(0, end))});
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace tresse::importers::detail
