#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/contact/detail/way_search.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact::detail {
namespace {

/// The chord is within this of the curve between two of its points. [m]
double sagitta(const WayPiece& piece, const std::array<WayPoint, 2>& ends) {
  const double length = ends[1].s - ends[0].s;
  return piece.bend * length * length / 8.0;
}

/// Whatever direction n is, points p of a and q of b are at least n . (p - q) apart; and on straight ways between
/// instants n . (p - q) is least at one of these and at ends of the chords.
class PairWay {
 public:
  PairWay(const WayPiece& a, const WayPiece& b) : a_(a), b_(b) {}

  WayBox whole() const {
    WayBox box;
    for (std::size_t i = 0; i < 2; ++i) {
      box.a[i] = point(a_, i == 0 ? a_.interval.begin : a_.interval.end);
      box.b[i] = point(b_, i == 0 ? b_.interval.begin : b_.interval.end);
    }
    return box;
  }

  void evaluate(WayBox& box) const {
    const double middle = 0.5 * (box.begin + box.end);
    const auto [apart, u, v] = geometry::nearest_on_segments(box.a[0].at(middle), box.a[1].at(middle),
                                                             box.b[0].at(middle), box.b[1].at(middle));
    Vector3 n = apart;
    const double distance = n.norm();
    if (distance > 0.0) n /= distance;
    double bound = std::numeric_limits<double>::infinity();
    for (const double time : {box.begin, box.end}) {
      const double of_a = std::min(n.dot(box.a[0].at(time)), n.dot(box.a[1].at(time)));
      const double of_b = std::max(n.dot(box.b[0].at(time)), n.dot(box.b[1].at(time)));
      bound = std::min(bound, of_a - of_b);
    }
    box.loss_a = sagitta(a_, box.a);
    box.loss_b = sagitta(b_, box.b);
    // Of chords that cross n is what rounding makes of it: then not the time is to blame.
    double way = 0.0;
    for (const WayPoint& x : box.a) {
      for (const WayPoint& y : box.b) way = std::max(way, ((x.to - x.from) - (y.to - y.from)).norm());
    }
    box.loss_t = std::min(distance - bound, 0.5 * (box.end - box.begin) * way);
    box.bound = std::max(0.0, bound - box.loss_a - box.loss_b);
    box.upper = distance + box.loss_a + box.loss_b;
    box.s_a = 0.5 * ((1.0 - u) * box.a[0].s + (1.0 + u) * box.a[1].s);
    box.s_b = 0.5 * ((1.0 - v) * box.b[0].s + (1.0 + v) * box.b[1].s);
  }

  WayPoint halfway(const std::array<WayPoint, 2>& ends, bool of_a) const {
    return point(of_a ? a_ : b_, 0.5 * (ends[0].s + ends[1].s));
  }

 private:
  static WayPoint point(const WayPiece& piece, double s) { return {s, piece.begin(s), piece.end(s)}; }

  const WayPiece& a_;
  const WayPiece& b_;
};

/// A piece over the triangles of a mesh, in its axes.
class MeshWay {
 public:
  MeshWay(const WayPiece& a, const Mesh& before, const Mesh& now, double enough)
      : a_(a), before_(before), now_(now), enough_(enough) {
    if (before.surface == now.surface) return;
    const std::vector<Vector3>& from = before.surface->vertices;
    for (std::size_t i = 0; i < from.size(); ++i)
      moved_ = std::max(moved_, (now.surface->vertices[i] - from[i]).norm());
  }

  WayBox whole() const {
    WayBox box;
    box.a = {point(a_.interval.begin), point(a_.interval.end)};
    return box;
  }

