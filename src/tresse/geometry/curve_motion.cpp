#include <tresse/geometry/curve_motion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>

namespace tresse::geometry {
namespace {

/// Bound of |r''_after - turn r''_before| over the interval.
template <CurveEvaluator C>
double second_derivative_change(const C& before, const C& after, const Matrix3&, Interval interval) {
  return before.bounds(interval).second + after.bounds(interval).second;
}

double second_derivative_change(const SegmentEvaluator&, const SegmentEvaluator&, const Matrix3&, Interval) {
  return 0.0;
}

/// r'' = cos(w s) e + sin(w s)/w f, and |d/dw sin(w s)/w| <= s^2/2.
double second_derivative_change(const HelixEvaluator& before, const HelixEvaluator& after, const Matrix3& turn,
                                Interval interval) {
  const auto second = [](const HelixEvaluator& c) -> Vector3 {
    return c.turning() ? Vector3(-(c.rate() * c.rate()) * c.cosine_radius()) : c.cosine_radius();
  };
  const Vector3 e = second(before);
  const Vector3 f = before.third_derivative_at_begin();
  const double s = interval.end;
  return (second(after) - turn * e).norm() + s * (after.third_derivative_at_begin() - turn * f).norm() +
         std::abs(after.rate() - before.rate()) * s * (e.norm() + 0.5 * s * f.norm());
}

/// r'' = R (k x e_x), and R_after R_before^T, compared with `turn` at the begin, changes by at most |k_after -
/// k_before| a length.
double second_derivative_change(const ClothoidEvaluator& before, const ClothoidEvaluator& after, const Matrix3& turn,
                                Interval interval) {
  const auto across = [](const Vector3& curvature) { return std::hypot(curvature.y(), curvature.z()); };
  double bend = 0.0, change = 0.0, turning = 0.0;  // curvatures are affine: largest at an end
  for (const double s : {interval.begin, interval.end, 0.0}) {
    const Vector3 k = before.curvature() + s * before.curvature_slope();
    const Vector3 difference = after.curvature() + s * after.curvature_slope() - k;
    bend = std::max(bend, across(k));
    change = std::max(change, across(difference));
    turning = std::max(turning, difference.norm());
  }
  const Matrix3 turned = after.piece_at(0.0).frame * before.piece_at(0.0).frame.transpose();
  return std::min(change + bend * ((turned - turn).norm() + turning * interval.end),
                  before.bounds(interval).second + after.bounds(interval).second);
}

/// The rotation that takes one chord's direction and the place beside it to the other's; of straight pieces the
/// smallest that takes the chord's.
Matrix3 turn_of_chord(const Vector3& chord_before, const Vector3& beside_before, const Vector3& chord_after,
                      const Vector3& beside_after) {
  const double before = chord_before.norm();
  const double after = chord_after.norm();
  if (!(before > 0.0) || !(after > 0.0)) return Matrix3::Identity();
  const auto frame = [](const Vector3& chord, const Vector3& beside) {
    Matrix3 out;
    out.col(0) = chord.normalized();
    out.col(1) = (beside - out.col(0) * out.col(0).dot(beside)).normalized();
    out.col(2) = out.col(0).cross(out.col(1));
    return out;
  };
  constexpr double bent =
      1e-2;  // place beside the chord, of its length: what a rotation about a straighter one leaves is less
  if (chord_before.cross(beside_before).norm() > bent * before * before &&
      chord_after.cross(beside_after).norm() > bent * after * after) {
    return frame(chord_after, beside_after) * frame(chord_before, beside_before).transpose();
  }
  return math::rotation_between(chord_before, chord_after);
}

}  // namespace

CurveMotion motion_between(const PreparedCurve& before, const PreparedCurve& after, Interval interval) {
  return std::visit(
      [&](const auto& x) -> CurveMotion {
        using C = std::decay_t<decltype(x)>;
        CurveMotion out;
        const C* const y = std::get_if<C>(&after);
        if (!y) {
          out.spread = std::numeric_limits<double>::infinity();
          return out;
        }
        const double length = interval.end - interval.begin;
        const double middle = interval.begin + 0.5 * length;
        const Vector3 x0 = x.offset(interval.begin), xm = x.offset(middle), x1 = x.offset(interval.end);
        const Vector3 y0 = y->offset(interval.begin), ym = y->offset(middle), y1 = y->offset(interval.end);
        const Vector3 base = y->origin - x.origin;
        out.shift = base + (ym - xm);
        out.turn = turn_of_chord(x1 - x0, xm - 0.5 * (x0 + x1), y1 - y0, ym - 0.5 * (y0 + y1));
        constexpr double units = 16.0 * std::numeric_limits<double>::epsilon();
        out.spread = std::max((y0 - ym - out.turn * (x0 - xm)).norm(), (y1 - ym - out.turn * (x1 - xm)).norm()) +
                     second_derivative_change(x, *y, out.turn, interval) * length * length / 32.0 +
                     units * (x.size(interval) + base.norm());
        return out;
      },
      before);
}

double bending_between(const PreparedCurve& before, const PreparedCurve& after, const Matrix3& turn,
                       Interval interval) {
  const double largest = turn.norm();  // Frobenius: not below the spectral norm
  return std::visit(
      [&](const auto& x) -> double {
        using C = std::decay_t<decltype(x)>;
        const C* const y = std::get_if<C>(&after);
        return y ? largest * second_derivative_change(x, *y, turn, interval) : std::numeric_limits<double>::infinity();
      },
      before);
}

}  // namespace tresse::geometry
