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
/// by no more. Infinite for a straight one. At least 1e-5 of the `whole`: a curve that turns beyond all use, or whose
/// turn is not finite, is cut in so many pieces.
double turning_length(double k, double g, double turn, double whole);

/// Majorant of the terms of the series of R' = R [k + s g]x on [0, 1], R(0) = 1, which tells where they may end.
class SeriesMajorant {
 public:
  /// |k| and |g|, both times the length and its square.
  SeriesMajorant(double turn, double twirl) : turn_(turn), twirl_(twirl) {}
  /// Goes on to the n-th term from the one before, `by` = 1/n; whether those from there on are negligible.
  bool ends_at(double by) {
    constexpr double negligible = 0x1.0p-57;
    const double next = by * (turn_ * bound_ + twirl_ * before_);
    before_ = bound_;
    bound_ = next;
    return !(bound_ + before_ > negligible);
  }

 private:
  double turn_, twirl_;
  double bound_ = 1.0, before_ = 0.0;
};

/// Position and material frame at the end of a clothoid arc, to rounding at any number of turns (the phase to a
/// rounding of the whole turn). @cite casati2013 sec. 5-6, four pieces of the sum at once.
Pose end_pose(const ClothoidArc& arc);

}  // namespace tresse::geometry
