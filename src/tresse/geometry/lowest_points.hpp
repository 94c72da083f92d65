#pragma once

#include <limits>
#include <vector>

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// Parameters of all local minima of the height at most `bound` high, increasing, ends of the interval included. Where
/// the curve lies level, the ends of the interval stand for the stretch. `normal` (3) unit, away from the plane.
[[nodiscard]] std::vector<double> lowest_points(const Curve& curve, Interval interval, const Vector3& point,
                                                const Vector3& normal,
                                                double bound = std::numeric_limits<double>::infinity());
[[nodiscard]] std::vector<double> lowest_points(const PreparedCurve& curve, Interval interval, const Vector3& point,
                                                const Vector3& normal,
                                                double bound = std::numeric_limits<double>::infinity());

}  // namespace tresse::geometry
