#pragma once

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// How a piece of curve went from one configuration to another: every point moved by `shift`, and by at most `spread`
/// from there.
struct CurveMotion {
  Vector3 shift;        ///< of the middle (3) [m]
  double spread = 0.0;  ///< >= |displacement(s) - shift| for all s of the piece [m]
};

/// Proved by the displacement's second derivative, of norm b at most: on each half of the interval it stays within
/// b (length/2)^2 / 8 of the straight line between the half's ends. See docs/geometry.md.
CurveMotion motion_between(const PreparedCurve& before, const PreparedCurve& after, Interval interval);

}  // namespace tresse::geometry
