#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <memory>
#include <variant>
#include <vector>

#include <tresse/geometry/curves.hpp>
#include <tresse/math/quick_trigonometry.hpp>
#include <tresse/math/vectors.hpp>

/// Curves made ready for many evaluations: what depends on the curve alone is computed once. The evaluators share one
/// static interface (the concept CurveEvaluator), so that a query chooses the type of its curves once, at its entry.

namespace tresse::geometry {

/// A curve and its derivatives at one parameter; the offset is relative to the evaluator's origin.
struct CurveJet {
  Vector3 offset;  ///< r(s) - origin (3) [m]
  Vector3 first;   ///< dr/ds         (3)
  Vector3 second;  ///< d2r/ds2       (3)
};

/// Bounds of the derivatives' norms over an interval.
struct DerivativeBounds {
  double second = 0.0;  ///< >= |d2r/ds2|
  double third = 0.0;   ///< >= |d3r/ds3|
};

/// What the queries ask of a curve. `unit_speed`: |dr/ds| = 1 (or the curve is a point).
template <typename C>
concept CurveEvaluator = requires(const C& curve, double s, Interval interval) {
  { curve.origin } -> std::convertible_to<Vector3>;
  { C::unit_speed } -> std::convertible_to<bool>;
  { curve.domain() } -> std::same_as<Interval>;
  { curve.offset(s) } -> std::same_as<Vector3>;
  { curve.jet(s) } -> std::same_as<CurveJet>;
  { curve.bounds(interval) } -> std::same_as<DerivativeBounds>;
  { curve.size(interval) } -> std::same_as<double>;
};

class SegmentEvaluator {
 public:
  static constexpr bool unit_speed = true;
  explicit SegmentEvaluator(const LineSegment& segment)
      : origin(segment.from), direction_(segment.to - segment.from), length_(math::safe_norm(direction_)) {
    if (length_ > 0.0) direction_ /= length_;
  }
  Interval domain() const { return {0.0, length_}; }
  Vector3 offset(double s) const { return s * direction_; }
  CurveJet jet(double s) const { return {s * direction_, direction_, Vector3::Zero()}; }
  DerivativeBounds bounds(Interval) const { return {}; }
  double size(Interval i) const { return std::max(std::abs(i.begin), std::abs(i.end)); }
  const Vector3& direction() const { return direction_; }

  Vector3 origin;

 private:
  Vector3 direction_;
  double length_;
};

/// Helix arc. With w the Darboux vector in the world, t the tangent at s = 0, e = w x t and f = w x e,
/// r = origin + s t + s^2 c2 e + s^3 c3 f (Stumpff functions of |w|^2 s^2) while the arc turns less than a radian, and
/// the axis form r = origin + centre + s pitch + cos(|w| s) u + sin(|w| s) v beyond, where the radius is below the
/// length and so nothing cancels. |r''| = |e| and |r'''| = |f| are constant.
class HelixEvaluator {
 public:
  static constexpr bool unit_speed = true;
  explicit HelixEvaluator(const HelixArc& arc);
  Interval domain() const { return {0.0, length_}; }

  TRESSE_HOT Vector3 offset(double s) const {
    if (turning_) {
      const auto [sine, cosine] = math::quick::sine_cosine(rate_ * s);
      return centre_ + s * pitch_ + cosine * u_ + sine * v_;
    }
    const auto c = math::quick::stumpff(rate_ * rate_ * s * s);
    return s * (pitch_ + s * (c.c2 * u_ + (s * c.c3) * v_));
  }

  TRESSE_HOT CurveJet jet(double s) const {
    if (turning_) {
      const auto [sine, cosine] = math::quick::sine_cosine(rate_ * s);
      const Vector3 radial = cosine * u_ + sine * v_;
      return {centre_ + s * pitch_ + radial, pitch_ + rate_ * (cosine * v_ - sine * u_), -(rate_ * rate_) * radial};
    }
    const auto c = math::quick::stumpff(rate_ * rate_ * s * s);
    return {s * (pitch_ + s * (c.c2 * u_ + (s * c.c3) * v_)), pitch_ + s * (c.c1 * u_ + (s * c.c2) * v_),
            c.c0 * u_ + (s * c.c1) * v_};
  }

  DerivativeBounds bounds(Interval) const { return {curvature_, third_}; }
  /// Scale of the rounding of offset(): arc length (its phase is rounded), and radius.
  double size(Interval i) const { return 3.0 * std::max({std::abs(i.begin), std::abs(i.end), length_}); }

  /// Jets where nearly every query begins: at the middles of both halves of the domain, and at its two ends; for each
  /// coordinate these four numbers side by side.
  struct Places {
    using Vectors = std::array<std::array<double, 4>, 3>;
    Vectors offset, first, second;
  };
  const Places& places() const { return places_; }

