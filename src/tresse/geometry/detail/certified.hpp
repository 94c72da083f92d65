#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/local_minimum.hpp>
#include <tresse/geometry/detail/strip_search.hpp>

namespace tresse::geometry::detail {

/// Roundings of the positions of a query [m]: a generous multiple of the unit roundoff times the sizes involved.
template <CurveEvaluator A, CurveEvaluator B>
double position_rounding(const A& a, Interval ia, const B& b, Interval ib, const Vector3& base) {
  constexpr double units = 8.0 * std::numeric_limits<double>::epsilon();
  return units * (base.norm() + a.size(ia) + b.size(ib));
}

/// A box waiting in the queue.
struct WaitingBox {
  double lower = 0.0;    ///< |a - b| is at least this
  double modulus = 0.0;  ///< > 0: |a - b|^2/2 is convex on it
  double centre_a = 0.0, half_a = 0.0;
  double centre_b = 0.0, half_b = 0.0;
  double u = 0.0, v = 0.0;  ///< the nearest points of the capsules' axes, in [-1, 1]
  bool begin_a = false, end_a = false, begin_b = false, end_b = false;  ///< sides it shares with the whole intervals
};

/// Priority queue of boxes, least lower bound first; boxes stay in place in a pool, the heap holds their numbers.
class BoxQueue {
  struct Entry {
    double lower;
    int slot;
  };
  static constexpr std::size_t few = 64;  ///< boxes; seldom do more wait

 public:
  static constexpr std::size_t usual_size = few * (sizeof(WaitingBox) + sizeof(Entry) + sizeof(int));  ///< [B]

  explicit BoxQueue(std::pmr::memory_resource* memory) : heap_(memory), free_(memory), pool_(memory) {}

