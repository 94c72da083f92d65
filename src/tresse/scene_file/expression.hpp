#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <tresse/files/units.hpp>

/// The arithmetic of scene files: "70 um", "-(${length}) / 3 + 2 cm", "sqrt(2) * ${radius}". docs/reference/scenes.md
/// has the grammar.
namespace tresse::scene_file {

/// A number and what is known of its dimension.
struct Quantity {
  enum class Kind {
    plain,       ///< a literal number: a pure factor in products, takes the other side's SI unit in sums
    undeclared,  ///< comes from a parameter given as a plain number: SI, its dimension cannot be checked
    declared,    ///< carries a unit
  };
  double value = 0.0;          ///< in SI units
  files::Dimension dimension;  ///< zero unless declared
  Kind kind = Kind::plain;
};

/// Looks a parameter up; throws ExpressionError (any offset) when there is none.
using ParameterLookup = std::function<Quantity(std::string_view name)>;

/// Why an expression has no value. `offset` is the byte at which it went wrong.
struct ExpressionError {
  std::size_t offset = 0;
  std::string message;
};

/// Value of an expression. Throws ExpressionError for anything that is not one: bad syntax, unknown units, sums of
/// different dimensions, results that are not finite, more than 2000 bytes or 50 nested brackets. Time linear in the
/// length.
Quantity evaluate(std::string_view text, const ParameterLookup& parameter);

}  // namespace tresse::scene_file
