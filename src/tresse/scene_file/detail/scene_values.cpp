#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/text.hpp>
#include <tresse/math/vectors.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>
#include <tresse/scene_file/expression.hpp>

namespace tresse::scene_file::detail {
namespace {

constexpr std::size_t most_origins = 10000;
constexpr double integer_error = 1e-9;  // rounding left by arithmetic on parameters
constexpr double radians_per_degree = std::numbers::pi / 180.0;

std::string with_unit(double value, const Wanted& wanted) {
  if (wanted.degrees) return files::number(value / radians_per_degree) + " deg";
  const std::string unit = files::si_unit(wanted.dimension);
  return wanted.dimension.none() && !wanted.dimension.angle() ? files::number(value)
                                                              : files::number(value) + " " + unit;
}

bool takes(const Wanted& wanted, double value) { return wanted.range.contains(value) || value == wanted.none; }

std::string describe_range(const Wanted& wanted, bool whole = false) {
  const Range& range = wanted.range;
  const std::string what = whole            ? "a whole number"
                           : wanted.degrees ? "an angle [deg]"
                                            : files::describe(wanted.dimension);
  const bool apart = wanted.none && !range.contains(*wanted.none);
  const std::string none = apart                  ? fmt::format(", or {}", files::number(*wanted.none))
                           : !wanted.word.empty() ? fmt::format(", or \"{}\"", wanted.word)
                                                  : "";
  if (range.open)
    return fmt::format("{} > {} and at most {}{}", what, with_unit(range.least, wanted), with_unit(range.most, wanted),
                       none);
  return fmt::format("{} from {} to {}{}", what, with_unit(range.least, wanted), with_unit(range.most, wanted), none);
}

/// "0.3", or ""${a} * 2" = 0.3 (a = 0.15)".
std::string written(const TomlNode& node, double value) {
  if (!node.is(TomlNode::Kind::text)) return describe(node);
  return fmt::format("{} = {}", files::in_quotes(node.text), files::number(value));
}

Quantity evaluate_node(const ReaderContext& context, const TomlNode& node, const std::string& path,
                       std::string_view expected) {
  switch (node.kind) {
    case TomlNode::Kind::integer:
    case TomlNode::Kind::number:
      return {node.number, {}, Quantity::Kind::plain};
    case TomlNode::Kind::text:
      break;
    default:
      context.fail(node, fmt::format("{} is {}; expected {}", path, describe(node), expected));
  }
  try {
    return evaluate(node.text, [&](std::string_view name) { return context.parameters.quantity(name); });
  } catch (const ExpressionError& error) {
    scene::Location location = node.location;
    if (node.text_column > 0) location.column = node.text_column + static_cast<int>(error.offset);
    context.fail(location, fmt::format("{} = {}: {}; expected {}", path, files::in_quotes(node.text, 60), error.message,
                                       expected));
  }
}

void note(ReaderContext& context, const TomlNode& node, const std::string& path, double value,
          const files::Dimension& dimension) {
  if (context.origins.size() >= most_origins) return;
  const bool bare = dimension.none() && !dimension.angle();
  context.origins.push_back({path, node.is(TomlNode::Kind::text) ? node.text : describe(node), value,
                             bare ? std::string() : files::si_unit(dimension), node.location});
}

}  // namespace

void ReaderContext::fail(const scene::Location& location, std::string_view message) const {
  if (location.line < 0) {
    const auto& [name, value] = set[static_cast<std::size_t>(-location.line - 1)];
    throw InvalidInput(at(file_name, {}, fmt::format("{}: {}", set.shown(name, value), message)));
  }
  throw InvalidInput(at(file_name, location, message));
}

void ReaderContext::fail(const TomlNode& node, std::string_view message) const {
  const std::string values = node.is(TomlNode::Kind::text) ? parameters.values_used(node.text) : std::string();
  const std::size_t end = std::min(message.find("; expected"), message.size());
  fail(node.location, fmt::format("{}{}{}", message.substr(0, end), values, message.substr(end)));
}

namespace {

/// Of "1/4 1/cm", where the unit is that of the 4 alone, which is seldom meant.
const char* unit_hint(std::string_view text) {
  constexpr std::string_view digits = "0123456789.";
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
    const std::size_t divisor = text.find_first_not_of(' ', slash + 1);
    const std::size_t gap = text.find_first_not_of(digits, divisor);
    if (gap == std::string_view::npos || gap == divisor || text[gap] != ' ') continue;
    const std::size_t unit = text.find_first_not_of(' ', gap);
    if (unit == std::string_view::npos) continue;
    if (std::isalpha(static_cast<unsigned char>(text[unit])) != 0 || text.substr(unit, 2) == "1/")
      return "; a unit belongs to the one number before it: \"(1/4) 1/cm\" is a quarter of 1/cm";
  }
  return "";
}

}  // namespace

