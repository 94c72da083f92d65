#include <tresse/scene_file/expression.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include <tresse/files/text.hpp>

namespace tresse::scene_file {
namespace {

using QuantityKind = Quantity::Kind;

constexpr std::size_t longest_text = 2000;
constexpr int deepest_nesting = 50;
constexpr std::size_t most_arguments = 16;
constexpr int most_units = 16;

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names{"sqrt",  "abs", "sin", "cos", "tan", "asin",  "acos", "atan",
                                              "atan2", "exp", "log", "min", "max", "floor", "ceil", "round"};
  return names;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

QuantityKind product_kind(QuantityKind a, QuantityKind b) {
  if (a == QuantityKind::undeclared || b == QuantityKind::undeclared) return QuantityKind::undeclared;
  return a == QuantityKind::declared || b == QuantityKind::declared ? QuantityKind::declared : QuantityKind::plain;
}

/// Recursive descent, one function per level of precedence, values computed on the way.
class Evaluator {
 public:
  Evaluator(std::string_view text, const ParameterLookup& parameter) : text_(text), parameter_(parameter) {}

  Quantity run() {
    if (text_.size() > longest_text)
      fail(0, fmt::format("an expression of {} bytes; at most {}", text_.size(), longest_text));
    skip_space();
    if (at_end()) fail(0, "an empty string; expected a number, with its unit if it has one");
    const Quantity out = sum();
    if (!at_end()) fail(at_, fmt::format("unexpected {}", rest()));
    return out;
  }

 private:
  [[noreturn]] static void fail(std::size_t offset, std::string message) {
    throw ExpressionError{offset, std::move(message)};
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string rest() const { return at_end() ? std::string("end") : files::in_quotes(text_.substr(at_), 30); }
  void skip_space() {
    while (!at_end() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) ++at_;
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    skip_space();
    return true;
  }

  Quantity checked(std::size_t offset, Quantity value) const {
    if (!std::isfinite(value.value)) fail(offset, "the result is not finite");
    if (value.kind != QuantityKind::declared) value.dimension = {};
    for (const double exponent : value.dimension.exponents) {
      if (!(std::abs(exponent) <= 100.0)) fail(offset, "a power of a unit beyond 100");
    }
    return value;
  }

  Quantity sum() {
    const Nesting nesting(*this);
    Quantity left = product();
    for (;;) {
      const std::size_t offset = at_;
      const bool plus = peek() == '+';
      if (!plus && peek() != '-') return left;
      accept(peek());
      const Quantity right = product();
      left = combined(offset, plus ? left.value + right.value : left.value - right.value, left, right,
                      plus ? "add" : "subtract");
    }
  }

  /// What a sum, min or max of two quantities is: of one dimension, where a plain number takes the other's.
  Quantity combined(std::size_t offset, double value, const Quantity& a, const Quantity& b,
                    std::string_view verb) const {
    if (a.kind == QuantityKind::declared && b.kind == QuantityKind::declared && !a.dimension.same_units(b.dimension)) {
      fail(offset,
           fmt::format("cannot {} {} and {}", verb, files::describe(a.dimension), files::describe(b.dimension)));
    }
    Quantity out{value, {}, QuantityKind::plain};
    if (a.kind == QuantityKind::declared || b.kind == QuantityKind::declared) {
      const Quantity& model =
          a.kind != QuantityKind::declared || (b.kind == QuantityKind::declared && b.dimension.angle()) ? b : a;
      out.dimension = model.dimension;
      out.kind = QuantityKind::declared;
    } else if (a.kind == QuantityKind::undeclared || b.kind == QuantityKind::undeclared) {
      out.kind = QuantityKind::undeclared;
    }
    return checked(offset, out);
  }

  Quantity product() {
    Quantity left = signed_factor();
    for (;;) {
      const std::size_t offset = at_;
      const bool times = peek() == '*';
      if (!times && peek() != '/') return left;
      accept(peek());
      const Quantity right = signed_factor();
      if (!times && right.value == 0.0) fail(offset, "division by zero");
      left = checked(offset, {times ? left.value * right.value : left.value / right.value,
                              times ? left.dimension * right.dimension : left.dimension / right.dimension,
                              product_kind(left.kind, right.kind)});
    }
  }

  Quantity signed_factor() {
    bool negative = false;
    for (;;) {  // a loop, not a recursion: "-----1" is as deep as it is long
      if (accept('-')) {
        negative = !negative;
      } else if (!accept('+')) {
        break;
      }
    }
    Quantity out = raised();
    if (negative) out.value = -out.value;
    return out;
  }

  Quantity raised() {
    const Quantity base = with_unit();
    const std::size_t offset = at_;
    if (!accept('^')) return base;
    const Nesting nesting(*this);
    const Quantity exponent = signed_factor();  // right-associative: 2^3^2 is 2^9
    if (exponent.kind == QuantityKind::declared && !exponent.dimension.none()) {
      fail(offset, fmt::format("an exponent that is {}; expected a plain number", files::describe(exponent.dimension)));
    }
    return checked(offset,
                   {std::pow(base.value, exponent.value), power(base.dimension, exponent.value),
                    base.kind == QuantityKind::plain
                        ? exponent.kind == QuantityKind::undeclared ? QuantityKind::undeclared : QuantityKind::plain
                        : base.kind});
  }

  /// A primary with a unit behind it, if any: "70 um", "${angle} deg", "(1 + 2) cm", "0.6 1/cm".
  Quantity with_unit() {
    const std::size_t offset = at_;
    const bool digits = is_digit(peek()) || peek() == '.';
    Quantity value = primary();
    const std::string_view written = digits ? text_.substr(offset, literal_end_ - offset) : std::string_view();
    files::Unit unit;
    if (!unit_suffix(unit)) return value;
    if (value.kind == QuantityKind::declared) {
      fail(offset, fmt::format("a unit after {}, which carries one already", files::describe(value.dimension)));
    }
    const double si = digits && unit.factor == 1.0 ? shifted(written, unit.decade) : unit.to_si(value.value);
    return checked(offset, {si, unit.dimension, QuantityKind::declared});
  }

  /// The double nearest to a literal times a power of ten: "12.3 cm" is 0.123, not 12.3 / 100.
  static double shifted(std::string_view literal, int decade) {
    const std::size_t e = literal.find_first_of("eE");
    int exponent = 0;
    if (e != std::string_view::npos) {
      const std::size_t digits = literal[e + 1] == '+' ? e + 2 : e + 1;
      std::from_chars(literal.data() + digits, literal.data() + literal.size(), exponent);
    }
    const std::string text = fmt::format("{}e{}", literal.substr(0, e), std::clamp(exponent, -10000, 10000) + decade);
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} ? value : std::numeric_limits<double>::infinity();
  }

