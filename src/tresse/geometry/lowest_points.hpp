#pragma once

#include <limits>
#include <vector>

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// A point of a curve over a plane.
struct LowestPoint {
  double s = 0.0;
  double height = std::numeric_limits<double>::infinity();  ///< normal . (r(s) - point) [m]
};

/// Global minimum of normal . (r(s) - point) over the interval. `normal` (3) unit, away from the plane.
[[nodiscard]] LowestPoint lowest_point(const Curve& curve, Interval interval, const Vector3& point,
                                       const Vector3& normal);

/// Parameters of all local minima of the height at most `bound` high, increasing, ends of the interval included. Where
/// the curve lies level, the ends of the interval stand for the stretch.
[[nodiscard]] std::vector<double> lowest_points(const Curve& curve, Interval interval, const Vector3& point,
                                                const Vector3& normal,
                                                double bound = std::numeric_limits<double>::infinity());
[[nodiscard]] std::vector<double> lowest_points(const PreparedCurve& curve, Interval interval, const Vector3& point,
                                                const Vector3& normal,
                                                double bound = std::numeric_limits<double>::infinity());

}  // namespace tresse::geometry
