#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What a list says of one key of a table in a file. scene/fields.hpp says what is made of such lists.
namespace tresse {

namespace limits {

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Range {
  double least = -unbounded;
  double most = unbounded;
  bool open = false;                                                                      ///< `least` itself is refused
  bool contains(double x) const { return (open ? x > least : x >= least) && x <= most; }  ///< false for NaN
};

inline constexpr Range radius{1e-9, 1e3};      // [m]
inline constexpr Range length{1e-9, 1e6};      // [m]
inline constexpr Range coordinate{-1e6, 1e6};  // [m]
inline constexpr double unit_error = 1e-9;     // of axes and frames: |a|^2 - 1, a . b

}  // namespace limits

struct Field {
  std::string_view key;
  std::string_view unit = "";        ///< of a plain number; "deg" for degrees; empty: none
  limits::Range range = {};          ///< of a number, or of each number, in SI units
  std::string_view meaning = "";     ///< in words that go on from "`key`: "
  std::string_view needed = "";      ///< what is expected where the key must be given; empty: it may be left out
  bool derived = false;              ///< what holds without the key hangs on other values
  bool direction = false;            ///< a vector that is made one of length 1
  std::optional<double> none = {};   ///< the number that stands for none, of an optional member
  std::string_view in_degrees = "";  ///< meaning of the key with "_deg" behind it, which takes plain degrees
  unsigned forms = 0;                ///< 0: what the type of the member says
  std::span<const std::string_view> words = {};  ///< of a text that is one of these
  std::string_view units = "";                   ///< where the unit hangs on other values, all that it may be
  std::string_view word = "";  ///< that may stand for a number, and does where the key is missing: the program chooses
};

/// Told the key and what is wrong with it; does not return.
using Complain = std::function<void(std::string_view key, const std::string& message)>;

}  // namespace tresse
