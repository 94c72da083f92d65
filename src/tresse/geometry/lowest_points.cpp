#include <tresse/geometry/lowest_points.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {
namespace {

/// Slope of the height below which a stretch counts as level: rounding of a unit tangent, with room.
constexpr double level_slope = 1e-13;

/// Bounds of n . r'' and n . r''' over an interval: those of the vectors, or tighter where the curve is simple.
template <CurveEvaluator C>
DerivativeBounds bounds_along(const C& curve, const Vector3&, Interval interval) {
  return curve.bounds(interval);
}
/// n . r'' is a sinusoid of the rate of a helix.
DerivativeBounds bounds_along(const HelixEvaluator& curve, const Vector3& normal, Interval) {
  const double second = normal.dot(curve.jet(0.0).second);
  const double third = normal.dot(curve.third_derivative_at_begin());
  const double swing = curve.rate() > 0.0 ? std::hypot(second, third / curve.rate()) : 0.0;
  return {swing, curve.rate() * swing};
}

/// Collects the interior minima of f(s) = n . r(s): intervals on which n.r' keeps its sign are dropped, those on which
/// n.r'' keeps its sign hold one root of n.r' at most, which is bracketed and refined; others are halved.
template <CurveEvaluator C>
class MinimaFinder {
 public:
  MinimaFinder(const C& curve, const Vector3& normal, std::vector<double>& out)
      : curve_(curve), normal_(normal), out_(out) {}

  void find(Interval interval, int depth = 0) {
    const double middle = 0.5 * (interval.begin + interval.end);
    const double half = 0.5 * (interval.end - interval.begin);
    const CurveJet jet = curve_.jet(middle);
    const DerivativeBounds bounds = bounds_along(curve_, normal_, interval);
    const double slope = normal_.dot(jet.first);
    const double bend = normal_.dot(jet.second);
    const double scale = jet.first.norm() + bounds.second * half;
    const double curl = std::min(bounds.third * half, 2.0 * bounds.second);
    if (std::abs(slope) > std::min(bounds.second, std::abs(bend) + 0.5 * curl) * half) return;
    if (std::abs(slope) + std::min(bounds.second, std::abs(bend) + 0.5 * curl) * half <= level_slope * scale) return;
    if (bend < -curl) return;  // concave: no minimum inside
    constexpr int max_depth = 48;
    if (bend > curl || depth == max_depth) {
      if (slope_at(interval.begin) < 0.0 && slope_at(interval.end) >= 0.0) out_.push_back(root(interval));
      return;
    }
    // A stretch that lies level but for rounding isn't worth millions of halvings.
    constexpr int patience = 10;
    if (depth >= patience && std::abs(slope) <= level_slope * scale) {
      const double rise = slope_at(interval.end);
      const double fall = slope_at(interval.begin);
      if (std::max(std::abs(rise), std::abs(fall)) <= level_slope * scale) {
        if (fall < -0.1 * level_slope * scale && rise > 0.1 * level_slope * scale) out_.push_back(root(interval));
        return;
      }
    }
    find({interval.begin, middle}, depth + 1);
    find({middle, interval.end}, depth + 1);
  }

 private:
  double slope_at(double s) const { return normal_.dot(curve_.jet(s).first); }

  /// Root of the slope in an interval on which it rises from below to above zero: Newton's method kept in the bracket.
  double root(Interval bracket) const {
    double s = 0.5 * (bracket.begin + bracket.end);
    for (int i = 0; i < 200; ++i) {
      const CurveJet jet = curve_.jet(s);
      const double slope = normal_.dot(jet.first);
      (slope < 0.0 ? bracket.begin : bracket.end) = s;
      double next = s - slope / normal_.dot(jet.second);
      if (!(next > bracket.begin && next < bracket.end)) next = 0.5 * (bracket.begin + bracket.end);
      constexpr double resolution = 4.0 * std::numeric_limits<double>::epsilon();
      if (std::abs(next - s) <= resolution * std::max(std::abs(s), curve_.domain().end)) return next;
      s = next;
    }
    return s;
  }

  const C& curve_;
  const Vector3& normal_;
  std::vector<double>& out_;
};

template <CurveEvaluator C>
std::vector<double> all_minima(const C& curve, Interval interval, const Vector3& normal) {
  std::vector<double> out;
  const double begin_slope = normal.dot(curve.jet(interval.begin).first);
  const double end_slope = normal.dot(curve.jet(interval.end).first);
  if (begin_slope >= -level_slope * std::max(1e-300, curve.jet(interval.begin).first.norm()))
    out.push_back(interval.begin);
  if (interval.begin < interval.end) {
    MinimaFinder<C>(curve, normal, out).find(interval);
    if (end_slope <= level_slope * curve.jet(interval.end).first.norm()) out.push_back(interval.end);
  }
  // Roots at a common end of two halves come twice.
  const double same = 1e-12 * std::max(std::abs(interval.begin), std::abs(interval.end));
  out.erase(std::unique(out.begin(), out.end(), [same](double x, double y) { return y - x <= same; }), out.end());
  return out;
}

void validate(Interval interval, const Vector3& point, const Vector3& normal) {
  require(std::isfinite(interval.begin) && std::isfinite(interval.end) && interval.begin <= interval.end,
          "lowest_points: interval must be finite with begin <= end");
  require(point.allFinite(), "lowest_points: point must be finite");
  constexpr double unit_error = 1e-9;
  require(std::abs(normal.norm() - 1.0) <= unit_error, "lowest_points: normal must be a unit vector");
}

}  // namespace

std::vector<double> lowest_points(const PreparedCurve& curve, Interval interval, const Vector3& point,
                                  const Vector3& normal, double bound) {
  validate(interval, point, normal);
  return std::visit(
      [&](const auto& c) {
        std::vector<double> minima = all_minima(c, interval, normal);
        const double base = normal.dot(c.origin - point);
        std::erase_if(minima, [&](double s) { return base + normal.dot(c.offset(s)) > bound; });
        return minima;
      },
      curve);
}

std::vector<double> lowest_points(const Curve& curve, Interval interval, const Vector3& point, const Vector3& normal,
                                  double bound) {
  return lowest_points(prepare(curve), interval, point, normal, bound);
}

}  // namespace tresse::geometry
