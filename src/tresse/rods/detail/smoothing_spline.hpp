#pragma once

#include <span>
#include <vector>

#include <tresse/geometry/curves.hpp>

namespace tresse::rods::detail {

/// A smooth curve near points.
struct SmoothCurve {
  std::vector<geometry::CubicBezier> pieces;  ///< one a stretch between knots
  std::vector<double> wobble;                 ///< (pieces + 1) standard deviation of its direction at their ends [rad]
};

/// Smooth curve near a row of points (n), n >= 2, consecutive ones apart: the cubic spline with knots at the points
/// that is least in
///   sum_j |p_j - c(u_j)|^2 + lambda int |c'''|^2 du,
/// u_j the arc lengths by circles through three points. lambda has maximum evidence, as if the third derivative were
/// white noise: next to nothing for points on a smooth curve, and so much that noise hardly shows in the tangents.
/// @cite mackay1992; reinsch1967. Two points are joined by a straight line, three by a parabola.
SmoothCurve smoothing_spline(std::span<const Vector3> points);

}  // namespace tresse::rods::detail
