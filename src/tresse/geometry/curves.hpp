#pragma once

#include <array>
#include <variant>

#include <tresse/base/types.hpp>

namespace tresse::geometry {

/// Straight segment, parametrised by arc length: s in [0, |to - from|]. from == to is a point.
struct LineSegment {
  Vector3 from;  ///< (3) [m]
  Vector3 to;    ///< (3) [m]
};

/// Curve of constant material curvature: one element of a super-helix. R(s) = frame exp(s [kappa]x),
/// r(s) = position + int_0^s R e_x. s in [0, length]. @cite crespel2024 sec. 5; bertails2018hdr sec. 2.3.1
struct HelixArc {
  Vector3 position;     ///< r(0)                                  (3)    [m]
  Matrix3 frame;        ///< columns n0 (tangent), n1, n2 at s = 0 (3, 3) [-]
  Vector3 curvature;    ///< (twist, k1, k2), material frame       (3)    [1/m]
  double length = 0.0;  ///< > 0                                          [m]
};

/// Curve of material curvature affine in arc length: curvature + s * curvature_slope. s in [0, length].
struct ClothoidArc {
  Vector3 position;         ///< (3)    [m]
  Matrix3 frame;            ///< (3, 3) [-]
  Vector3 curvature;        ///< (3)    [1/m]
  Vector3 curvature_slope;  ///< (3)    [1/m^2]
  double length = 0.0;      ///< > 0    [m]
};

/// Cubic Bezier curve, parameter in [0, 1] (not arc length).
struct CubicBezier {
  std::array<Vector3, 4> points;  ///< control points (4)(3) [m]
};

using Curve = std::variant<LineSegment, HelixArc, ClothoidArc, CubicBezier>;

/// Closed interval of the parameter of a curve.
struct Interval {
  double begin = 0.0;
  double end = 0.0;
};

/// The whole parameter range of `curve`.
Interval domain(const Curve& curve);

Vector3 position(const Curve& curve, double s);
Vector3 derivative(const Curve& curve, double s);         ///< dr/ds; unit for arc-length curves
Vector3 second_derivative(const Curve& curve, double s);  ///< d2r/ds2

/// Largest length l with (k + g l) l <= turn: along it a curve of curvature k >= 0 that grows by g >= 0 a length turns
/// by no more. Infinite for a straight one.
double turning_length(double k, double g, double turn);

/// Position and material frame at the end of a clothoid arc, to rounding at any number of turns (the phase to a
/// rounding of the whole turn). @cite casati2013 sec. 5-6, four pieces of the sum at once.
Pose end_pose(const ClothoidArc& arc);

}  // namespace tresse::geometry
