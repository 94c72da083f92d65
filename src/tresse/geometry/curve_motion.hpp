#pragma once

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// How a piece of curve went from one configuration to another: rigidly, by `shift` of its middle and `turn` about it,
/// and every point by at most `spread` from there.
struct CurveMotion {
  Vector3 shift = Vector3::Zero();     ///< (3) [m]
  Matrix3 turn = Matrix3::Identity();  ///< rotation (3, 3) [-]
  double spread = 0.0;                 ///< >= |after(s) - (middle + shift + turn (before(s) - middle))| for all s [m]
};

/// The rotation turns the chord, and the middle's place beside it. `spread` is proved by a bound b of the second
/// derivative of what is left: on each half of the interval it stays within b (length/2)^2 / 8 of the straight line
/// between the half's ends. Infinite for curves of different types.
CurveMotion motion_between(const PreparedCurve& before, const PreparedCurve& after, Interval interval);

/// Bound of |r''_after - turn r''_before| over the interval; `turn`: any matrix whose norm is 1 or more.
double bending_between(const PreparedCurve& before, const PreparedCurve& after, const Matrix3& turn, Interval interval);

}  // namespace tresse::geometry