  /// d3r/ds3 where dr/ds is `first`: r''' + |w|^2 r' is the same all along.
  TRESSE_HOT Vector3 third_derivative(const Vector3& first) const {
    const Vector3 turned = (rate_ * rate_) * (pitch_ - first);
    return turning_ ? turned : Vector3(v_ + turned);
  }
  Vector3 third_derivative_at_begin() const { return turning_ ? Vector3(-(rate_ * rate_ * rate_) * v_) : v_; }
  /// n . r(s) = constant + s slope + cos(rate s) cosine + sin(rate s) sine, when turning().
  bool turning() const { return turning_; }
  double rate() const { return rate_; }
  const Vector3& centre() const { return centre_; }
  const Vector3& pitch() const { return pitch_; }
  const Vector3& cosine_radius() const { return u_; }
  const Vector3& sine_radius() const { return v_; }

  Vector3 origin;

 private:
  Vector3 centre_ = Vector3::Zero();  ///< axis form: the axis' point at s = 0, from the origin
  Vector3 pitch_;                     ///< axis form: mean velocity; series form: t
  Vector3 u_;                         ///< axis form: radius at s = 0; series form: e
  Vector3 v_;                         ///< axis form: the radius a quarter turn later; series form: f
  double rate_ = 0.0;                 ///< |w| [rad/m]
  double curvature_ = 0.0;
  double third_ = 0.0;
  double length_ = 0.0;
  bool turning_ = false;
  Places places_;
};

/// Clothoid arc as power series summed piecewise. @cite casati2013 sec. 5-6: R_{n+1} = (R_n [k]x + R_{n-1} [g]x)/(n+1)
/// in powers of the distance from the start of each piece, short enough (a radian of turn at most) for no term to
/// exceed the sum. Every piece is summed in its own frame, four at once, and then put at the end of the one before.
class ClothoidEvaluator {
 public:
  static constexpr bool unit_speed = true;
  explicit ClothoidEvaluator(const ClothoidArc& arc);
  Interval domain() const { return {0.0, length_}; }
  Vector3 offset(double s) const;
  CurveJet jet(double s) const;
  DerivativeBounds bounds(Interval interval) const;
  double size(Interval i) const { return 4.0 * std::max({std::abs(i.begin), std::abs(i.end), length_}); }
  const Vector3& curvature() const { return curvature_; }  ///< at s = 0
  const Vector3& curvature_slope() const { return slope_; }
  /// How far beyond the ends of the domain the series still tell where the arc would go on. [m]
  double continuation() const;

  Vector3 origin;

  static constexpr int max_terms = 30;
  /// A part of the arc, and the series of its dr/ds.
  struct Piece {
    Piece() {}  // NOLINT(modernize-use-equals-default): nothing to be cleared, all is written
    double begin;
    double length;
    Vector3 curvature;  ///< at `begin`
    int terms;
    Vector3 start;  ///< r(begin) - origin
    Matrix3 frame;  ///< R(begin)
    /// Of dr/ds in that frame, in powers of s / length; the fourth number is not used: evaluated four at once.
    std::array<std::array<double, 4>, max_terms> term;
  };
  const Piece& piece_at(double s) const;

 private:
  /// The series of pieces first to first + count - 1 (four at most), and where the next one starts.
  void sum_pieces(std::size_t first, std::size_t count, std::vector<Piece>& pieces) const;

  Vector3 curvature_;
  Vector3 slope_;
  double length_ = 0.0;
  /// And after the last an empty one, at the end. Shared by the copies: one for each turn of a tight coil.
  std::shared_ptr<const std::vector<Piece>> pieces_;
};

/// Cubic Bezier curve in powers of t - 1/2.
class BezierEvaluator {
 public:
  static constexpr bool unit_speed = false;
  explicit BezierEvaluator(const CubicBezier& curve);
  Interval domain() const { return {0.0, 1.0}; }
  Vector3 offset(double s) const {
    const double x = s - 0.5;
    return c0_ + x * (c1_ + x * (c2_ + x * c3_));
  }
  CurveJet jet(double s) const {
    const double x = s - 0.5;
    return {c0_ + x * (c1_ + x * (c2_ + x * c3_)), c1_ + x * (2.0 * c2_ + (3.0 * x) * c3_),
            2.0 * c2_ + (6.0 * x) * c3_};
  }
  /// The second derivative is affine, so its norm is largest at an end.
  DerivativeBounds bounds(Interval i) const {
    const auto second = [&](double s) { return (2.0 * c2_ + (6.0 * (s - 0.5)) * c3_).norm(); };
    return {std::max(second(i.begin), second(i.end)), 6.0 * c3_.norm()};
  }
  double size(Interval) const { return size_; }

  Vector3 origin;

 private:
  Vector3 c0_, c1_, c2_, c3_;
  double size_ = 0.0;
};

static_assert(CurveEvaluator<SegmentEvaluator> && CurveEvaluator<HelixEvaluator> && CurveEvaluator<ClothoidEvaluator> &&
              CurveEvaluator<BezierEvaluator>);

/// A curve ready for many queries: build it once per piece and step.
using PreparedCurve = std::variant<SegmentEvaluator, HelixEvaluator, ClothoidEvaluator, BezierEvaluator>;

PreparedCurve prepare(const Curve& curve);

Interval domain(const PreparedCurve& curve);
Vector3 position(const PreparedCurve& curve, double s);
CurveJet jet(const PreparedCurve& curve, double s);  ///< the offset is from the curve's origin
/// Bound of |d2r/ds2| over the interval.
double second_derivative_bound(const PreparedCurve& curve, Interval interval);

}  // namespace tresse::geometry
