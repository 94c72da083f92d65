#pragma once

#include <vector>

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

/// Capsules around the chords of equal parts of a curve; together they hold it.
struct CapsuleChain {
  std::vector<Vector3> points;  ///< (parts + 1, 3) on the curve [m]
  double radius = 0.0;          ///< of each capsule: the largest sagitta, and rounding [m]
};

/// Parts that bring the sagitta below `sagitta` and the chords below `chord`, 1 to 64.
int chain_parts(const PreparedCurve& curve, Interval interval, double sagitta, double chord);

/// The chain of a piece, `out`'s memory used again. A smooth curve is within |r''| length^2/8 of its chord.
void make_chain(const PreparedCurve& curve, Interval interval, int parts, CapsuleChain& out);

/// The nearest points of two segments, p0 p1 and q0 q1, to rounding.
struct NearestOnSegments {
  Vector3 apart;   ///< from that of the second to that of the first (3) [m]
  double u = 0.0;  ///< where the first is: -1 at p0, 1 at p1
  double v = 0.0;  ///< the second
};
NearestOnSegments nearest_on_segments(const Vector3& p0, const Vector3& p1, const Vector3& q0, const Vector3& q1);
/// Distance of the segments p0 p1 and q0 q1, to rounding. [m]
double segment_distance(const Vector3& p0, const Vector3& p1, const Vector3& q0, const Vector3& q1);

}  // namespace tresse::geometry
