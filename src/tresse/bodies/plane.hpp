#pragma once

#include <string_view>

#include <tresse/bodies/kind.hpp>

namespace tresse::bodies {

/// Solid half-space on the side away from the unit normal.
struct Plane {
  static constexpr std::string_view word = "plane";

  Vector3 point = Vector3::Zero();   ///< (3) [m]
  Vector3 normal = Vector3::Zero();  ///< unit (3) [-]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "point", .unit = "m", .range = limits::coordinate, .meaning = "on the plane", .needed = "a point, an array of 3 lengths"}, x.point);
    visit({.key = "normal", .meaning = "out of the solid half-space", .needed = "a direction, an array of 3 numbers", .direction = true}, x.normal);
  }
  // clang-format on
  Vector3 own_point() const { return point; }
  Parts parts() const { return {.planes = {{point, normal}}}; }
};

}  // namespace tresse::bodies
