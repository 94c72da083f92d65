#pragma once

#include <string_view>

#include <tresse/bodies/capsule.hpp>

namespace tresse::bodies {

/// Round bar; its ends are rounded like a capsule's, outside `length`.
struct Cylinder {
  static constexpr std::string_view word = "cylinder";

  Vector3 center = Vector3::Zero();  ///< (3) [m]
  Vector3 axis = Vector3::Zero();    ///< unit (3) [-]
  double radius = 0.0;               ///< > 0 [m]
  double length = 0.0;               ///< > 0 [m]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "center", .unit = "m", .range = limits::coordinate, .meaning = "of the sphere or cylinder", .needed = "a point, an array of 3 lengths"}, x.center);
    visit({.key = "axis", .meaning = "direction of the cylinder", .needed = "a direction, an array of 3 numbers", .direction = true}, x.axis);
    visit({.key = "radius", .unit = "m", .range = limits::radius, .meaning = "of the sphere, capsule or cylinder", .needed = "the cylinder's radius"}, x.radius);
    visit({.key = "length", .unit = "m", .range = limits::length, .meaning = "of the cylinder; its ends are rounded, outside it", .needed = "the cylinder's length"}, x.length);
  }
  // clang-format on
  Vector3 own_point() const { return center; }
  Capsule capsule() const;
  Parts parts() const { return capsule().parts(); }
  double volume() const { return capsule().volume(); }
  Solid solid(double mass) const { return capsule().solid(mass); }
};

}  // namespace tresse::bodies
