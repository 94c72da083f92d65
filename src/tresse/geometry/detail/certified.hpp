#pragma once

#include <vector>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/local_minimum.hpp>

namespace tresse::geometry::detail {

/// Roundings of the positions of a query [m]: a generous multiple of the unit roundoff times the sizes involved.
template <CurveEvaluator A, CurveEvaluator B>
double position_rounding(const A& a, Interval ia, const B& b, Interval ib, const Vector3& base) {
  constexpr double units = 8.0 * std::numeric_limits<double>::epsilon();
  return units * (base.norm() + a.size(ia) + b.size(ib));
}

/// A box waiting in the queue.
struct WaitingBox {
  Piece a;
  Piece b;
  double lower = 0.0;
  double modulus = 0.0;  ///< > 0: convex
  double u = 0.0;
  double v = 0.0;
};

/// Priority queue of boxes, least lower bound first; boxes stay in place in a pool, the heap holds their numbers.
class BoxQueue {
 public:
  void clear() {
    heap_.clear();
    free_.clear();
    used_ = 0;
  }
  bool empty() const { return heap_.empty(); }
  double least() const { return heap_.front().lower; }
  void push(const WaitingBox& box) {
    int slot = used_;
    if (free_.empty()) {
      if (used_ == static_cast<int>(pool_.size())) pool_.resize(pool_.empty() ? 64 : 2 * pool_.size());
      ++used_;
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    pool_[slot] = box;
    heap_.push_back({box.lower, slot});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void pop(WaitingBox& out) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const int slot = heap_.back().slot;
    heap_.pop_back();
    free_.push_back(slot);
    out = pool_[slot];
  }

 private:
  struct Entry {
    double lower;
    int slot;
  };
  static bool later(const Entry& x, const Entry& y) {
    return x.lower > y.lower || (x.lower == y.lower && x.slot > y.slot);
  }
  std::vector<Entry> heap_;
  std::vector<int> free_;
  std::vector<WaitingBox> pool_;
  int used_ = 0;
};

/// One query of the certified method.
template <CurveEvaluator A, CurveEvaluator B>
class CertifiedQuery {
 public:
  CertifiedQuery(const A& a, Interval ia, const B& b, Interval ib, const ClosestPointsOptions& options)
      : a_(a), b_(b), ia_(ia), ib_(ib), options_(options), base_(a.origin - b.origin) {
    rounding_ = position_rounding(a, ia, b, ib, base_);
    const double length = std::max(a.size(ia), b.size(ib));
    tolerance_ = std::max(options.tolerance * length, 4.0 * rounding_);
    resolution_a_ = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(ia.begin), std::abs(ia.end));
    resolution_b_ = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(ib.begin), std::abs(ib.end));
    upper_ = options.upper_bound;
  }

  ClosestPoints run(BoxQueue& queue) {
    queue.clear();
    if (options_.guess) take_guess(options_.guess->s_a, options_.guess->s_b);
    examine(queue, make_piece(a_, middle(ia_), half(ia_), true, true),
            make_piece(b_, middle(ib_), half(ib_), true, true));
    WaitingBox box;
    while (!queue.empty() && queue.least() < upper_ - tolerance_) {
      queue.pop(box);
      if (box.modulus > 0.0) {
        solve_convex(box);
      } else if (out_.steps >= options_.max_steps) {
        proved_ = false;
        break;
      } else {
        split(queue, box);
      }
    }
    return finish();
  }

 private:
  static double middle(Interval i) { return 0.5 * (i.begin + i.end); }
  static double half(Interval i) { return 0.5 * (i.end - i.begin); }

  void take_guess(double s_a, double s_b) {
    s_a = std::clamp(s_a, ia_.begin, ia_.end);
    s_b = std::clamp(s_b, ib_.begin, ib_.end);
    offer((base_ + (a_.offset(s_a) - b_.offset(s_b))).norm() + rounding_, s_a, s_b, false);
  }

  void offer(double distance, double s_a, double s_b, bool polished) {
    if (!(distance < upper_)) return;
    upper_ = distance;
    out_.found = true;
    out_.s_a = s_a;
    out_.s_b = s_b;
    polished_ = polished;
  }

