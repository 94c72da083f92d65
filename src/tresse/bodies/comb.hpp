#pragma once

#include <string>
#include <string_view>

#include <tresse/bodies/kind.hpp>

namespace tresse::bodies {

/// Capsule teeth in a row and a capsule handle that joins their bases. @cite crespel2024 sec. 6.1
struct Comb {
  static constexpr std::string_view word = "comb";

  Vector3 base = Vector3::Zero();             ///< middle of the row of tooth bases, on the handle's axis (3) [m]
  Vector3 tooth_direction = Vector3::Zero();  ///< unit, from base to tip (3) [-]
  Vector3 row_direction = Vector3::Zero();    ///< unit, orthogonal to tooth_direction (3) [-]
  int teeth = 10;                             ///< >= 1
  double tooth_diameter = 1.1e-3;             ///< > 0 [m]
  double tooth_spacing = 1.2e-3;              ///< clear space between neighbouring teeth; > 0 [m]
  double tooth_length = 0.02;                 ///< axis of the handle to tip; > 0 [m]
  double handle_diameter = 4e-3;              ///< > 0 [m]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "base", .unit = "m", .range = limits::coordinate, .meaning = "of the comb: middle of the row, on the handle's axis", .needed = "a point, an array of 3 lengths"}, x.base);
    visit({.key = "tooth_direction", .meaning = "from the handle to the tips", .needed = "a direction, an array of 3 numbers", .direction = true}, x.tooth_direction);
    visit({.key = "row_direction", .meaning = "from tooth to tooth, at a right angle", .needed = "a direction, an array of 3 numbers", .direction = true}, x.row_direction);
    visit({.key = "teeth", .range = {1, 10'000}, .meaning = "how many"}, x.teeth);
    visit({.key = "tooth_diameter", .unit = "m", .range = limits::radius, .meaning = "of a tooth"}, x.tooth_diameter);
    visit({.key = "tooth_spacing", .unit = "m", .range = limits::radius, .meaning = "clear, between two teeth"}, x.tooth_spacing);
    visit({.key = "tooth_length", .unit = "m", .range = limits::length, .meaning = "from the handle's axis"}, x.tooth_length);
    visit({.key = "handle_diameter", .unit = "m", .range = limits::radius, .meaning = "of the handle"}, x.handle_diameter);
  }
  // clang-format on
  void check(const Complain& complain) const;
  Vector3 own_point() const { return base; }
  Parts parts() const;                    ///< the handle, then the teeth
  std::string part_name(int tube) const;  ///< "the handle", "tooth 1"
};

}  // namespace tresse::bodies