  void evaluate(WayBox& box) {
    box.loss_a = sagitta(a_, box.a);
    geometry::Box around{Vector3::Constant(INFINITY), Vector3::Constant(-INFINITY)};
    for (const double time : {box.begin, box.end}) {
      for (const WayPoint& point : box.a) {
        const Vector3 at = point.at(time);
        around = {around.lower.cwiseMin(at), around.upper.cwiseMax(at)};
      }
    }
    faces_.clear();
    now_.surface->append_faces(around.grown(enough_ + moved_ + box.loss_a), faces_);
    const double middle = 0.5 * (box.begin + box.end);
    const Vector3 p0 = box.a[0].at(middle), p1 = box.a[1].at(middle);
    box.bound = enough_;
    box.upper = std::numeric_limits<double>::infinity();
    box.s_a = 0.5 * (box.a[0].s + box.a[1].s);
    for (const int face : faces_) {
      const auto from = before_.surface->corners(face);
      const auto to = now_.surface->corners(face);
      std::array<Vector3, 3> x;
      for (std::size_t k = 0; k < 3; ++k) x[k] = from[k] + middle * (to[k] - from[k]);
      double best = -std::numeric_limits<double>::infinity();
      const auto try_direction = [&](const Vector3& along) {
        const double size = along.norm();
        if (!(size > 0.0)) return;
        const Vector3 n = along / size;
        for (const double sign : {1.0, -1.0}) {
          double bound = std::numeric_limits<double>::infinity();
          for (const double time : {box.begin, box.end}) {
            double of_face = -std::numeric_limits<double>::infinity();
            for (std::size_t k = 0; k < 3; ++k)
              of_face = std::max(of_face, sign * n.dot(from[k] + time * (to[k] - from[k])));
            for (const WayPoint& point : box.a) bound = std::min(bound, sign * n.dot(point.at(time)) - of_face);
          }
          best = std::max(best, bound);
        }
      };
      try_direction(geometry::triangle_normal(x));
      for (const Vector3& p : {p0, Vector3(0.5 * (p0 + p1)), p1}) {
        const geometry::TrianglePoint nearest = geometry::nearest_on_triangle(x, p);
        box.upper = std::min(box.upper, nearest.distance + box.loss_a);
        try_direction(p - nearest.point);
      }
      for (std::size_t k = 0; k < 3; ++k) try_direction((p1 - p0).cross(x[(k + 1) % 3] - x[k]));
      box.bound = std::min(box.bound, best - box.loss_a);
    }
    const auto way = [](const WayPoint& point) { return (point.to - point.from).norm(); };
    // What the bound loses beside the sagitta is the most that a shorter time could gain.
    box.loss_t = std::min(box.upper - box.bound - 2.0 * box.loss_a,
                          (box.end - box.begin) * std::max(way(box.a[0]), way(box.a[1])));
    box.loss_a = std::max(box.loss_a, 0.5 * (p1 - p0).norm());
  }

  WayPoint halfway(const std::array<WayPoint, 2>& ends, bool) const { return point(0.5 * (ends[0].s + ends[1].s)); }

 private:
  WayPoint point(double s) const {
    const auto seen = [](const Mesh& from, const Vector3& x) -> Vector3 {
      return from.pose.frame.transpose() * (x - from.pose.position);
    };
    return {s, seen(before_, a_.begin(s)), seen(now_, a_.end(s))};
  }

  const WayPiece& a_;
  const Mesh& before_;
  const Mesh& now_;
  double enough_;
  double moved_ = 0.0;  // the farthest that a vertex goes, in the mesh's axes [m]
  std::vector<int> faces_;
};

bool all_left_out(const WayBox& box, const LeftOut& left_out) {
  return std::all_of(box.a.begin(), box.a.end(), [&](const WayPoint& x) {
    return std::all_of(box.b.begin(), box.b.end(), [&](const WayPoint& y) { return left_out(x.s, y.s); });
  });
}

template <typename Way>
Approach search(Way&& way, const WayGoal& goal, std::vector<WayBox>& heap) {
  constexpr int most = 4000;
  const auto later = [](const WayBox& x, const WayBox& y) { return x.bound > y.bound; };
  double upper = std::numeric_limits<double>::infinity();
  Approach out;
  const auto add = [&](WayBox& box) {
    way.evaluate(box);
    if (box.upper < upper && !(goal.left_out && (*goal.left_out)(box.s_a, box.s_b))) {
      upper = box.upper;
      out.s_a = box.s_a;
      out.s_b = box.s_b;
      out.time = 0.5 * (box.begin + box.end);
    }
    if (box.bound >= goal.enough || (goal.left_out && all_left_out(box, *goal.left_out))) return;
    heap.push_back(box);
    std::push_heap(heap.begin(), heap.end(), later);
  };
  heap.clear();
  WayBox box = way.whole();
  add(box);
  for (int steps = 0; !heap.empty(); ++steps) {
    if (upper < goal.limit) return out;
    const double lower = heap.front().bound;
    if (upper - lower <= goal.tolerance || steps >= most) {
      out.apart = lower >= goal.limit;
      out.bound = lower;
      return out;
    }
    std::pop_heap(heap.begin(), heap.end(), later);
    box = heap.back();
    heap.pop_back();
    WayBox half = box;
    if (box.loss_t >= std::max(box.loss_a, box.loss_b)) {
      box.end = half.begin = 0.5 * (box.begin + box.end);
    } else if (box.loss_a >= box.loss_b) {
      box.a[1] = half.a[0] = way.halfway(box.a, true);
    } else {
      box.b[1] = half.b[0] = way.halfway(box.b, false);
    }
    add(box);
    add(half);
  }
  out.apart = true;
  out.bound = goal.enough;
  return out;
}

}  // namespace

Approach nearest_on_way(const WayPiece& a, const WayPiece& b, const WayGoal& goal, std::vector<WayBox>& memory) {
  return search(PairWay(a, b), goal, memory);
}

Approach nearest_on_way(const WayPiece& a, const Mesh& before, const Mesh& now, const WayGoal& goal,
                        std::vector<WayBox>& memory) {
  return search(MeshWay(a, before, now, goal.enough), goal, memory);
}

}  // namespace tresse::contact::detail
