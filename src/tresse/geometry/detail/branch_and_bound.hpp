#pragma once

#include <algorithm>
#include <vector>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry::detail {

/// Two intervals that wait, ordered by the longer.
struct IntervalPair {
  Interval a, b;
  double width;
  bool operator<(const IntervalPair& other) const { return width < other.width; }
};

/// Algorithm 1 of crespel2024 as published: widest pair of intervals first, capsules around the tangents at the centres
/// (radius k h^2/8), samples at the closest points of the tangents put back on the curves, the longer interval is
/// split, until one of them is shorter than the precision. One deviation: intervals are split at their middle, since a
/// sample may lie at an end, where splitting would never end. Split at samples that lie inside it takes 1.3 to 3.4
/// times as long (docs/measured/detection.md). `heap` is memory.
template <CurveEvaluator A, CurveEvaluator B>
ClosestPoints branch_and_bound(const A& a, Interval ia, const B& b, Interval ib, const ClosestPointsOptions& options,
                               std::vector<IntervalPair>& heap) {
  const auto length = [](Interval i) { return i.end - i.begin; };
  const auto make = [&](Interval x, Interval y) { return IntervalPair{x, y, std::max(length(x), length(y))}; };
  heap.clear();
  const auto push = [&heap](const IntervalPair& pair) {
    heap.push_back(pair);
    std::push_heap(heap.begin(), heap.end());
  };

  const Vector3 base = a.origin - b.origin;
  ClosestPoints out;
  out.certified = true;
  double best = options.upper_bound;
  // An interval of a point is never too wide or too narrow.
  const auto wide = [&](Interval i, Interval whole) { return length(i) >= options.tolerance || length(whole) == 0.0; };
  IntervalPair next = make(ia, ib);
  for (;;) {
    if (out.steps == options.max_steps) {
      out.certified = false;
      break;
    }
    ++out.steps;
    const auto [x, y, width] = next;
    const double sx = 0.5 * (x.begin + x.end);
    const double sy = 0.5 * (y.begin + y.end);
    const CurveJet ja = a.jet(sx);
    const CurveJet jb = b.jet(sy);
    const Vector3 w = base + (ja.offset - jb.offset);
    const Vector3 p = 0.5 * length(x) * ja.first;
    const Vector3 q = 0.5 * length(y) * jb.first;
    const auto [u, v] = closest_on_segments(w, p, q);
    const double s_a = std::clamp(sx + 0.5 * u * length(x), x.begin, x.end);
    const double s_b = std::clamp(sy + 0.5 * v * length(y), y.begin, y.end);
    if (wide(x, ia) && wide(y, ib) && width >= options.tolerance) {
      const double axes = (w + u * p - v * q).norm();
      const double radii =
          (a.bounds(x).second * length(x) * length(x) + b.bounds(y).second * length(y) * length(y)) / 8.0;
      if (axes - radii < best) {
        if (length(x) > length(y)) {
          push(make({x.begin, sx}, y));
          push(make({sx, x.end}, y));
        } else {
          push(make(x, {y.begin, sy}));
          push(make(x, {sy, y.end}));
        }
      }
    }
    const double distance = (base + (a.offset(s_a) - b.offset(s_b))).norm();
    if (distance < best) {
      best = out.distance = distance;
      out.s_a = s_a;
      out.s_b = s_b;
      out.found = true;
    }
    if (heap.empty()) break;
    std::pop_heap(heap.begin(), heap.end());
    next = heap.back();
    heap.pop_back();
  }
  return out;
}

}  // namespace tresse::geometry::detail
