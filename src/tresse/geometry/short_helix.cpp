#include <tresse/geometry/short_helix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/math/stumpff.hpp>

namespace tresse::geometry {
namespace {

using std::numbers::pi;

constexpr double rounding = 1e-9;  ///< that a chord may be off the plane of its helix, of its length

/// A plane curve of constant curvature.
ShortHelix arc(const Vector3& chord, const Vector3& axis, double turn) {
  const double half = 0.5 * turn;
  const double length = chord.norm() * (half > 0.0 ? half / std::sin(half) : 1.0);
  return {turn / length * axis, length, turn};
}

/// What a turn between the least and the largest says of the helix.
class Turn {
 public:
  /// `eta`: half the angle between the tangents; `rest`: pi - 2 eta, by itself as it may be small. `from_largest`:
  /// which end `beta` of set() counts from, so that what is near to it is exact.
  Turn(double eta, double sine, double rest, bool from_largest)
      : eta_(eta), sine_(sine), rest_(rest), from_largest_(from_largest) {}

  /// From the least turn, or from the largest, to their middle: 0 to pi / 2.
  void set(double beta) {
    const double near = std::sin(0.5 * beta), far = std::cos(0.5 * beta);
    const double y = rest_ * (from_largest_ ? far * far : near * near);
    const double w = rest_ * (from_largest_ ? near * near : far * far);
    slope_ = (from_largest_ ? -rest_ : rest_) * near * far;  // of y
    half_ = eta_ + y;
    // sin y sin w and sin h, of angles that are at most a right one.
    const double least = std::min(y, w), most = std::max(y, w);
    product_ = std::sin(least) * std::sin(most < 0.5 * pi ? most : 2.0 * eta_ + least);
    cosine_ = std::sqrt(product_);
    cos_half_ = std::sin(0.5 * (w - y));
    sin_half_ = std::sin(eta_ + least);
    ratio_ = sin_half_ / half_;
    above_ = ratio_ - cos_half_;
    if (half_ < 1.0) {
      std::array<double, 4> stumpff;
      math::stumpff_series<4>(half_ * half_, stumpff);
      above_ = half_ * half_ * (stumpff[2] - stumpff[3]);
    }
    along_ = product_ + sine_ * sine_ * ratio_ * cos_half_;
    across_ = cosine_ * sine_ * above_;
  }

  /// tan(angle of chord and mean tangent - wanted), without bound where the two are more than a right angle apart.
  double off(double cos_wanted, double sin_wanted) const {
    const double y = across_ * cos_wanted - along_ * sin_wanted, x = along_ * cos_wanted + across_ * sin_wanted;
    return x > 0.0 ? y / x : std::copysign(std::numeric_limits<double>::infinity(), y);
  }

  /// d angle / d beta.
  double rise() const {
    const double d_product = 2.0 * cos_half_ * sin_half_ * slope_;  // sin(w - y) y'
    const double d_cosine = 0.5 * d_product / cosine_;
    const double d_ratio = -above_ / half_ * slope_;
    const double d_above = d_ratio + sin_half_ * slope_;
    const double d_along = d_product + sine_ * sine_ * (d_ratio * cos_half_ - ratio_ * sin_half_ * slope_);
    const double d_across = sine_ * (d_cosine * above_ + cosine_ * d_above);
    return (d_across * along_ - d_along * across_) / (across_ * across_ + along_ * along_);
  }

  double turn() const { return 2.0 * half_; }
  double length(double chord) const { return chord * sin_half_ / std::hypot(cosine_, sine_ * ratio_); }
  /// Cosine and sine of the angle from the axis to the mean tangent.
  Eigen::Vector2d tilt() const { return Eigen::Vector2d(cosine_, sine_ * cos_half_).normalized(); }