  void clear() {
    heap_.clear();
    free_.clear();
    pool_.clear();
  }
  bool empty() const { return heap_.empty(); }
  double least() const { return heap_.front().lower; }
  void push(const WaitingBox& box) {
    auto slot = static_cast<int>(pool_.size());
    if (free_.empty()) {
      if (pool_.capacity() == 0) reserve();
      pool_.push_back(box);
    } else {
      slot = free_.back();
      free_.pop_back();
      pool_[slot] = box;
    }
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
  static bool later(const Entry& x, const Entry& y) {
    return x.lower > y.lower || (x.lower == y.lower && x.slot > y.slot);
  }
  void reserve() {
    pool_.reserve(few);
    heap_.reserve(few);
    free_.reserve(few);
  }

  std::pmr::vector<Entry> heap_;
  std::pmr::vector<int> free_;
  std::pmr::vector<WaitingBox> pool_;
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
    WaitingBox box = whole();
    start(queue, box, [&] { return search_strips(queue); });
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

  /// A lower bound of the distance, see geometry::separation(): whatever was examined so far proves one.
  double separation(BoxQueue& queue, const SeparationOptions& wanted) {
    queue.clear();
    bounding_ = true;
    upper_ = wanted.enough + tolerance_;  // boxes beyond are of no interest
    WaitingBox box = whole();
    std::optional<double> along;  // a bound from strips
    start(queue, box, [&] {
      if (!(nearest_ < wanted.least)) along = strip_separation(wanted.least);
      return along.has_value();
    });
    if (along) return *along > wanted.least ? *along : 0.0;
    double solved = std::numeric_limits<double>::infinity();  // of the convex boxes
    while (!queue.empty() && queue.least() < std::min(solved, wanted.enough)) {
      if (nearest_ < wanted.least) return 0.0;
      if (out_.steps >= (queue.least() > wanted.least ? wanted.few_steps : wanted.max_steps)) break;
      queue.pop(box);
      if (box.modulus > 0.0) {
        solved = std::min(solved, solve_convex(box) - tolerance_);
      } else if (box.half_a > resolution_a_ || box.half_b > resolution_b_) {
        split(queue, box);
      } else {
        solved = std::min(solved, box.lower);
      }
    }
    const double bound = std::min({solved, dropped_, queue.empty() ? solved : queue.least()});
    return bound > wanted.least ? bound : 0.0;
  }

 private:
  /// Up to four boxes under examination.
  struct Batch {
    Lanes centre_a, half_a, centre_b, half_b;
    std::array<std::uint8_t, lane_count> sides;  ///< bits: begin_a, end_a, begin_b, end_b
    int count = 0;
  };
  enum Side : std::uint8_t { begin_a = 1, end_a = 2, begin_b = 4, end_b = 8 };

  /// A batch and the distances of its boxes.
  struct Measured {
    Pieces a, b;
    BoxDistances distance;
  };

  WaitingBox whole() const {
    WaitingBox box{.centre_a = middle(ia_), .half_a = half(ia_), .centre_b = middle(ib_), .half_b = half(ib_)};
    box.begin_a = box.end_a = box.begin_b = box.end_b = true;
    return box;
  }

  /// The first four boxes; false where there is nothing in them that is of interest.
  TRESSE_HOT bool first_boxes(const WaitingBox& box, Batch& batch, Measured& measured) {
    if constexpr (std::same_as<A, HelixEvaluator> && std::same_as<B, HelixEvaluator>) {
      if (is_whole(a_, ia_) && is_whole(b_, ib_)) {
        measured.a = prepared_halves<false>(a_);
        measured.b = prepared_halves<true>(b_);
        BoxNeeds needs{.enough = upper_};
        if (!bounding_) needs.beyond = upper_ - tolerance_;  // else bounds are wanted as numbers
        if (!box_distances<true>(base_, measured.a, measured.b, rounding_, needs, measured.distance)) {
          out_.steps += lane_count;
          return false;
        }
        batch.centre_a = measured.a.centre;
        batch.half_a = measured.a.half;
        batch.centre_b = measured.b.centre;
        batch.half_b = measured.b.half;
        batch.sides = {begin_a | begin_b, begin_a | end_b, end_a | begin_b, end_a | end_b};
        batch.count = lane_count;
        take_measure(batch, measured);
        return true;
      }
    }
    if (!cut(box, batch)) return false;
    measured = measure(batch);
    return true;
  }

  /// Queues the first boxes, unless the curves run alongside each other and search_along() settles or queues them.
  template <typename SearchAlong>
  TRESSE_HOT void start(BoxQueue& queue, const WaitingBox& box, const SearchAlong& search_along) {
    if constexpr (StripCurve<A> && StripCurve<B>) {
      Batch batch;
      Measured measured;
      if (!first_boxes(box, batch, measured)) return;
      const LaneMask left = ~(measured.distance.lower >= spread(upper_ - tolerance_));
      if (!any(left)) return;
      constexpr double alongside = 0.9;  // cosine
      const LaneMask with = abs(dot(measured.a.first, measured.b.first)) > spread(alongside);
      if (any(left & with) && half(ia_) > 0.0 && half(ib_) > 0.0 && search_along()) return;
      sort_out(queue, batch, measured);
    } else {
      split(queue, box);
    }
  }

  StripTask<A, B> strip_task() const { return {a_, ia_, b_, ib_, base_, rounding_, tolerance_, newton_resolution()}; }

  [[gnu::noinline]] std::optional<double> strip_separation(double least) {
    if constexpr (StripCurve<A> && StripCurve<B>) {
      const StripTask<A, B> task = strip_task();
      return StripSearch<A, B>(task, upper_).separation(least);
    }
    return std::nullopt;
  }

  /// Settles what strips along a can settle and queues the rest; false where they tell nothing.
  [[gnu::noinline]] bool search_strips(BoxQueue& queue) {
    if constexpr (StripCurve<A> && StripCurve<B>) {
      const StripTask<A, B> task = strip_task();
      StripSearch<A, B> search(task, upper_);
      const bool useful = search.run();
      out_.steps += search.steps();
      if (!useful) return false;
      if (search.best()) offer(search.best()->distance, search.best()->s_a, search.best()->s_b, true);
      for (int i = 0; i < search.left(); ++i) {
        const Strip& strip = search.strip(i);
        // Strips that were cut after they were looked at keep their line and reach.
        const double t = strip.t + strip.along * (0.5 * (strip.begin + strip.end) - strip.at);
        const double reach = std::min(strip.reach + std::abs(t - strip.t), ib_.end - ib_.begin);
        const Interval b{std::max(ib_.begin, t - reach), std::min(ib_.end, t + reach)};
        if (!(b.begin <= b.end)) continue;
        queue.push({strip.lower, 0.0, middle({strip.begin, strip.end}), half({strip.begin, strip.end}), middle(b),
                    half(b), 0.0, 0.0, strip.begin <= ia_.begin, strip.end >= ia_.end, b.begin <= ib_.begin,
                    b.end >= ib_.end});
      }
      return true;
    }
    return false;
  }

  static double middle(Interval i) { return 0.5 * (i.begin + i.end); }
  static double half(Interval i) { return 0.5 * (i.end - i.begin); }

  void take_guess(double s_a, double s_b) {
    s_a = std::clamp(s_a, ia_.begin, ia_.end);
    s_b = std::clamp(s_b, ib_.begin, ib_.end);
    offer((base_ + (a_.offset(s_a) - b_.offset(s_b))).norm() + rounding_, s_a, s_b, false);
  }

  void offer(double distance, double s_a, double s_b, bool polished) {
    nearest_ = std::min(nearest_, distance);
    if (bounding_ || !(distance < upper_)) return;
    upper_ = distance;
    out_.found = true;
    out_.s_a = s_a;
    out_.s_b = s_b;
    polished_ = polished;
  }

  TRESSE_HOT Measured measure(const Batch& batch) {
    Measured out;
    out.a = make_pieces(a_, batch.centre_a, batch.half_a);
    out.b = make_pieces(b_, batch.centre_b, batch.half_b);
    box_distances<A::unit_speed && B::unit_speed>(base_, out.a, out.b, rounding_, {.enough = upper_}, out.distance);
    take_measure(batch, out);
    return out;
  }
  /// Counts boxes that were measured and keeps what their points and bounds tell.
  TRESSE_HOT void take_measure(const Batch& batch, const Measured& out) {
    out_.steps += batch.count;
    for (int i = 0; i < batch.count; ++i) {
      if (!(out.distance.upper[i] < upper_)) continue;
      offer(out.distance.upper[i], std::clamp(out.a.centre[i] + out.distance.u[i] * out.a.half[i], ia_.begin, ia_.end),
            std::clamp(out.b.centre[i] + out.distance.v[i] * out.b.half[i], ib_.begin, ib_.end), false);
    }
    const double enough = upper_ - tolerance_;
    for (int i = 0; i < batch.count; ++i)
      if (out.distance.lower[i] >= enough) dropped_ = std::min(dropped_, out.distance.lower[i]);
  }

  /// Bounds boxes; drops those that can't hold the minimum, moves those to an end of an interval where the minimum must
  /// be there, queues the others.
  void examine(BoxQueue& queue, const Batch& batch) { sort_out(queue, batch, measure(batch)); }

  TRESSE_HOT void sort_out(BoxQueue& queue, const Batch& batch, const Measured& measured) {
    const Pieces& pa = measured.a;
    const Pieces& pb = measured.b;
    const BoxDistances& distance = measured.distance;
    const double enough = upper_ - tolerance_;
    if (!any(~(distance.lower >= spread(enough)))) return;
    const BoxShapes shape = box_shapes(base_, pa, pb, rounding_);
    for (int i = 0; i < batch.count; ++i) {
      if (distance.lower[i] >= enough) continue;
      const auto sides = batch.sides[i];
      // A global minimiser satisfies the optimality conditions on the whole intervals, so a box on which G rises or
      // falls throughout holds none, but at an end of the whole interval.
      if (shape.slope_a[i] != 0.0) {
        const bool begin = shape.slope_a[i] > 0.0;
        if ((sides & (begin ? begin_a : end_a)) == 0) continue;
        Batch edge = single(batch, i);
        edge.centre_a = spread(begin ? ia_.begin : ia_.end);
        edge.half_a = spread(0.0);
        examine_edge(queue, edge);
        continue;
      }
      if (shape.slope_b[i] != 0.0) {
        const bool begin = shape.slope_b[i] > 0.0;
        if ((sides & (begin ? begin_b : end_b)) == 0) continue;
        Batch edge = single(batch, i);
        edge.centre_b = spread(begin ? ib_.begin : ib_.end);
        edge.half_b = spread(0.0);
        examine_edge(queue, edge);
        continue;
      }
      const double lower = std::max(distance.lower[i], shape.lower[i]);
      if (lower >= enough) {
        dropped_ = std::min(dropped_, lower);
        continue;
      }
      queue.push({lower, shape.modulus[i], pa.centre[i], pa.half[i], pb.centre[i], pb.half[i], distance.u[i],
                  distance.v[i], (sides & begin_a) != 0, (sides & end_a) != 0, (sides & begin_b) != 0,
                  (sides & end_b) != 0});
    }
  }

  /// Out of line: rare, and it calls back.
  [[gnu::noinline]] void examine_edge(BoxQueue& queue, const Batch& edge) { examine(queue, edge); }

  static Batch single(const Batch& batch, int i) {
    Batch out;
    out.centre_a = spread(batch.centre_a[i]);
    out.half_a = spread(batch.half_a[i]);
    out.centre_b = spread(batch.centre_b[i]);
    out.half_b = spread(batch.half_b[i]);
    out.sides.fill(batch.sides[i]);
    out.count = 1;
    return out;
  }

  /// The one minimiser of a box on which G is convex. Returns a lower bound of the distance there.
  double solve_convex(const WaitingBox& box) {
    const Interval ia{std::max(ia_.begin, box.centre_a - box.half_a), std::min(ia_.end, box.centre_a + box.half_a)};
    const Interval ib{std::max(ib_.begin, box.centre_b - box.half_b), std::min(ib_.end, box.centre_b + box.half_b)};
    const LocalMinimum found =
        local_minimum(a_, ia, b_, ib, base_, std::clamp(box.centre_a + box.u * box.half_a, ia.begin, ia.end),
                      std::clamp(box.centre_b + box.v * box.half_b, ib.begin, ib.end), newton_resolution());
    // G(found) - min G <= |projected gradient|^2 / (2 modulus), which is this much distance:
    const double slack2 = found.slope2 / box.modulus;
    const double slack = std::min(std::sqrt(slack2), slack2 / (found.distance + 1e-300));
    if (slack > tolerance_) proved_ = false;
    offer(found.distance, found.s_a, found.s_b, true);
    return found.distance - slack - rounding_;
  }

  double newton_resolution() const { return 1e-13 * std::max(half(ia_), half(ib_)); }

  /// Four parts of a box: halves of both intervals, or quarters of one that is far the longer.
  void split(BoxQueue& queue, const WaitingBox& box) {
    Batch batch;
    if (cut(box, batch)) examine(queue, batch);
  }

  /// Those parts; false where the box is too small.
  TRESSE_HOT bool cut(const WaitingBox& box, Batch& out) {
    const bool can_a = box.half_a > resolution_a_;
    const bool can_b = box.half_b > resolution_b_;
    const bool points = half(ia_) == 0.0 && half(ib_) == 0.0;
    if (!can_a && !can_b && !points) {
      proved_ = false;  // too small to split: the best point so far stands for the box, without proof
      return false;
    }
    const auto [score_a, score_b] = split_scores(box);
    constexpr double far_longer = 4.0;  // as Taylor radii: twice the width
    const bool only_a = can_a && (!can_b || score_a > far_longer * score_b);
    const bool only_b = can_b && !only_a && (!can_a || score_b > far_longer * score_a);
    const std::uint8_t all = static_cast<std::uint8_t>((box.begin_a ? begin_a : 0) | (box.end_a ? end_a : 0) |
                                                       (box.begin_b ? begin_b : 0) | (box.end_b ? end_b : 0));
    const auto without = [all](int sides) { return static_cast<std::uint8_t>(all & ~sides); };
    out.count = points ? 1 : lane_count;
    out.centre_a = spread(box.centre_a);
    out.half_a = spread(box.half_a);
    out.centre_b = spread(box.centre_b);
    out.half_b = spread(box.half_b);
    constexpr Lanes quarters{-0.75, -0.25, 0.25, 0.75};
    if (points) {
      out.sides.fill(all);
    } else if (only_a) {
      out.centre_a += quarters * out.half_a;
      out.half_a *= 0.25;
      out.sides = {without(end_a), without(begin_a | end_a), without(begin_a | end_a), without(begin_a)};
    } else if (only_b) {
      out.centre_b += quarters * out.half_b;
      out.half_b *= 0.25;
      out.sides = {without(end_b), without(begin_b | end_b), without(begin_b | end_b), without(begin_b)};
    } else {
      constexpr Lanes halves_a{-0.5, -0.5, 0.5, 0.5};
      constexpr Lanes halves_b{-0.5, 0.5, -0.5, 0.5};
      out.centre_a += halves_a * out.half_a;
      out.centre_b += halves_b * out.half_b;
      out.half_a *= 0.5;
      out.half_b *= 0.5;
      out.sides = {without(end_a | end_b), without(end_a | begin_b), without(begin_a | end_b),
                   without(begin_a | begin_b)};
    }
    return true;
  }

  /// Taylor radius of each piece, and what its width costs the other in the bound of the Hessian (a straight piece has
  /// width but no radius).
  std::pair<double, double> split_scores(const WaitingBox& box) const {
    const double bend_a = a_.bounds({box.centre_a - box.half_a, box.centre_a + box.half_a}).second;
    const double bend_b = b_.bounds({box.centre_b - box.half_b, box.centre_b + box.half_b}).second;
    double speed_a = 1.0;
    double speed_b = 1.0;
    if constexpr (!A::unit_speed) speed_a = a_.jet(box.centre_a).first.norm() + bend_a * box.half_a;
    if constexpr (!B::unit_speed) speed_b = b_.jet(box.centre_b).first.norm() + bend_b * box.half_b;
    constexpr double share = 0.25;
    // In terms of the Taylor radius where both are straight: the width alone.
    const double straight = 1e-9 * (bend_a + bend_b) + 1e-300;
    return {box.half_a * box.half_a * (bend_a + share * speed_a * bend_b + straight * speed_a),
            box.half_b * box.half_b * (bend_b + share * speed_b * bend_a + straight * speed_b)};
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
  double nearest_ = std::numeric_limits<double>::infinity();  // of the points met
  double dropped_ = std::numeric_limits<double>::infinity();  // least bound of the boxes beyond interest
  bool bounding_ = false;                                     // only a bound is wanted: points are not kept
  bool polished_ = false;
  bool proved_ = true;
  ClosestPoints out_;
};

}  // namespace tresse::geometry::detail
