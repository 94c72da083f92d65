#include <tresse/geometry/curve_motion.hpp>

#include <limits>

namespace tresse::geometry {
namespace {

/// Bound of |r''_after - r''_before| over the interval.
template <CurveEvaluator C>
double second_derivative_change(const C& before, const C& after, Interval interval) {
  return before.bounds(interval).second + after.bounds(interval).second;
}

double second_derivative_change(const SegmentEvaluator&, const SegmentEvaluator&, Interval) { return 0.0; }

/// r'' = cos(w s) e + sin(w s)/w f, and |d/dw sin(w s)/w| <= s^2/2.
double second_derivative_change(const HelixEvaluator& before, const HelixEvaluator& after, Interval interval) {
  const auto second = [](const HelixEvaluator& c) -> Vector3 {
    return c.turning() ? Vector3(-(c.rate() * c.rate()) * c.cosine_radius()) : c.cosine_radius();
  };
  const Vector3 e = second(before);
  const Vector3 f = before.third_derivative_at_begin();
  const double s = interval.end;
  return (second(after) - e).norm() + s * (after.third_derivative_at_begin() - f).norm() +
         std::abs(after.rate() - before.rate()) * s * (e.norm() + 0.5 * s * f.norm());
}

}  // namespace

CurveMotion motion_between(const PreparedCurve& before, const PreparedCurve& after, Interval interval) {
  return std::visit(
      [&](const auto& x) -> CurveMotion {
        using C = std::decay_t<decltype(x)>;
        const C* const y = std::get_if<C>(&after);
        if (!y) return {Vector3::Zero(), std::numeric_limits<double>::infinity()};
        const Vector3 base = y->origin - x.origin;
        const auto moved = [&](double s) -> Vector3 { return base + (y->offset(s) - x.offset(s)); };
        const double length = interval.end - interval.begin;
        CurveMotion out;
        out.shift = moved(interval.begin + 0.5 * length);
        constexpr double units = 16.0 * std::numeric_limits<double>::epsilon();
        out.spread = std::max((moved(interval.begin) - out.shift).norm(), (moved(interval.end) - out.shift).norm()) +
                     second_derivative_change(x, *y, interval) * length * length / 32.0 +
                     units * (x.size(interval) + base.norm());
        return out;
      },
      before);
}

}  // namespace tresse::geometry
