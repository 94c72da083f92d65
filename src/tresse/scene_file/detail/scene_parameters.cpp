#include <tresse/scene_file/detail/scene_parameters.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>

namespace tresse::scene_file::detail {
namespace {

constexpr std::size_t most_parameters = 1000;
constexpr std::size_t longest_value = 2000;
constexpr int deepest_chain = 100;

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

/// Words are texts that cannot be meant as arithmetic: they start with a letter and call and refer to nothing.
bool looks_like_word(std::string_view text) {
  if (text.empty()) return false;
  const auto first = static_cast<unsigned char>(text.front());
  return (std::isalpha(first) || first == '_' || first >= 0x80) && text.find_first_of("($") == std::string_view::npos &&
         text != "pi";
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

/// The comment of a line that holds `key = value # comment`, or of a line of comment alone.
std::string_view comment_of(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote == '\0' && line[i] == '#') return files::trimmed(line.substr(i + 1));
    if (quote == '\0' && (line[i] == '"' || line[i] == '\'')) {
      quote = line[i];
    } else if (line[i] == quote) {
      quote = '\0';
    }
  }
  return {};
}

bool only_comment(std::string_view line) { return files::trimmed(line).starts_with('#'); }

std::string description_at(const std::vector<std::string_view>& lines, int line) {
  if (line < 1 || line > static_cast<int>(lines.size())) return {};
  const auto own = static_cast<std::size_t>(line - 1);
  if (const std::string_view behind = comment_of(lines[own]); !behind.empty()) return one_line(behind, 300);
  std::size_t first = own;
  while (first > 0 && only_comment(lines[first - 1])) --first;
  std::string out;
  for (std::size_t i = first; i < own; ++i) out += fmt::format("{}{}", out.empty() ? "" : " ", comment_of(lines[i]));
  return one_line(out, 300);
}

/// Calls `name(text)` for each ${name} and `plain(text)` for what stands between. False if a brace is not closed.
template <typename Plain, typename Name>
bool for_each_reference(std::string_view text, Plain&& plain, Name&& name) {
  for (;;) {
    const std::size_t open = text.find("${");
    plain(text.substr(0, std::min(open, text.size())));
    if (open == std::string_view::npos) return true;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return false;
    name(text.substr(open + 2, close - open - 2));
    text.remove_prefix(close + 1);
  }
}

}  // namespace

Parameters::Parameters(const TomlNode* table, std::string_view text, std::string_view file_name,
                       const ParameterOverrides& set)
    : file_name_(file_name), set_(set) {
  if (table != nullptr) {
    if (!table->is(TomlNode::Kind::table)) {
      throw InvalidInput(at(file_name_, table->location,
                            fmt::format("\"parameters\" is {}; expected a table [parameters]", describe(*table))));
    }
    load(*table, text);
  }
  for (const auto& [name, value] : set) override_with(name, value);
  for (Entry& entry : entries_) resolve(entry);
}

void Parameters::load(const TomlNode& table, std::string_view text) {
  if (table.members.size() > most_parameters) {
    throw InvalidInput(at(file_name_, table.location,
                          fmt::format("{} parameters; at most {}", table.members.size(), most_parameters)));
  }
  const auto lines = split_lines(text);
  entries_.reserve(table.members.size());
  for (const TomlMember& member : table.members) {
    const auto where = [&](std::string_view message) { return at(file_name_, member.location, message); };
    if (!is_name(member.key)) {
      throw InvalidInput(where(
          fmt::format("{} is no name for a parameter; expected letters, digits and _", files::in_quotes(member.key))));
    }
    Entry entry;
    entry.kind = member.value.kind;
    entry.boolean = member.value.boolean;
    entry.shown.name = member.key;
    entry.shown.location = member.value.location;
    entry.shown.description = description_at(lines, member.location.line);
    switch (member.value.kind) {
      case TomlNode::Kind::text:
        entry.shown.value = member.value.text;
        break;
      case TomlNode::Kind::integer:
        entry.shown.value = fmt::format("{}", member.value.integer);
        break;
      case TomlNode::Kind::number:
        entry.shown.value = files::number(member.value.number);
        break;
      case TomlNode::Kind::boolean:
        entry.shown.value = member.value.boolean ? "true" : "false";
        break;
      default:
        throw InvalidInput(where(
            fmt::format("the parameter \"{}\" is {}; expected a number, a string with a unit, a boolean or a word",
                        member.key, describe(member.value))));
    }
    if (member.value.kind == TomlNode::Kind::number && !std::isfinite(member.value.number)) {
      throw InvalidInput(where(fmt::format("the parameter \"{}\" is {}; expected a finite number", member.key,
                                           files::number(member.value.number))));
    }
    if (entry.shown.value.size() > longest_value) {
      throw InvalidInput(where(fmt::format("the parameter \"{}\" has {} bytes; at most {}", member.key,
                                           entry.shown.value.size(), longest_value)));
    }
    entry.shown.file_value = entry.shown.value;
    entries_.push_back(std::move(entry));
  }
}

