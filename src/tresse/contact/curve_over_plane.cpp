#include <tresse/contact/detail/curve_over_plane.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include <tresse/geometry/lowest_points.hpp>

namespace tresse::contact::detail {

using geometry::Interval;

CurveOverPlane::CurveOverPlane(const geometry::PreparedCurve& curve, double curvature, const Vector3& point,
                               const Vector3& normal)
    : curve_(curve),
      curvature_(curvature),
      point_(point),
      normal_(normal),
      base_(normal.dot(std::visit([](const auto& c) { return c.origin; }, curve) - point)) {}

CurveOverPlane::Value CurveOverPlane::at(double s) const {
  const geometry::CurveJet jet = geometry::jet(curve_, s);
  return {base_ + normal_.dot(jet.offset), normal_.dot(jet.first)};
}

bool CurveOverPlane::beyond(const Interval& interval, double bound) const {
  const double half = 0.5 * (interval.end - interval.begin);
  const Value middle = at(interval.begin + half);
  return std::abs(middle.height) - half * (std::abs(middle.slope) + 0.5 * curvature_ * half) > bound;
}

/// Begin, extremes and end of an interval.
std::vector<double> CurveOverPlane::cuts(const Interval& interval) const {
  const double half = 0.5 * (interval.end - interval.begin);
  if (std::abs(at(interval.begin + half).slope) > curvature_ * half) return {interval.begin, interval.end};
  std::vector<double> out = geometry::lowest_points(curve_, interval, point_, normal_);
  const std::vector<double> highest = geometry::lowest_points(curve_, interval, point_, -normal_);
  out.insert(out.end(), highest.begin(), highest.end());
  out.push_back(interval.begin);
  out.push_back(interval.end);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() == 1) out.push_back(out.front());  // a point
  return out;
}

/// Where a monotone stretch passes a level between those of its ends: Newton's method kept in the bracket.
double CurveOverPlane::crossing(Interval bracket, double level) const {
  const bool rises = at(bracket.begin).height < level;
  double s = 0.5 * (bracket.begin + bracket.end);
  constexpr int most = 200;
  constexpr double resolution = 4.0 * std::numeric_limits<double>::epsilon();
  for (int i = 0; i < most; ++i) {
    const Value here = at(s);
    ((here.height < level) == rises ? bracket.begin : bracket.end) = s;
    double next = s - (here.height - level) / here.slope;
    if (!(next > bracket.begin && next < bracket.end)) next = 0.5 * (bracket.begin + bracket.end);
    if (std::abs(next - s) <= resolution * std::max(std::abs(s), std::abs(bracket.end))) return next;
    s = next;
  }
  return s;
}

std::vector<Interval> CurveOverPlane::above(const std::vector<Interval>& intervals, double least) const {
  std::vector<Interval> out;
  const auto add = [&](double begin, double end) {
    if (!out.empty() && out.back().end == begin) {
      out.back().end = end;
    } else {
      out.push_back({begin, end});
    }
  };
  for (const Interval& interval : intervals) {
    const double half = 0.5 * (interval.end - interval.begin);
    const Value middle = at(interval.begin + half);
    const double swing = half * (std::abs(middle.slope) + 0.5 * curvature_ * half);
    if (middle.height - swing >= least) {
      add(interval.begin, interval.end);
      continue;
    }
    if (middle.height + swing < least) continue;
    const std::vector<double> ends = cuts(interval);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const bool first = at(ends[i]).height >= least;
      const bool last = at(ends[i + 1]).height >= least;
      if (first && last) add(ends[i], ends[i + 1]);
      if (first && !last) add(ends[i], crossing({ends[i], ends[i + 1]}, least));
      if (!first && last) add(crossing({ends[i], ends[i + 1]}, least), ends[i + 1]);
    }
  }
  return out;
}

}  // namespace tresse::contact::detail
