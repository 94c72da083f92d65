#pragma once

#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::fluid {

/// A straight segment whose force on the fluid per length changes linearly from one end to the other.
struct Segment {
  Vector3 begin;  ///< (3) [m]
  Vector3 end;    ///< (3) [m]
};

/// Integrals T_nq = int_0^1 a^n / R(a)^q da along a segment, R(a)^2 = |x - y(a)|^2 + epsilon^2, that the velocity at x
/// is made of. @cite cortez2018
struct SegmentIntegrals {
  double t01 = 0.0;  ///< [1/m]
  double t11 = 0.0;  ///< [1/m]
  double t03 = 0.0;  ///< [1/m^3]
  double t13 = 0.0;  ///< [1/m^3]
  double t23 = 0.0;  ///< [1/m^3]
  double t33 = 0.0;  ///< [1/m^3]
};

/// By the closed form near the segment, where it does not cancel, and by Gauss's rule, as exact, farther away. epsilon
/// > 0 [m]; a segment without length is a point.
SegmentIntegrals segment_integrals(const Segment& segment, const Vector3& x, double epsilon);

/// What force densities f_0 and f_1 [N/m] at the two ends of a segment do at a point: its velocity is (from_begin f_0 +
/// from_end f_1) / (8 pi viscosity).
struct SegmentInfluence {
  Matrix3 from_begin;  ///< [m/m]
  Matrix3 from_end;    ///< [m/m]
};
SegmentInfluence segment_influence(const Segment& segment, const Vector3& x, double epsilon);

/// Velocity of a fluid at rest far away at `points` (n), of the segments' forces on it: densities `f_begin` and `f_end`
/// (segments) [N/m], regularisation epsilon > 0 [m], viscosity > 0 [Pa s]. The same bits for any number of threads.
std::vector<Vector3> velocity(const std::vector<Segment>& segments, const std::vector<Vector3>& f_begin,
                              const std::vector<Vector3>& f_end, double epsilon, double viscosity,
                              const std::vector<Vector3>& points);

}  // namespace tresse::fluid