 private:
  double eta_, sine_, rest_;
  bool from_largest_;
  double half_ = 0.0;    ///< half the turn
  double cosine_ = 0.0;  ///< of the angle between tangents and axis, times sin_half_; its sine is sine_
  double product_ = 0.0;
  double cos_half_ = 1.0, sin_half_ = 0.0;
  double ratio_ = 1.0;  ///< sin_half_ / half_
  double above_ = 0.0;  ///< ratio_ - cos_half_
  double along_ = 1.0, across_ = 0.0;
  double slope_ = 0.0;
};

/// The turn at which chord and mean tangent enclose the angle `wanted`, in (0, pi).
Turn solve(double wanted, double eta, double sine, double rest) {
  const double cosine = std::cos(wanted), sine_wanted = std::sin(wanted);
  // Where tangents turn little, wanted = eta C / 3 and (half turn)^2 = eta^2 + C^2.
  const double lean = 3.0 * wanted / eta;
  const double share = lean * lean / (std::hypot(eta, lean) + eta) / rest;
  double low = 0.0, high = 0.5 * pi;
  double beta = 2.0 * std::asin(std::sqrt(std::min(share, 0.5)));
  Turn out(eta, sine, rest, false);
  if (share >= 0.5) {
    out.set(high);
    const bool beyond = out.off(cosine, sine_wanted) < 0.0;
    out = Turn(eta, sine, rest, beyond);
    beta = 0.5 * high;
  }
  constexpr int most = 200;
  constexpr double quadratic = 1e-9;  // whose square is a rounding
  for (int i = 0; i < most; ++i) {
    out.set(beta);
    const double off = out.off(cosine, sine_wanted), rise = out.rise();
    if (off == 0.0) return out;
    ((off < 0.0) == (rise > 0.0) ? low : high) = beta;
    double next = beta - off / rise;
    const bool last = std::abs(next - beta) <= quadratic * beta;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    beta = next;
    if (last) break;
  }
  out.set(beta);
  return out;
}

}  // namespace

std::optional<ShortHelix> short_helix(const Vector3& chord, const Vector3& t0, const Vector3& t1) {
  const double size = chord.norm();
  if (!(size > 0.0) || !std::isfinite(size)) return std::nullopt;
  const Vector3 d = chord / size;
  Vector3 sum = t0 + t1, change = t1 - t0;
  if (std::abs(d.dot(change)) > rounding) return std::nullopt;
  // The two are at right angles but for rounding, which the shorter takes.
  Vector3& shorter = sum.squaredNorm() < change.squaredNorm() ? sum : change;
  const Vector3& longer = &shorter == &sum ? change : sum;
  shorter -= longer.dot(shorter) / longer.squaredNorm() * longer;
  const double mean = sum.norm();
  if (mean < 1e-15) return arc(chord, t0.cross(d).normalized(), pi);
  const Vector3 a = sum / mean;
  // What of the change lies along the chord is a rounding: of the tangents where they turn little, else of the chord.
  const Vector3 across = d - a.dot(d) * a;
  const double aside = across.norm();
  if (aside >= change.norm() && aside > 0.0) change -= across.dot(change) / (aside * aside) * across;
  const double turned = change.norm();
  const double wanted = std::atan2(aside, a.dot(d));
  if (turned == 0.0) {
    if (wanted > rounding) return std::nullopt;
    return ShortHelix{Vector3::Zero(), size, 0.0};
  }
  const Vector3 z = change / turned;
  const Vector3 b = z.cross(a);
  const double eta = std::atan2(turned, mean), rest = 2.0 * std::atan2(mean, turned);
  if (wanted == 0.0) return arc(chord, -b, 2.0 * eta);
  const Turn turn = solve(wanted, eta, turned / std::hypot(turned, mean), rest);
  const double sign = b.dot(d) < 0.0 ? -1.0 : 1.0;
  const Eigen::Vector2d tilt = turn.tilt();
  const Vector3 axis = tilt[0] * a - sign * tilt[1] * b;
  const double length = turn.length(size);
  return ShortHelix{sign * turn.turn() / length * axis, length, turn.turn()};
}

}  // namespace tresse::geometry
