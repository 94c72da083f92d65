#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

/// Dimensions and units of the quantities in a scene file.
namespace tresse::files {

/// Exponents of metre, kilogram, second and radian. An angle counts as a number except where a plain ratio is wanted
/// (a friction coefficient in degrees is a mistake, not a ratio).
struct Dimension {
  std::array<double, 4> exponents{};  ///< (m, kg, s, rad); fractions come from sqrt and ^

  /// Equal in metre, kilogram and second: 1/m and rad/m are both curvatures.
  bool same_units(const Dimension& other) const;
  bool none() const { return same_units({}); }
  bool angle() const { return none() && exponents[3] != 0.0; }

  friend Dimension operator*(const Dimension& a, const Dimension& b);
  friend Dimension operator/(const Dimension& a, const Dimension& b);
  friend Dimension power(const Dimension& a, double exponent);
};

namespace dimensions {
inline constexpr Dimension ratio{};
inline constexpr Dimension angle{{0, 0, 0, 1}};
inline constexpr Dimension length{{1, 0, 0, 0}};
inline constexpr Dimension time{{0, 0, 1, 0}};
inline constexpr Dimension velocity{{1, 0, -1, 0}};
inline constexpr Dimension acceleration{{1, 0, -2, 0}};
inline constexpr Dimension angular_velocity{{0, 0, -1, 1}};
inline constexpr Dimension curvature{{-1, 0, 0, 1}};
inline constexpr Dimension curvature_rate{{-1, 0, -1, 1}};
inline constexpr Dimension mass{{0, 1, 0, 0}};
inline constexpr Dimension density{{-3, 1, 0, 0}};
inline constexpr Dimension pressure{{-1, 1, -2, 0}};
inline constexpr Dimension drag{{-1, 1, -1, 0}};  ///< force per length and velocity
}  // namespace dimensions

/// "a length [m]", "a density [kg/m^3]", or "m^2 kg" for a dimension without a name.
std::string describe(const Dimension& dimension);
/// "kg/m^3"; "1" for a number.
std::string si_unit(const Dimension& dimension);

/// factor * 10^decade SI units. The decade stands apart so that "50 um" is 50 / 1e6, the double nearest to 5e-5.
struct Unit {
  double factor = 1.0;
  int decade = 0;
  Dimension dimension;

  /// `value` of this unit, in SI units.
  double to_si(double value) const;
  friend Unit operator*(const Unit& a, const Unit& b);
  friend Unit operator/(const Unit& a, const Unit& b);
  friend Unit power(const Unit& a, int exponent);
};

/// A unit's symbol with an optional SI prefix: "m", "um", "GPa", "deg". Nothing if it is none.
std::optional<Unit> find_unit(std::string_view symbol);

/// The known symbol nearest to a misspelt one, or an empty string.
std::string nearest_unit(std::string_view symbol);

}  // namespace tresse::files
