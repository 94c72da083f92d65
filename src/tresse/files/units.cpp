#include <tresse/files/units.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <tresse/base/words.hpp>

namespace tresse::files {
namespace {

constexpr double exponent_tolerance = 1e-9;  // exponents are small rationals; sqrt and ^ round them

struct NamedUnit {
  std::string_view symbol;
  bool prefixable;
  Unit unit;
};

constexpr double standard_gravity = 9.80665;  // standard gravity, exact by definition

constexpr std::array known_units{
    NamedUnit{"m", true, {1.0, 0, {{1, 0, 0, 0}}}},
    NamedUnit{"g", true, {1.0, -3, {{0, 1, 0, 0}}}},
    NamedUnit{"s", true, {1.0, 0, {{0, 0, 1, 0}}}},
    NamedUnit{"min", false, {60.0, 0, {{0, 0, 1, 0}}}},
    NamedUnit{"h", false, {3600.0, 0, {{0, 0, 1, 0}}}},
    NamedUnit{"Hz", true, {1.0, 0, {{0, 0, -1, 0}}}},
    NamedUnit{"rad", true, {1.0, 0, {{0, 0, 0, 1}}}},
    NamedUnit{"deg", false, {std::numbers::pi / 180.0, 0, {{0, 0, 0, 1}}}},
    NamedUnit{"turn", false, {2.0 * std::numbers::pi, 0, {{0, 0, 0, 1}}}},
    NamedUnit{"N", true, {1.0, 0, {{1, 1, -2, 0}}}},
    NamedUnit{"Pa", true, {1.0, 0, {{-1, 1, -2, 0}}}},
    NamedUnit{"bar", false, {1.0, 5, {{-1, 1, -2, 0}}}},
    NamedUnit{"psi", false, {6894.757293168361, 0, {{-1, 1, -2, 0}}}},
    NamedUnit{"J", true, {1.0, 0, {{2, 1, -2, 0}}}},
    NamedUnit{"W", true, {1.0, 0, {{2, 1, -3, 0}}}},
    NamedUnit{"t", false, {1.0, 3, {{0, 1, 0, 0}}}},
    NamedUnit{"tex", true, {1.0, -6, {{-1, 1, 0, 0}}}},
    NamedUnit{"den", false, {1.0 / 9.0, -6, {{-1, 1, 0, 0}}}},
    NamedUnit{"gee", false, {standard_gravity, 0, {{1, 0, -2, 0}}}},
    NamedUnit{"in", false, {254.0, -4, {{1, 0, 0, 0}}}},
    NamedUnit{"ft", false, {3048.0, -4, {{1, 0, 0, 0}}}},
    NamedUnit{"percent", false, {1.0, -2, {}}},
    NamedUnit{"%", false, {1.0, -2, {}}},
};

constexpr std::array<std::pair<std::string_view, int>, 15> known_prefixes{{
    {"f", -15},
    {"p", -12},
    {"n", -9},
    {"u", -6},
    {"\xc2\xb5", -6},  // micro sign
    {"\xce\xbc", -6},  // Greek mu
    {"m", -3},
    {"c", -2},
    {"d", -1},
    {"da", 1},
    {"h", 2},
    {"k", 3},
    {"M", 6},
    {"G", 9},
    {"T", 12},
}};

constexpr std::array<std::pair<std::string_view, Dimension>, 16> dimension_names{{
    {"a plain number", {}},
    {"an angle", {{0, 0, 0, 1}}},
    {"a length", {{1, 0, 0, 0}}},
    {"an area", {{2, 0, 0, 0}}},
    {"a time", {{0, 0, 1, 0}}},
    {"a mass", {{0, 1, 0, 0}}},
    {"a velocity", {{1, 0, -1, 0}}},
    {"an acceleration", {{1, 0, -2, 0}}},
    {"a rate", {{0, 0, -1, 0}}},
    {"a curvature", {{-1, 0, 0, 0}}},
    {"a rate of curvature", {{-1, 0, -1, 0}}},
    {"a density", {{-3, 1, 0, 0}}},
    {"a pressure", {{-1, 1, -2, 0}}},
    {"a force", {{1, 1, -2, 0}}},
    {"an energy or a torque", {{2, 1, -2, 0}}},
    {"a drag per length", {{-1, 1, -1, 0}}},
}};

bool same(double a, double b) { return std::abs(a - b) <= exponent_tolerance; }

std::string factor(std::string_view symbol, double exponent) {
  if (same(exponent, 1.0)) return std::string(symbol);
  return fmt::format("{}^{:.4g}", symbol, exponent);
}

}  // namespace

bool Dimension::same_units(const Dimension& other) const {
  return same(exponents[0], other.exponents[0]) && same(exponents[1], other.exponents[1]) &&
         same(exponents[2], other.exponents[2]);
}

Dimension operator*(const Dimension& a, const Dimension& b) {
  Dimension out;
  for (std::size_t i = 0; i < 4; ++i) out.exponents[i] = a.exponents[i] + b.exponents[i];
  return out;
}

Dimension operator/(const Dimension& a, const Dimension& b) {
  Dimension out;
  for (std::size_t i = 0; i < 4; ++i) out.exponents[i] = a.exponents[i] - b.exponents[i];
  return out;
}

Dimension power(const Dimension& a, double exponent) {
  Dimension out;
  for (std::size_t i = 0; i < 4; ++i) out.exponents[i] = a.exponents[i] * exponent;
  return out;
}

double Unit::to_si(double value) const {
  // Powers of ten to 1e22 are exact: one rounding, and none where the factor is 1 and the result is a double.
  const double power_of_ten = std::pow(10.0, std::abs(decade));
  return decade < 0 ? value * factor / power_of_ten : value * factor * power_of_ten;
}

Unit operator*(const Unit& a, const Unit& b) {
  return {a.factor * b.factor, a.decade + b.decade, a.dimension * b.dimension};
}
Unit operator/(const Unit& a, const Unit& b) {
  return {a.factor / b.factor, a.decade - b.decade, a.dimension / b.dimension};
}
Unit power(const Unit& a, int exponent) {
  return {std::pow(a.factor, exponent), a.decade * exponent, power(a.dimension, static_cast<double>(exponent))};
}

std::string si_unit(const Dimension& dimension) {
  constexpr std::array<std::string_view, 4> symbols{"m", "kg", "s", "rad"};
  if (dimension.same_units(dimensions::pressure)) return "Pa";
  std::string above, below;
  for (const std::size_t i : {1, 0, 2, 3}) {
    const double exponent = dimension.exponents[i];
    if (same(exponent, 0.0) || (i == 3 && !dimension.none())) continue;
    std::string& side = exponent > 0.0 ? above : below;
    if (!side.empty()) side += ' ';
    side += factor(symbols[i], std::abs(exponent));
  }
  if (above.empty()) above = "1";
  if (below.empty()) return above;
  const bool several = below.find(' ') != std::string::npos;
  return fmt::format("{}/{}{}{}", above, several ? "(" : "", below, several ? ")" : "");
}

std::string describe(const Dimension& dimension) {
  if (dimension.angle()) return "an angle [rad]";
  for (const auto& [name, named] : dimension_names) {
    if (!named.same_units(dimension)) continue;
    return named.none() ? std::string(name) : fmt::format("{} [{}]", name, si_unit(dimension));
  }
  return fmt::format("a quantity in {}", si_unit(dimension));
}

std::optional<Unit> find_unit(std::string_view symbol) {
  for (const NamedUnit& candidate : known_units) {
    if (candidate.symbol == symbol) return candidate.unit;
  }
  for (const auto& [prefix, decade] : known_prefixes) {
    if (!symbol.starts_with(prefix)) continue;
    const std::string_view rest = symbol.substr(prefix.size());
    for (const NamedUnit& candidate : known_units) {
      if (candidate.prefixable && candidate.symbol == rest)
        return Unit{candidate.unit.factor, candidate.unit.decade + decade, candidate.unit.dimension};
    }
  }
  return std::nullopt;
}

std::string nearest_unit(std::string_view symbol) {
  std::vector<std::string> known;
  for (const NamedUnit& candidate : known_units) {
    known.emplace_back(candidate.symbol);
    if (!candidate.prefixable) continue;
    for (const std::string_view prefix : {"n", "u", "m", "c", "k", "M", "G"}) {
      known.push_back(std::string(prefix) + std::string(candidate.symbol));
    }
  }
  return nearest_word(symbol, known);
}

}  // namespace tresse::files