void Parameters::override_with(const std::string& name, const std::string& raw) {
  const auto complain = [&](std::string_view message) {
    throw InvalidInput(one_line(fmt::format("{}: {}", set_.shown(name, raw), message), 600));
  };
  Entry* entry = find(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const Entry& candidate : entries_) names.push_back(candidate.shown.name);
    const std::string hint =
        name.starts_with('-') ? "; a sign stands before the braces: -${name}" : files::did_you_mean(name, names);
    complain(fmt::format("{} has no parameter {}{}", one_line(file_name_, 200), files::in_quotes(name),
                         !hint.empty()   ? hint
                         : names.empty() ? "; it has no parameters at all"
                                         : "; it has " + files::alternatives(names)));
  }
  std::string_view value = files::trimmed(raw);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  if (value.empty()) complain("no value; expected name=value");
  if (value.size() > longest_value) complain("the value is too long");
  const bool boolean = value == "true" || value == "false";
  if (entry->kind == TomlNode::Kind::boolean && !boolean) complain("expected true or false, as in the file");
  const bool was_number = entry->kind == TomlNode::Kind::integer || entry->kind == TomlNode::Kind::number ||
                          (entry->kind == TomlNode::Kind::text && !looks_like_word(entry->shown.file_value));
  if (was_number && boolean) complain(fmt::format("expected a number, as in the file ({})", entry->shown.file_value));
  entry->kind = boolean ? TomlNode::Kind::boolean : TomlNode::Kind::text;
  entry->boolean = value == "true";
  entry->shown.value = std::string(value);
  entry->shown.overridden = true;
  if (was_number && looks_like_word(value))
    complain(fmt::format("expected a number, as in the file ({})", entry->shown.file_value));
}

std::string Parameters::as_given(const Parameter& parameter) const {
  return set_.shown(parameter.name, parameter.value);
}

void Parameters::fail(const Entry& entry, std::string_view message) const {
  if (entry.shown.overridden) {
    throw InvalidInput(one_line(fmt::format("{}: {}", as_given(entry.shown), message), 600));
  }
  throw InvalidInput(
      at(file_name_, entry.shown.location, fmt::format("the parameter \"{}\": {}", entry.shown.name, message)));
}

