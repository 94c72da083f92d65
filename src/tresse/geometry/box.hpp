#pragma once

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// Axis-aligned box.
struct Box {
  Vector3 lower;  ///< (3) [m]
  Vector3 upper;  ///< (3) [m]

  bool overlaps(const Box& other) const {
    return (lower.array() <= other.upper.array()).all() && (other.lower.array() <= upper.array()).all();
  }
  /// Smallest distance of two points of the boxes, 0 when they overlap.
  double distance(const Box& other) const {
    return (lower - other.upper).cwiseMax(other.lower - upper).cwiseMax(0.0).norm();
  }
  Box grown(double margin) const { return {lower.array() - margin, upper.array() + margin}; }
};

/// Smallest axis-aligned box of a piece of curve, exact to rounding (outwards) for every curve type but the clothoid,
/// where it may exceed the curve by the last subdivision's sagitta.
Box bounding_box(const Curve& curve, Interval interval);

/// A box that holds a piece of curve: that of four parabolas and their remainders. Far cheaper than the smallest one,
/// which it exceeds by |d3r/ds3| (length/8)^3/3 at most where that derivative's norm is constant.
Box quick_box(const PreparedCurve& curve, Interval interval);

}  // namespace tresse::geometry
