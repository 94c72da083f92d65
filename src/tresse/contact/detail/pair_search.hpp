#pragma once

#include <vector>

#include <tresse/contact/detection.hpp>

namespace tresse::contact::detail {

/// A point of a curve and its unit tangent, zero where the curve is a point.
struct CurvePoint {
  Vector3 position;
  Vector3 tangent;
};
CurvePoint point_of(const geometry::PreparedCurve& curve, double s);

/// The nearest points of two pieces nearer than `bound` [m], and the other local minima of the distance along a,
/// as when an element bends around a bar more than the bar does and rests on it at two places.
std::vector<geometry::ClosestPoints> nearest_points(const Piece& a, const Piece& b, double bound,
                                                    const DetectionOptions& options);

}  // namespace tresse::contact::detail
