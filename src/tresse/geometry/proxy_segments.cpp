#include <array>

#include <tresse/geometry/detail/proxy_segments.hpp>

namespace tresse::geometry::detail {
namespace {

double squared_distance(const Box& x, const Box& y) {
  return (x.lower - y.upper).cwiseMax(y.lower - x.upper).cwiseMax(0.0).squaredNorm();
}

}  // namespace

ProxyClosest closest_on_proxies(const ProxyTree& a, const ProxyTree& b, double upper_bound) {
  struct Entry {
    int a, b;
    double squared;
  };
  // Of the boxes that one opens at most one waits: no more wait than both trees have levels, 24 each, and the last two.
  std::array<Entry, 64> stack;
  std::size_t waiting = 0;
  ProxyClosest out{.distance = upper_bound};
  double best2 = upper_bound * upper_bound;
  const auto push = [&](int i, int j) {
    const double squared = squared_distance(a.boxes[i], b.boxes[j]);
    if (squared < best2) stack[waiting++] = {i, j, squared};
  };
  push(0, 0);
  while (waiting > 0) {
    const Entry entry = stack[--waiting];
    if (entry.squared >= best2) continue;
    ++out.steps;
    const bool leaf_a = a.is_leaf(entry.a);
    const bool leaf_b = b.is_leaf(entry.b);
    if (leaf_a && leaf_b) {
      const int i = a.segment(entry.a);
      const int j = b.segment(entry.b);
      if (i < 0 || j < 0) continue;
      const Vector3 p = 0.5 * (a.vertices[i + 1] - a.vertices[i]);
      const Vector3 q = 0.5 * (b.vertices[j + 1] - b.vertices[j]);
      const Vector3 w = 0.5 * (a.vertices[i] + a.vertices[i + 1]) - 0.5 * (b.vertices[j] + b.vertices[j + 1]);
      const auto [u, v] = closest_on_segments(w, p, q);
      const double squared = (w + u * p - v * q).squaredNorm();
      if (squared < best2) {
        best2 = squared;
        out.distance = std::sqrt(squared);
        out.s_a = a.begin + a.step * (i + 0.5 * (1.0 + u));
        out.s_b = b.begin + b.step * (j + 0.5 * (1.0 + v));
        out.found = true;
      }
      continue;
    }
    // Open the larger box; the nearer child ends on top of the stack.
    const auto size = [](const Box& box) { return (box.upper - box.lower).squaredNorm(); };
    const bool open_a = leaf_b || (!leaf_a && size(a.boxes[entry.a]) >= size(b.boxes[entry.b]));
    int i[2] = {entry.a, entry.a};
    int j[2] = {entry.b, entry.b};
    if (open_a) {
      i[0] = 2 * entry.a + 1, i[1] = 2 * entry.a + 2;
    } else {
      j[0] = 2 * entry.b + 1, j[1] = 2 * entry.b + 2;
    }
    const bool first_nearer =
        squared_distance(a.boxes[i[0]], b.boxes[j[0]]) <= squared_distance(a.boxes[i[1]], b.boxes[j[1]]);
    push(i[first_nearer ? 1 : 0], j[first_nearer ? 1 : 0]);
    push(i[first_nearer ? 0 : 1], j[first_nearer ? 0 : 1]);
  }
  return out;
}

}  // namespace tresse::geometry::detail