  /// Bounds a box; drops it where it can't hold the minimum, moves it to an end of an interval where the minimum must
  /// be there, else queues it.
  void examine(BoxQueue& queue, Piece pa, Piece pb) {
    for (;;) {
      ++out_.steps;
      const BoxDistance distance = box_distance(base_, pa, pb, rounding_);
      offer(distance.upper, std::clamp(pa.centre + distance.u * pa.half, ia_.begin, ia_.end),
            std::clamp(pb.centre + distance.v * pb.half, ib_.begin, ib_.end), false);
      if (distance.lower >= upper_ - tolerance_) return;
      const BoxShape shape = box_shape(base_, pa, pb, rounding_);
      // A global minimiser satisfies the optimality conditions on the whole intervals, so a box on which G rises or
      // falls throughout holds none, but at an end of the whole interval.
      if (shape.slope_a != 0) {
        const bool begin = shape.slope_a > 0;
        if (!(begin ? pa.at_begin : pa.at_end)) return;
        pa = make_piece(a_, begin ? ia_.begin : ia_.end, 0.0, begin, !begin);
        continue;
      }
      if (shape.slope_b != 0) {
        const bool begin = shape.slope_b > 0;
        if (!(begin ? pb.at_begin : pb.at_end)) return;
        pb = make_piece(b_, begin ? ib_.begin : ib_.end, 0.0, begin, !begin);
        continue;
      }
      const double lower = shape.convex ? std::max(distance.lower, shape.lower) : distance.lower;
      if (lower >= upper_ - tolerance_) return;
      queue.push({pa, pb, lower, shape.convex ? shape.modulus : 0.0, distance.u, distance.v});
      return;
    }
  }

  /// The one minimiser of a box on which G is convex.
  void solve_convex(const WaitingBox& box) {
    const Interval ia{std::max(ia_.begin, box.a.centre - box.a.half), std::min(ia_.end, box.a.centre + box.a.half)};
    const Interval ib{std::max(ib_.begin, box.b.centre - box.b.half), std::min(ib_.end, box.b.centre + box.b.half)};
    const LocalMinimum found =
        local_minimum(a_, ia, b_, ib, base_, std::clamp(box.a.centre + box.u * box.a.half, ia.begin, ia.end),
                      std::clamp(box.b.centre + box.v * box.b.half, ib.begin, ib.end), newton_resolution());
    // G(found) - min G <= |projected gradient|^2 / (2 modulus), which is this much distance:
    const double slack2 = found.slope2 / box.modulus;
    const double slack = std::min(std::sqrt(slack2), slack2 / (found.distance + 1e-300));
    if (slack > tolerance_) proved_ = false;
    offer(found.distance, found.s_a, found.s_b, true);
  }

  double newton_resolution() const { return 1e-13 * std::max(half(ia_), half(ib_)); }

  void split(BoxQueue& queue, const WaitingBox& box) {
    const double radius_a = split_score(box.a, box.b);
    const double radius_b = split_score(box.b, box.a);
    const bool can_a = box.a.half > resolution_a_;
    const bool can_b = box.b.half > resolution_b_;
    if (!can_a && !can_b) {
      // Too small to split: the centre stands for the box, without proof.
      proved_ = false;
      return;
    }
    const bool first =
        !can_b || (can_a && (radius_a > radius_b || (radius_a == radius_b && width(box.a) >= width(box.b))));
    if (first) {
      const double h = 0.5 * box.a.half;
      examine(queue, make_piece(a_, box.a.centre - h, h, box.a.at_begin, false), box.b);
      examine(queue, make_piece(a_, box.a.centre + h, h, false, box.a.at_end), box.b);
    } else {
      const double h = 0.5 * box.b.half;
      examine(queue, box.a, make_piece(b_, box.b.centre - h, h, box.b.at_begin, false));
      examine(queue, box.a, make_piece(b_, box.b.centre + h, h, false, box.b.at_end));
    }
  }

  static double width(const Piece& p) { return p.half * p.max_speed; }
  /// Taylor radius of the piece, and what its width costs the other in the Hessian's bound (a straight piece has width
  /// but no radius).
  static double split_score(const Piece& p, const Piece& other) {
    return p.half * p.half * (p.second + 0.25 * p.max_speed * other.second);
  }

  ClosestPoints finish() {
    if (out_.found) {
      if (!polished_) {
        const LocalMinimum found = local_minimum(a_, ia_, b_, ib_, base_, out_.s_a, out_.s_b, newton_resolution());
        out_.s_a = found.s_a;
        out_.s_b = found.s_b;
        upper_ = found.distance;
      }
      out_.found = upper_ < options_.upper_bound;
    }
    out_.distance = out_.found ? upper_ : std::numeric_limits<double>::infinity();
    out_.certified = proved_;
    return out_;
  }

  const A& a_;
  const B& b_;
  Interval ia_;
  Interval ib_;
  const ClosestPointsOptions& options_;
  Vector3 base_;
  double rounding_ = 0.0;
  double tolerance_ = 0.0;
  double resolution_a_ = 0.0;
  double resolution_b_ = 0.0;
  double upper_ = 0.0;
  bool polished_ = false;
  bool proved_ = true;
  ClosestPoints out_;
};

}  // namespace tresse::geometry::detail
