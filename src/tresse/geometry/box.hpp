#pragma once

#include <tresse/geometry/curves.hpp>

namespace tresse::geometry {

/// Axis-aligned box.
struct Box {
  Vector3 lower;  ///< (3) [m]
  Vector3 upper;  ///< (3) [m]

  bool overlaps(const Box& other) const {
    return (lower.array() <= other.upper.array()).all() && (other.lower.array() <= upper.array()).all();
  }
  Box grown(double margin) const { return {lower.array() - margin, upper.array() + margin}; }
};

/// Smallest axis-aligned box of a piece of curve, exact to rounding (outwards) for every curve type but the clothoid,
/// where it may exceed the curve by the last subdivision's sagitta.
Box bounding_box(const Curve& curve, Interval interval);

}  // namespace tresse::geometry