  bool unit_suffix(files::Unit& unit) {
    int unit_factors = 0;
    const std::size_t start = at_;
    if (is_letter(peek()) && !called()) {
      unit = unit_power();
    } else if (peek() == '1' && one_over_unit()) {
      unit = files::Unit{};
    } else {
      return false;
    }
    for (;;) {
      const std::size_t before = at_;
      const bool divide = peek() == '/';
      if (divide || peek() == '*') accept(peek());
      // "3 m / sqrt(2)", "3 m * ${n}" and "3 m / 2" go on as arithmetic.
      if (!is_letter(peek()) || called() || is_constant()) {
        at_ = before;
        return at_ > start;
      }
      const files::Unit next = unit_power();
      if (++unit_factors > most_units) fail(before, fmt::format("more than {} units in a row", most_units));
      unit = divide ? unit / next : unit * next;
    }
  }

  /// At "1/cm": eats the 1.
  bool one_over_unit() {
    const std::size_t before = at_;
    ++at_;
    skip_space();
    if (peek() == '/') {
      const std::size_t slash = at_;
      ++at_;
      skip_space();
      if (is_letter(peek()) && !called() && !is_constant()) {
        at_ = slash;
        return true;
      }
    }
    at_ = before;
    return false;
  }

  std::string_view word_here() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  /// Whether the word here is called: "min(" is the function, "min" the minute.
  bool called() const {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t')) ++end;
    return end < text_.size() && text_[end] == '(';
  }
  bool is_constant() const { return word_here() == "pi"; }

  files::Unit unit_power() {
    const std::size_t offset = at_;
    const std::string_view symbol = word_here();
    const auto found = files::find_unit(symbol);
    if (!found) {
      const std::string near = files::nearest_unit(symbol);
      fail(offset, fmt::format("unknown unit {}{}", files::in_quotes(symbol, 30),
                               near.empty() ? std::string("; see the units in docs/reference/scenes.md")
                                            : fmt::format("; did you mean \"{}\"?", near)));
    }
    at_ += symbol.size();
    skip_space();
    files::Unit unit = *found;
    if (!accept('^')) return unit;
    int sign = 1;
    if (accept('-')) sign = -1;
    if (!is_digit(peek()) || is_digit(peek(1)))
      fail(at_, fmt::format("{} after a unit's ^; expected one digit", rest()));
    const int exponent = sign * (peek() - '0');
    ++at_;
    skip_space();
    return power(unit, exponent);
  }

  Quantity primary() {
    const std::size_t offset = at_;
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return literal();
    if (peek() == '$') return reference();
    if (accept('(')) {
      const Quantity inside = sum();
      if (!accept(')')) fail(at_, fmt::format("{} where a ) is missing", rest()));
      return inside;
    }
    if (is_letter(peek())) {
      if (called()) return call();
      if (is_constant()) {
        at_ += 2;
        skip_space();
        return {std::numbers::pi, {}, QuantityKind::plain};
      }
      const std::string_view word = word_here();
      fail(offset,
           fmt::format("the word {} where a number should be{}", files::in_quotes(word, 30),
                       files::find_unit(word) ? " (write 1 before a unit)" : " (a parameter is written \"${name}\")"));
    }
    fail(offset, fmt::format("unexpected {}; expected a number", rest()));
  }

