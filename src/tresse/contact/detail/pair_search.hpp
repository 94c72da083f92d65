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

/// Which points of two pieces are wanted: those nearer than `bound`, no two of them so near each other that one stands
/// for both while the pieces close in from `meeting` on.
struct Nearness {
  double bound = 0.0;    ///< > 0 [m]
  double meeting = 0.0;  ///< the pieces' meeting distance [m]
};

struct NearestPoints {
  std::vector<geometry::ClosestPoints> minima;
  double distance = 0.0;  ///< least distance of the two pieces, proved where it is not 0 [m]
};

/// The nearest points of two pieces, and the other local minima of the distance along a, as when an element bends
/// around a bar more than the bar does and rests on it at two places.
NearestPoints nearest_points(const Piece& a, const Piece& b, const Nearness& wanted, const DetectionOptions& options);

}  // namespace tresse::contact::detail