void Parameters::resolve(Entry& entry) {
  if (entry.state == Entry::State::ready) return;
  if (entry.state == Entry::State::running) fail(entry, "refers to itself in a circle");
  if (depth_ == deepest_chain)
    fail(entry, fmt::format("depends on more than {} other parameters in a row", deepest_chain));
  entry.state = Entry::State::running;
  ++depth_;
  if (entry.kind == TomlNode::Kind::boolean) {
    entry.shown.resolved = entry.shown.value;
  } else if (entry.kind == TomlNode::Kind::text && looks_like_word(entry.shown.value)) {
    entry.word = true;
    entry.shown.resolved = entry.shown.value;
  } else {
    const ParameterLookup lookup = [this](std::string_view name) {
      if (Entry* other = find(name)) resolve(*other);
      return quantity(name);
    };
    try {
      entry.quantity = evaluate(entry.shown.value, lookup);
      if (entry.shown.overridden && entry.quantity.kind != Quantity::Kind::declared &&
          !looks_like_word(entry.shown.file_value)) {
        // A plain number for a parameter that has a unit in the file is in SI units of the same dimension.
        const Quantity in_file = evaluate(entry.shown.file_value, lookup);
        if (in_file.kind == Quantity::Kind::declared)
          entry.quantity = {entry.quantity.value, in_file.dimension, in_file.kind};
      } else if (entry.shown.overridden && !looks_like_word(entry.shown.file_value) &&
                 entry.shown.file_value != "true" && entry.shown.file_value != "false") {
        const Quantity in_file = evaluate(entry.shown.file_value, lookup);
        if (in_file.kind == Quantity::Kind::declared && !in_file.dimension.same_units(entry.quantity.dimension)) {
          fail(entry, fmt::format("{}; expected {}, as in the file ({})", files::describe(entry.quantity.dimension),
                                  files::describe(in_file.dimension), entry.shown.file_value));
        }
      }
    } catch (const ExpressionError& error) {
      fail(entry, error.message);
    }
    if (entry.quantity.kind == Quantity::Kind::plain) entry.quantity.kind = Quantity::Kind::undeclared;
    entry.shown.resolved = files::number(entry.quantity.value);
    if (entry.quantity.kind == Quantity::Kind::declared &&
        !(entry.quantity.dimension.none() && !entry.quantity.dimension.angle())) {
      entry.shown.unit = files::si_unit(entry.quantity.dimension);
    }
  }
  entry.state = Entry::State::ready;
  --depth_;
}

Parameters::Entry* Parameters::find(std::string_view name) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.shown.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const Parameters::Entry& Parameters::known(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.shown.name == name; });
  if (found != entries_.end()) return *found;
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.shown.name);
  const std::string hint =
      name.starts_with('-') ? "; a sign stands before the braces: -${name}" : files::did_you_mean(name, names);
  throw ExpressionError{0, fmt::format("unknown parameter {}{}", files::in_quotes(name, 60),
                                       !hint.empty() ? hint : "; [parameters] does not define it")};
}

Quantity Parameters::quantity(std::string_view name) const {
  const Entry& entry = known(name);
  if (entry.word)
    throw ExpressionError{0, fmt::format("the parameter \"{}\" is the word {}; expected a number", name,
                                         files::in_quotes(entry.shown.value))};
  if (entry.kind == TomlNode::Kind::boolean)
    throw ExpressionError{0, fmt::format("the parameter \"{}\" is {}; expected a number", name, entry.shown.value)};
  return entry.quantity;
}

std::string Parameters::substituted(std::string_view text) const {
  std::string out;
  const bool closed = for_each_reference(
      text, [&](std::string_view plain) { out += plain; },
      [&](std::string_view name) {
        const Parameter& shown = known(name).shown;
        out += shown.value.find('$') == std::string::npos ? shown.value : shown.resolved;
      });
  if (!closed) throw ExpressionError{text.find("${"), "a ${ without its }"};
  return out;
}

std::string Parameters::values_used(std::string_view text) const {
  std::string out;
  for_each_reference(
      text, [](std::string_view) {},
      [&](std::string_view name) {
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry& entry) { return entry.shown.name == name; });
        if (found != entries_.end())
          out += (out.empty() ? " (" : ", ") + (found->shown.overridden
                                                    ? as_given(found->shown)
                                                    : fmt::format("{} = {}", name, one_line(found->shown.value, 40)));
      });
  return out.empty() ? out : out + ")";
}

std::vector<Parameter> Parameters::list() const {
  std::vector<Parameter> out;
  out.reserve(entries_.size());
  for (const Entry& entry : entries_) out.push_back(entry.shown);
  return out;
}

}  // namespace tresse::scene_file::detail
