#pragma once

#include <span>
#include <vector>

#include <tresse/geometry/curves.hpp>
#include <tresse/rods/fit_curve.hpp>

namespace tresse::rods {

/// A place of a curve where two elements are to meet.
struct CurveJoint {
  Vector3 position;  ///< (3) [m]
  Vector3 tangent;   ///< (3) unit
};

/// Places on a chain of Bezier curves, each of which begins where the one before ends and in its direction: they cut it
/// in pieces of equal length, (pieces + 1). Throws InvalidInput for no curve or no piece, control points that are not
/// finite, a curve that is a point.
std::vector<CurveJoint> joints_along(std::span<const geometry::CubicBezier> curve, int pieces);

/// A smooth chain of helices near joints.
struct FloatingCurve {
  Pose root;                       ///< n1 is any unit vector across n0
  std::vector<double> lengths;     ///< (joints - 1) [m]
  std::vector<Vector3> curvature;  ///< (joints - 1) (twist, k1, k2) [1/m]
  double moved = 0.0;              ///< how far the joint that was moved most is from where it was [m]
  double largest_turn = 0.0;       ///< of a helix, below 2 pi; more than 3 is often noise [rad]
};

/// The chain of short helices that keeps the tangents of the joints (n >= 2) and moves their positions least, in the
/// sum of squares: bertails2018hdr sec. 4.2.4 ("floating tangents"). One tridiagonal system and one short_helix() a
/// piece, about 0.8 us each. @cite bertails2018hdr; docs/theory/inverse.md. `held_root`: the first joint stays. Joints
/// that lie on a chain of helices come back to rounding. Throws InvalidInput for fewer joints, numbers that are not
/// finite, tangents that are not unit vectors, joints that coincide, and where two tangents are equal and their joints
/// not one behind the other.
FloatingCurve float_tangents(std::span<const CurveJoint> joints, bool held_root = true);

struct FloatingFit {
  FittedCurve curve;
  int relaxed = 0;             ///< joints whose tangents gave way too, as a helix turned by more than 3 rad
  bool least_squares = false;  ///< that did not help, or noise alone would bend it so: the curve is fit_curve()'s
};

/// The chain of `elements` helices along a row of points, by tangents of a smoothing spline; errors and points as in
/// fit_curve(), which is slower by far and nearer in the mean. Also throws InvalidInput where the curve turns by more
/// than so many elements can, pi each.
FloatingFit fit_floating(const std::vector<Vector3>& points, int elements);
/// The same along a chain of Bezier curves; distances are those of eight points a curve.
FloatingFit fit_floating(std::span<const geometry::CubicBezier> curve, int elements);

}  // namespace tresse::rods