std::string read_text(const ReaderContext& context, const TomlNode& node, const std::string& path) {
  if (!node.is(TomlNode::Kind::text))
    context.fail(node, fmt::format("{} is {}; expected a string", path, describe(node)));
  try {
    return context.parameters.substituted(node.text);
  } catch (const ExpressionError& error) {
    context.fail(node, fmt::format("{} = {}: {}", path, files::in_quotes(node.text, 60), error.message));
  }
}

double read_number(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  const Quantity found = evaluate_node(context, node, path, describe_range(wanted));
  double value = found.value;
  if (found.kind == Quantity::Kind::declared) {
    const bool ratio = wanted.dimension.none() && !wanted.dimension.angle();
    if (!found.dimension.same_units(wanted.dimension) || (ratio && found.dimension.angle())) {
      context.fail(node, fmt::format("{} = {} is {}; expected {}{}", path, files::in_quotes(node.text, 60),
                                     files::describe(found.dimension), describe_range(wanted), unit_hint(node.text)));
    }
    if (wanted.degrees && !found.dimension.angle()) value *= radians_per_degree;
  } else if (wanted.degrees) {
    value *= radians_per_degree;
  }
  if (!takes(wanted, value)) {
    context.fail(node, fmt::format("{} is {}; expected {}", path, written(node, found.value), describe_range(wanted)));
  }
  note(context, node, path, value, wanted.dimension);
  return value;
}

double read_whole(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  const std::string expected = describe_range(wanted, true);
  const Quantity found = evaluate_node(context, node, path, expected);
  const double value = std::round(found.value);
  const bool whole = std::abs(found.value - value) <= integer_error * std::max(1.0, std::abs(value)) &&
                     (found.kind != Quantity::Kind::declared || (found.dimension.none() && !found.dimension.angle()));
  if (!whole || !takes(wanted, value)) {
    context.fail(node, fmt::format("{} is {}; expected {}", path, written(node, found.value), expected));
  }
  note(context, node, path, value, {});
  return value;
}

bool read_boolean(ReaderContext& context, const TomlNode& node, const std::string& path) {
  if (node.is(TomlNode::Kind::boolean)) return node.boolean;
  if (node.is(TomlNode::Kind::text)) {
    const std::string text = read_text(context, node, path);
    if (text == "true" || text == "false") return text == "true";
  }
  context.fail(node, fmt::format("{} is {}; expected true or false", path, describe(node)));
}

