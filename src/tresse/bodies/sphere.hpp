#pragma once

#include <string_view>

#include <tresse/bodies/capsule.hpp>

namespace tresse::bodies {

struct Sphere {
  static constexpr std::string_view word = "sphere";

  Vector3 center = Vector3::Zero();  ///< (3) [m]
  double radius = 0.0;               ///< > 0 [m]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "center", .unit = "m", .range = limits::coordinate, .meaning = "of the sphere or cylinder", .needed = "a point, an array of 3 lengths"}, x.center);
    visit({.key = "radius", .unit = "m", .range = limits::radius, .meaning = "of the sphere, capsule or cylinder", .needed = "the sphere's radius"}, x.radius);
  }
  // clang-format on
  Vector3 own_point() const { return center; }
  Capsule capsule() const { return {center, center, radius}; }  ///< one of no length
  Parts parts() const { return capsule().parts(); }
  double volume() const { return capsule().volume(); }
  Solid solid(double mass) const { return capsule().solid(mass); }
};

}  // namespace tresse::bodies
