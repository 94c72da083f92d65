#pragma once

#include <vector>

#include <tresse/base/errors.hpp>

#include <tresse/geometry/box.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry::detail {

/// A curve sampled into equal pieces of the parameter no longer than a tolerance, vertices on the curve, under a
/// complete binary tree of boxes (breadth first: children of i at 2i+1, 2i+2).
class ProxyTree {
 public:
  template <CurveEvaluator C>
  void build(const C& curve, Interval interval, double tolerance, const Vector3& shift) {
    double speed = 1.0;
    if constexpr (!C::unit_speed) {
      const double middle = 0.5 * (interval.begin + interval.end);
      speed = curve.jet(middle).first.norm() + curve.bounds(interval).second * 0.5 * (interval.end - interval.begin);
    }
    const double wanted = std::ceil(speed * (interval.end - interval.begin) / tolerance);
    require(wanted <= 1e7, "closest_points: tolerance of method segments must leave at most 1e7 segments a curve");
    count = std::max(1, static_cast<int>(wanted));
    step = (interval.end - interval.begin) / count;
    begin = interval.begin;
    vertices.resize(count + 1);
    for (int i = 0; i <= count; ++i) vertices[i] = shift + curve.offset(i == count ? interval.end : begin + i * step);
    leaves = 1;
    while (leaves < count) leaves *= 2;
    boxes.resize(2 * leaves - 1);
    for (int i = 0; i < leaves; ++i) boxes[leaves - 1 + i] = leaf_box(std::min(i, count - 1));
    for (int i = leaves - 2; i >= 0; --i) {
      boxes[i] = {boxes[2 * i + 1].lower.cwiseMin(boxes[2 * i + 2].lower),
                  boxes[2 * i + 1].upper.cwiseMax(boxes[2 * i + 2].upper)};
    }
  }

  bool is_leaf(int node) const { return node >= leaves - 1; }
  /// Number of the leaf's segment; -1 past the last.
  int segment(int node) const { return node - (leaves - 1) < count ? node - (leaves - 1) : -1; }

  std::vector<Vector3> vertices;
  std::vector<Box> boxes;
  double begin = 0.0;
  double step = 0.0;
  int count = 0;
  int leaves = 0;

 private:
  Box leaf_box(int i) const { return {vertices[i].cwiseMin(vertices[i + 1]), vertices[i].cwiseMax(vertices[i + 1])}; }
};

/// Closest points of two polylines; upper_bound [m] excludes anything farther.
struct ProxyClosest {
  double distance;
  double s_a = 0.0;
  double s_b = 0.0;
  bool found = false;
  int steps = 0;
};
ProxyClosest closest_on_proxies(const ProxyTree& a, const ProxyTree& b, double upper_bound);

/// The baseline of crespel2024 sec. 6.5. The answer's parameters are mapped linearly from segment to curve, its
/// distance is taken on the curves. The trees are memory.
template <CurveEvaluator A, CurveEvaluator B>
ClosestPoints proxy_segments(const A& a, Interval ia, const B& b, Interval ib, const ClosestPointsOptions& options,
                             ProxyTree& tree_a, ProxyTree& tree_b) {
  const Vector3 base = a.origin - b.origin;
  tree_a.build(a, ia, options.tolerance, base);
  tree_b.build(b, ib, options.tolerance, Vector3::Zero());
  const ProxyClosest nearest = closest_on_proxies(tree_a, tree_b, options.upper_bound);
  ClosestPoints out;
  out.steps = nearest.steps;
  if (!nearest.found) return out;
  out.s_a = std::clamp(nearest.s_a, ia.begin, ia.end);
  out.s_b = std::clamp(nearest.s_b, ib.begin, ib.end);
  out.distance = (base + (a.offset(out.s_a) - b.offset(out.s_b))).norm();
  out.found = true;
  return out;
}

}  // namespace tresse::geometry::detail