  Quantity literal() {
    const std::size_t offset = at_;
    double value = 0.0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail(offset, fmt::format("the number {} is out of range", rest()));
    at_ = static_cast<std::size_t>(end - text_.data());
    if (peek() == '.' || (peek() == '_' && is_digit(peek(1))))
      fail(offset, fmt::format("{} is no number", files::in_quotes(text_.substr(offset), 30)));
    literal_end_ = at_;
    skip_space();
    return {value, {}, QuantityKind::plain};
  }

  Quantity reference() {
    const std::size_t offset = at_;
    const std::size_t close = text_.find('}', at_);
    if (peek(1) != '{' || close == std::string_view::npos)
      fail(offset, fmt::format("{}; a parameter is written \"${{name}}\"", rest()));
    std::string_view name = text_.substr(at_ + 2, close - at_ - 2);
    at_ = close + 1;
    skip_space();
    try {
      return parameter_(name);
    } catch (const ExpressionError& error) {
      fail(offset, error.message);
    }
  }

  Quantity call() {
    const std::size_t offset = at_;
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string name(text_.substr(at_, end - at_));
    at_ = end;
    skip_space();
    accept('(');
    std::vector<Quantity> arguments;
    do {
      if (arguments.size() == most_arguments) fail(at_, fmt::format("more than {} arguments", most_arguments));
      arguments.push_back(sum());
    } while (accept(','));
    if (!accept(')')) fail(at_, fmt::format("{} where a ) is missing", rest()));
    return checked(offset, apply(offset, name, arguments));
  }

  Quantity apply(std::size_t offset, const std::string& name, const std::vector<Quantity>& arguments) const {
    const auto want = [&](std::size_t count) {
      if (arguments.size() != count)
        fail(offset,
             fmt::format("{} takes {} argument{}, got {}", name, count, count == 1 ? "" : "s", arguments.size()));
    };
    const Quantity& x = arguments.front();
    if (name == "min" || name == "max") {
      Quantity out = x;
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        const double value =
            name == "min" ? std::min(out.value, arguments[i].value) : std::max(out.value, arguments[i].value);
        out = combined(offset, value, out, arguments[i], "compare");
      }
      return out;
    }
    if (name == "atan2") {
      want(2);
      combined(offset, 0.0, x, arguments[1], "compare");
      return {std::atan2(x.value, arguments[1].value), files::dimensions::angle, QuantityKind::declared};
    }
    if (name == "sqrt" || name == "abs") {
      want(1);
      if (name == "abs") return {std::abs(x.value), x.dimension, x.kind};
      if (x.value < 0.0) fail(offset, fmt::format("sqrt of {}, which is negative", files::number(x.value)));
      return {std::sqrt(x.value), power(x.dimension, 0.5), x.kind};
    }
    return apply_to_number(offset, name, arguments);
  }

  Quantity apply_to_number(std::size_t offset, const std::string& name, const std::vector<Quantity>& arguments) const {
    using Function = double (*)(double);
    static constexpr std::array<std::pair<std::string_view, Function>, 11> functions{{
        {"sin", [](double v) { return std::sin(v); }},
        {"cos", [](double v) { return std::cos(v); }},
        {"tan", [](double v) { return std::tan(v); }},
        {"exp", [](double v) { return std::exp(v); }},
        {"log", [](double v) { return std::log(v); }},
        {"floor", [](double v) { return std::floor(v); }},
        {"ceil", [](double v) { return std::ceil(v); }},
        {"round", [](double v) { return std::round(v); }},
        {"asin", [](double v) { return std::asin(v); }},
        {"acos", [](double v) { return std::acos(v); }},
        {"atan", [](double v) { return std::atan(v); }},
    }};
    const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.first == name; });
    if (found == functions.end()) {
      fail(offset, fmt::format("unknown function {}{}", files::in_quotes(name, 30),
                               files::did_you_mean(name, function_names())));
    }
    if (arguments.size() != 1) fail(offset, fmt::format("{} takes 1 argument, got {}", name, arguments.size()));
    const Quantity& x = arguments.front();
    if (x.kind == QuantityKind::declared && !x.dimension.none()) {
      fail(offset, fmt::format("{} of {}; expected a plain number or an angle", name, files::describe(x.dimension)));
    }
    const bool gives_angle = name == "asin" || name == "acos" || name == "atan";
    return {found->second(x.value), gives_angle ? files::dimensions::angle : files::Dimension{},
            gives_angle ? QuantityKind::declared : QuantityKind::plain};
  }

  /// Bounds the recursion.
  struct Nesting {
    explicit Nesting(Evaluator& owner) : evaluator(owner) {
      if (++evaluator.depth_ > deepest_nesting)
        fail(evaluator.at_, fmt::format("more than {} nested brackets", deepest_nesting));
    }
    ~Nesting() { --evaluator.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Evaluator& evaluator;
  };

  std::string_view text_;
  const ParameterLookup& parameter_;
  std::size_t at_ = 0;
  std::size_t literal_end_ = 0;  ///< where the last literal ended
  int depth_ = 0;
};

}  // namespace

Quantity evaluate(std::string_view text, const ParameterLookup& parameter) { return Evaluator(text, parameter).run(); }

}  // namespace tresse::scene_file