std::string read_word(ReaderContext& context, const TomlNode& node, const std::string& path,
                      std::span<const std::string_view> words) {
  const std::vector<std::string> known(words.begin(), words.end());
  if (!node.is(TomlNode::Kind::text))
    context.fail(node, fmt::format("{} is {}; expected {}", path, describe(node), files::alternatives(known)));
  std::string word = read_text(context, node, path);
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  const std::string from =
      word == node.text ? std::string() : fmt::format(", from {}", files::in_quotes(node.text, 40));
  const std::string near = nearest_word(word, known);
  context.fail(
      node, fmt::format("{} is {}{}; expected {}{}", path, files::in_quotes(word, 40), from, files::alternatives(known),
                        near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

Vector3 read_vector(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  if (!node.is(TomlNode::Kind::array) || node.items.size() != 3) {
    context.fail(
        node, fmt::format("{} is {}; expected an array of 3, each {}", path, describe(node), describe_range(wanted)));
  }
  Vector3 out;
  for (int i = 0; i < 3; ++i) {
    out[i] = read_number(context, node.items[static_cast<std::size_t>(i)], fmt::format("{}[{}]", path, i), wanted);
  }
  return out;
}

Vector3 normalised(const Vector3& v) {
  constexpr double rounding = 1e-15;
  return std::abs(v.squaredNorm() - 1.0) <= rounding ? v : math::safe_normalized(v);
}

Vector3 read_direction(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const Vector3 v = read_vector(context, node, path, {{}, direction_range});
  if (v.norm() < 1e-12) context.fail(node, fmt::format("{} is a zero vector; expected a direction", path));
  return normalised(v);
}

const TomlNode& require_member(ReaderContext& context, const TomlNode& table, std::string_view place,
                               std::string_view key, std::string_view expected) {
  const TomlNode* found = table.find(key);
  if (found == nullptr) context.fail(table, fmt::format("{} has no \"{}\"; expected {}", place, key, expected));
  return *found;
}

TableReader::TableReader(ReaderContext& context, const TomlNode& node, std::string path, const TableDescription& list,
                         std::span<const std::string_view> refused)
    : context_(context), node_(node), path_(std::move(path)), list_(list) {
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", path_, describe(node)));
  for (const TomlMember& member : node.members) {
    if (list.find(member.key) != nullptr || std::find(refused.begin(), refused.end(), member.key) != refused.end())
      continue;
    const std::vector<std::string> known = list.names();
    const std::string hint = files::did_you_mean(member.key, known);
    context.fail(member.location, fmt::format("unknown key {} in {}{}", files::in_quotes(member.key, 40), path_,
                                              !hint.empty() ? hint : "; expected " + files::alternatives(known)));
  }
}

const TomlNode& TableReader::require(std::string_view key, std::string_view expected) const {
  return require_member(context_, node_, path_, key, expected);
}

const TomlNode& TableReader::require(std::string_view key) const { return require(key, list_.find(key)->field.needed); }

void TableReader::refuse(std::string_view key, std::string_view message) const {
  if (has(key)) fail(key, message);
}

void TableReader::fail(std::string_view key, std::string_view message) const {
  // "keyframes[1].time" is pointed at by the item of the array.
  const std::size_t bracket = key.find('[');
  const TomlNode* found = find(key.substr(0, bracket));
  std::size_t item = 0;
  if (found != nullptr && bracket != std::string_view::npos) {
    std::from_chars(key.data() + bracket + 1, key.data() + key.size(), item);
    if (item < found->items.size()) found = &found->items[item];
  }
  context_.fail(found != nullptr ? *found : node_, fmt::format("{} {}", path(key), message));
}

void TableReader::exclusive(std::string_view key, std::initializer_list<std::string_view> keys) const {
  if (!has(key)) return;
  for (const std::string_view other : keys) {
    if (has(other)) fail(other, fmt::format("stands beside \"{}\"; expected only one of them", key));
  }
}

Wanted TableReader::wanted(const scene::Field& field) const {
  const KeyDescription* listed = list_.find(field.key);
  const bool same = listed != nullptr && listed->field.unit == field.unit;
  const auto narrowed = narrowed_.find(field.key);
  return {.dimension = same ? listed->dimension : dimension_of(field.unit),
          .range = narrowed != narrowed_.end() ? narrowed->second : field.range,
          .degrees = field.unit == "deg",
          .none = field.none,
          .word = field.word};
}

bool TableReader::leaves(const scene::Field& field) const {
  const TomlNode* found = find(field);
  if (found == nullptr) return true;
  if (field.word.empty() || !found->is(TomlNode::Kind::text)) return false;
  try {
    return context_.parameters.substituted(found->text) == field.word;
  } catch (const ExpressionError&) {
    return false;  // whoever reads it as a number says what is wrong
  }
}

double TableReader::number(std::string_view key, double otherwise) const {
  const TomlNode* found = find(key);
  return found == nullptr ? otherwise : read_number(context_, *found, path(key), wanted(key));
}

const TomlNode* TableReader::find(const scene::Field& field) const {
  return field.needed.empty() ? find(field.key) : &require(field.key, field.needed);
}

namespace {

/// The same field where plain numbers are degrees.
Wanted in_degrees(Wanted wanted) {
  wanted.degrees = true;
  return wanted;
}

}  // namespace

void TableReader::operator()(const scene::Field& field, double& value) const {
  if (!leaves(field)) value = read_number(context_, *find(field), path(field.key), wanted(field));
  if (field.in_degrees.empty()) return;
  const std::string key = std::string(field.key) + "_deg";
  exclusive(field.key, {key});
  if (const TomlNode* found = find(key)) value = read_number(context_, *found, path(key), in_degrees(wanted(field)));
}

void TableReader::operator()(const scene::Field& field, int& value) const {
  if (const TomlNode* found = find(field))
    value = static_cast<int>(read_whole(context_, *found, path(field.key), wanted(field)));
}

void TableReader::operator()(const scene::Field& field, std::uint64_t& value) const {
  if (const TomlNode* found = find(field))
    value = static_cast<std::uint64_t>(read_whole(context_, *found, path(field.key), wanted(field)));
}

void TableReader::operator()(const scene::Field& field, bool& value) const {
  if (const TomlNode* found = find(field)) value = read_boolean(context_, *found, path(field.key));
}

void TableReader::operator()(const scene::Field& field, std::string& value) const {
  if (const TomlNode* found = find(field)) value = read_text(context_, *found, path(field.key));
}

void TableReader::operator()(const scene::Field& field, Vector3& value) const {
  if (const TomlNode* found = find(field)) {
    if (field.direction)
      value = read_direction(context_, *found, path(field.key));
    else if ((field.forms & scene::forms::one) != 0 && !found->is(TomlNode::Kind::array))  // downwards
      value = Vector3(0.0, 0.0, -read_number(context_, *found, path(field.key), wanted(field)));
    else
      value = read_vector(context_, *found, path(field.key), wanted(field));
  }
  if (field.in_degrees.empty()) return;
  const std::string key = std::string(field.key) + "_deg";
  exclusive(field.key, {key});
  if (const TomlNode* found = find(key)) value = read_vector(context_, *found, path(key), in_degrees(wanted(field)));
}

void TableReader::operator()(const scene::Field&, Matrix3& value) const { value = read_frame(*this); }

/// A vector, or a table for gusts.
void TableReader::operator()(const scene::Field& field, scene::Wind& value) const {
  const TomlNode* found = find(field);
  if (found == nullptr || !found->is(TomlNode::Kind::table)) return (*this)(field, value.mean);
  TableReader(context_, *found, path(field.key), description<scene::Wind>()).read<scene::Wind>(value);
}

}  // namespace tresse::scene_file::detail
