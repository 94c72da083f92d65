#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

std::string describe_range(const Wanted& wanted) {
  const Range& range = wanted.range;
  std::string what = wanted.degrees ? std::string("an angle [deg]") : files::describe(wanted.dimension);
  if (range.open)
    return fmt::format("{} > {} and at most {}", what, with_unit(range.least, wanted), with_unit(range.most, wanted));
  return fmt::format("{} from {} to {}", what, with_unit(range.least, wanted), with_unit(range.most, wanted));
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

/// read_number() that no recorder hears of.
double number_at(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
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
  if (!wanted.range.contains(value)) {
    context.fail(node, fmt::format("{} is {}; expected {}", path, written(node, found.value), describe_range(wanted)));
  }
  note(context, node, path, value, wanted.dimension);
  return value;
}

/// Three numbers in an array, likewise.
Vector3 vector_at(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  if (!node.is(TomlNode::Kind::array) || node.items.size() != 3) {
    context.fail(
        node, fmt::format("{} is {}; expected an array of 3, each {}", path, describe(node), describe_range(wanted)));
  }
  Vector3 out;
  for (int i = 0; i < 3; ++i) {
    out[i] = number_at(context, node.items[static_cast<std::size_t>(i)], fmt::format("{}[{}]", path, i), wanted);
  }
  return out;
}

std::string text_at(const ReaderContext& context, const TomlNode& node, const std::string& path) {
  if (!node.is(TomlNode::Kind::text))
    context.fail(node, fmt::format("{} is {}; expected a string", path, describe(node)));
  try {
    return context.parameters.substituted(node.text);
  } catch (const ExpressionError& error) {
    context.fail(node, fmt::format("{} = {}: {}", path, files::in_quotes(node.text, 60), error.message));
  }
}

void record(const ReaderContext& context, const std::string& path, SceneRecorder::Form form) {
  if (context.recorder != nullptr) context.recorder->value(path, std::move(form));
}

SceneRecorder::Form integer_form(double least, double most) {
  return {.kind = SceneRecorder::Kind::integer, .units = {""}, .range = Range{least, most}};
}

SceneRecorder::Form word_form(std::span<const std::string> words) {
  return {.kind = SceneRecorder::Kind::word, .words = {words.begin(), words.end()}};
}

const Wanted wanted_direction{{}, {-1e6, 1e6}};

}  // namespace

double read_number(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  record(context, path, form_of(wanted));
  return number_at(context, node, path, wanted);
}

int read_integer(ReaderContext& context, const TomlNode& node, const std::string& path, double least, double most) {
  record(context, path, integer_form(least, most));
  const std::string expected = fmt::format("a whole number from {} to {}", files::number(least), files::number(most));
  const Quantity found = evaluate_node(context, node, path, expected);
  const double value = std::round(found.value);
  const bool whole = std::abs(found.value - value) <= integer_error * std::max(1.0, std::abs(value)) &&
                     (found.kind != Quantity::Kind::declared || (found.dimension.none() && !found.dimension.angle()));
  if (!whole || !(value >= least && value <= most)) {
    context.fail(node, fmt::format("{} is {}; expected {}", path, written(node, found.value), expected));
  }
  note(context, node, path, value, {});
  return static_cast<int>(value);
}

bool read_boolean(ReaderContext& context, const TomlNode& node, const std::string& path) {
  record(context, path, {.kind = SceneRecorder::Kind::boolean});
  if (node.is(TomlNode::Kind::boolean)) return node.boolean;
  if (node.is(TomlNode::Kind::text)) {
    const std::string text = text_at(context, node, path);
    if (text == "true" || text == "false") return text == "true";
  }
  context.fail(node, fmt::format("{} is {}; expected true or false", path, describe(node)));
}

std::string read_text(ReaderContext& context, const TomlNode& node, const std::string& path) {
  record(context, path, {.kind = SceneRecorder::Kind::text});
  return text_at(context, node, path);
}

