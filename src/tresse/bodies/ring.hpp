#pragma once

#include <string_view>

#include <tresse/bodies/kind.hpp>

namespace tresse::bodies {

/// A torus: points within `tube_radius` of a circle.
struct Ring {
  static constexpr std::string_view word = "ring";

  Vector3 center = Vector3::Zero();  ///< (3) [m]
  Vector3 axis = Vector3::Zero();    ///< normal of the circle's plane, unit (3) [-]
  double radius = 0.0;               ///< of the circle; > tube_radius [m]
  double tube_radius = 0.0;          ///< > 0 [m]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "center", .unit = "m", .range = limits::coordinate, .meaning = "of the ring", .needed = "a point, an array of 3 lengths"}, x.center);
    visit({.key = "axis", .meaning = "normal of the ring's plane", .needed = "a direction, an array of 3 numbers", .direction = true}, x.axis);
    visit({.key = "radius", .unit = "m", .range = limits::radius, .meaning = "of the circle in the middle of the ring's tube", .needed = "the radius of the ring's circle"}, x.radius);
    visit({.key = "tube_radius", .unit = "m", .range = limits::radius, .meaning = "of the ring's round section, less than `radius`", .needed = "the radius of the ring's tube"}, x.tube_radius);
  }
  // clang-format on
  void check(const Complain& complain) const;
  Vector3 own_point() const { return center; }
  Parts parts() const;             ///< the circle in three arcs
  double volume() const;           ///< 2 pi^2 R r^2
  Solid solid(double mass) const;  ///< m (R^2 + 3/4 r^2) about the axis, m (R^2/2 + 5/8 r^2) across
};

}  // namespace tresse::bodies
