#pragma once

#include <string_view>

#include <tresse/bodies/kind.hpp>

namespace tresse::bodies {

/// Points within `radius` of a segment.
struct Capsule {
  static constexpr std::string_view word = "capsule";

  Vector3 from = Vector3::Zero();  ///< (3) [m]
  Vector3 to = Vector3::Zero();    ///< (3) [m]
  double radius = 0.0;             ///< > 0 [m]

  // clang-format off
  static void fields(auto& x, auto&& visit) {
    visit({.key = "from", .unit = "m", .range = limits::coordinate, .meaning = "an end of the capsule's axis", .needed = "a point, an array of 3 lengths"}, x.from);
    visit({.key = "to", .unit = "m", .range = limits::coordinate, .meaning = "its other end", .needed = "a point, an array of 3 lengths"}, x.to);
    visit({.key = "radius", .unit = "m", .range = limits::radius, .meaning = "of the sphere, capsule or cylinder", .needed = "the capsule's radius"}, x.radius);
  }
  // clang-format on
  Vector3 own_point() const { return 0.5 * (from + to); }
  Parts parts() const { return {.tubes = {{geometry::LineSegment{from, to}, radius}}}; }
  double volume() const;
  Solid solid(double mass) const;  ///< exact, the round ends included
};

}  // namespace tresse::bodies