std::string read_word(ReaderContext& context, const TomlNode& node, const std::string& path,
                      std::span<const std::string> words) {
  record(context, path, word_form(words));
  if (!node.is(TomlNode::Kind::text))
    context.fail(node, fmt::format("{} is {}; expected {}", path, describe(node), files::alternatives(words)));
  std::string word = text_at(context, node, path);
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  const std::string from =
      word == node.text ? std::string() : fmt::format(", from {}", files::in_quotes(node.text, 40));
  const std::string near = nearest_word(word, words);
  context.fail(
      node, fmt::format("{} is {}{}; expected {}{}", path, files::in_quotes(word, 40), from, files::alternatives(words),
                        near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

Vector3 read_vector(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted) {
  record(context, path, form_of(wanted, true));
  return vector_at(context, node, path, wanted);
}

Vector3 normalised(const Vector3& v) {
  constexpr double rounding = 1e-15;
  return std::abs(v.squaredNorm() - 1.0) <= rounding ? v : math::safe_normalized(v);
}

Vector3 read_direction(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const Vector3 v = read_vector(context, node, path, wanted_direction);
  if (v.norm() < 1e-12) context.fail(node, fmt::format("{} is a zero vector; expected a direction", path));
  return normalised(v);
}

TableReader::TableReader(ReaderContext& context, const TomlNode& node, std::string path,
                         const std::vector<std::string_view>& keys)
    : context_(context), node_(node), path_(std::move(path)) {
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", path_, describe(node)));
  if (context.recorder != nullptr) context.recorder->table(node, path_, keys);
  for (const TomlMember& member : node.members) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    const std::vector<std::string> known(keys.begin(), keys.end());
    const std::string hint = files::did_you_mean(member.key, known);
    context.fail(member.location, fmt::format("unknown key {} in {}{}", files::in_quotes(member.key, 40), path_,
                                              !hint.empty() ? hint : "; expected " + files::alternatives(known)));
  }
}

const TomlNode& require_member(ReaderContext& context, const TomlNode& table, std::string_view place,
                               std::string_view key, std::string_view expected) {
  if (context.recorder != nullptr) context.recorder->require(table, key);
  const TomlNode* found = table.find(key);
  if (found == nullptr) context.fail(table, fmt::format("{} has no \"{}\"; expected {}", place, key, expected));
  return *found;
}

const TomlNode& TableReader::require(std::string_view key, std::string_view expected) const {
  return require_member(context_, node_, path_, key, expected);
}

void TableReader::refuse(std::string_view key, std::string_view message) const {
  if (context_.recorder != nullptr) context_.recorder->refuse(node_, key);
  if (has(key)) fail(key, message);
}

void TableReader::without(std::string_view key, const nlohmann::ordered_json& value) const {
  if (context_.recorder != nullptr) context_.recorder->initial(path(key), value);
}

void TableReader::fail(std::string_view key, std::string_view message) const {
  const TomlNode* found = find(key);
  context_.fail(found != nullptr ? *found : node_, fmt::format("{} {}", path(key), message));
}

void TableReader::exclusive(std::string_view key, std::initializer_list<std::string_view> keys) const {
  if (!has(key)) return;
  for (const std::string_view other : keys) {
    if (has(other)) fail(other, fmt::format("stands beside \"{}\"; expected only one of them", key));
  }
}

void TableReader::read(std::string_view key, double& value, const Wanted& wanted) const {
  record(context_, path(key), form_of(wanted));
  without(key, initial_of(value, wanted));
  if (const TomlNode* found = find(key)) value = read_number(context_, *found, path(key), wanted);
}
void TableReader::read(std::string_view key, int& value, int least, int most) const {
  record(context_, path(key), integer_form(least, most));
  if (value >= least && value <= most) without(key, value);
  if (const TomlNode* found = find(key)) value = read_integer(context_, *found, path(key), least, most);
}
void TableReader::read(std::string_view key, bool& value) const {
  record(context_, path(key), {.kind = SceneRecorder::Kind::boolean});
  without(key, value);
  if (const TomlNode* found = find(key)) value = read_boolean(context_, *found, path(key));
}
void TableReader::read(std::string_view key, std::string& value, std::span<const std::string> words) const {
  record(context_, path(key), word_form(words));
  if (!value.empty()) without(key, value);
  if (const TomlNode* found = find(key)) value = read_word(context_, *found, path(key), words);
}
void TableReader::read(std::string_view key, Vector3& value, const Wanted& wanted) const {
  record(context_, path(key), form_of(wanted, true));
  without(key, initial_of(value, wanted));
  if (const TomlNode* found = find(key)) value = read_vector(context_, *found, path(key), wanted);
}
void TableReader::read_direction(std::string_view key, Vector3& value) const {
  record(context_, path(key), form_of(wanted_direction, true));
  if (!value.isZero()) without(key, initial_of(value, wanted_direction));
  if (const TomlNode* found = find(key)) value = detail::read_direction(context_, *found, path(key));
}
double TableReader::required(std::string_view key, const Wanted& wanted, std::string_view expected) const {
  return read_number(context_, require(key, expected), path(key), wanted);
}

}  // namespace tresse::scene_file::detail
