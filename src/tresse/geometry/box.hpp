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

/// A box that holds a piece of curve: that of four parabolas and their remainders. It exceeds the smallest one by
/// |d3r/ds3| (length/8)^3/3 at most where that derivative's norm is constant.
Box quick_box(const PreparedCurve& curve, Interval interval);

}  // namespace tresse::geometry
