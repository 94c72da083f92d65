#pragma once

#include <array>
#include <limits>
#include <optional>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/local_minimum.hpp>
#include <tresse/geometry/detail/strip.hpp>

namespace tresse::geometry::detail {

/// Two curves, and what a search along them has to know.
template <CurveEvaluator A, CurveEvaluator B>
struct StripTask {
  const A& a;
  Interval ia;
  const B& b;
  Interval ib;
  Vector3 base;             ///< origin of a - origin of b (3) [m]
  double rounding = 0.0;    ///< of positions [m]
  double tolerance = 0.0;   ///< of the distance [m]
  double resolution = 0.0;  ///< of Newton's method [m]
};

/// A part of a, with all of b; T(s) = t + along (s - at) are near the nearest points of b.
struct Strip {
  double begin, end;
  double at, t, along;
  double reach;  ///< no point of b farther from T is of interest
  double lower;  ///< |a - b| is at least this
};

/// The nearest points of two curves that run alongside each other, strip by strip along a.
template <CurveEvaluator A, CurveEvaluator B>
class StripSearch {
 public:
  static constexpr int capacity = 24;

  /// `upper` [m]: no two points farther apart are of interest.
  StripSearch(const StripTask<A, B>& task, double upper) : task_(task), upper_(upper) {}

  /// False where strips prove nothing of these curves. Else any two points nearer than best(), by more than the
  /// tolerance, are in one of the strips left.
  bool run() {
    cut_in_four(overlap());
    for (int round = 0; round < largest_rounds; ++round) {
      if (!examine_all(round == 0) && round == 0) return false;
      // Of a good guess the minimum is a rounding away, and less than promises are good for: it is settled once.
      constexpr double nearly = 1.0 + 1e-3;
      const double wanted = settled_ ? enough() : nearly * upper_;
      const bool proved = !(promise_ < 0.5 * wanted * wanted) || settle();
      keep_unsettled();
      if (count_ == 0 || !proved) break;
      if (round + 1 < largest_rounds) refine();
    }
    return true;
  }

  /// A lower bound of the distance, at most the `upper` given less the tolerance; 0 where two points nearer than
  /// `least` were met; nothing where no bound beyond `least` was proved.
  std::optional<double> separation(double least) {
    cut_in_four(overlap());
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
      if (!examine_all(round == 0) && round == 0) return std::nullopt;
      const double small = 0.5 * least * least;
      if (met_ * (1.0 + 1e-12) < small || (promise_ < small && promised_minimum().distance < least)) return 0.0;
      keep_unsettled();
      double bound = enough();
      for (int i = 0; i < count_; ++i) bound = std::min(bound, strips_[i].lower);
      // Once it is of use one round more will do.
      if (count_ == 0 || (bound > least && round > 0)) return bound;
      if (round + 1 < rounds) refine();
    }
    return std::nullopt;
  }

  const std::optional<LocalMinimum>& best() const { return best_; }
  int steps() const { return steps_; }
  int left() const { return count_; }
  const Strip& strip(int i) const { return strips_[i]; }

 private:
  static constexpr int largest_rounds = 5;
  double enough() const { return upper_ - task_.tolerance; }

  /// The part of a beside b: beyond, a has left the half-space behind an end of b by more than `upper`.
  Strip overlap() const {
    const Interval ia = task_.ia;
    const Interval ib = task_.ib;
    constexpr Lanes outward{-1.0, 1.0, -1.0, 1.0};
    const Ends b = make_ends<true>(task_.b, ib);
    const Ends a = make_ends<false>(task_.a, ia);
    // How far the ends of a are beyond those of b.
    const Lanes beyond = outward * dot(spread(task_.base) + (a.offset - b.offset), b.first);
    const double b_length = ib.end - ib.begin;
    const auto beside = [&](int begin, int end) {  // the parameter of b, roughly
      const double sum = beyond[begin] + beyond[end];
      return std::clamp(ib.begin + (sum != 0.0 ? b_length * beyond[begin] / sum : 0.0), ib.begin, ib.end);
    };
    Strip out{ia.begin, ia.end, 0.0, 0.0, 0.0, 0.0, 0.0};
    double t_begin = beside(0, 1);
    double t_end = beside(2, 3);
    for (int side = 0; side < 2; ++side) {
      const double first = beyond[side];
      const double last = beyond[2 + side];
      if (!(std::max(first, last) > upper_ && std::min(first, last) < upper_)) continue;
      const double t = side == 0 ? ib.begin : ib.end;
      const Vector3 n = outward[side] * lane_of(b.first, side);
      const Vector3 origin = task_.base - lane_of(b.offset, side);
      const double guess = ia.begin + (ia.end - ia.begin) * (upper_ - first) / (last - first);
      const double cut = leaves(n, origin, guess, last > first ? ia.end : ia.begin);
      if (last > first && cut < out.end) {
        out.end = std::max(out.begin, cut);
        t_end = t;
      } else if (last < first && cut > out.begin) {
        out.begin = std::min(out.end, cut);
        t_begin = t;
      }
    }
    out.at = out.begin;
    out.t = t_begin;
    out.along = out.end > out.begin ? (t_end - t_begin) / (out.end - out.begin) : 0.0;
    return out;
  }

  /// A parameter of a from which on to `end` n . (a + origin) > upper; `end` where that is not proved.
  double leaves(const Vector3& n, const Vector3& origin, double guess, double end) const {
    const CurveJet jet = task_.a.jet(guess);
    const double bend = task_.a.bounds(task_.ia).second;
    const double direction = end > guess ? 1.0 : -1.0;
    const double height = n.dot(origin + jet.offset) - upper_;
    const double slope = direction * n.dot(jet.first);
    // height + slope v - bend v^2/2, which the height exceeds, is concave: positive between where it is.
    const auto above = [&](double v) { return height + slope * v - 0.5 * bend * v * v > task_.rounding; };
    const double wanted = 0.05 * upper_;
    double v = (wanted - height) / slope;
    v += 0.5 * bend * v * v / slope;
    const double room = std::abs(end - guess);
    return v < room && above(v) && above(room) ? guess + direction * v : end;
  }

  void cut_in_four(const Strip& whole) {
    count_ = 0;
    append_parts(whole, whole.begin, whole.end, lane_count);
  }

  void append_parts(const Strip& from, double begin, double end, int parts) {
    for (int i = 0; i < parts; ++i) {
      Strip part = from;
      part.begin = begin + (end - begin) * i / parts;
      part.end = i + 1 == parts ? end : begin + (end - begin) * (i + 1) / parts;
      strips_[count_++] = part;
    }
  }

  /// `first`: their lines are rough.
  bool examine_all(bool first) {
    bool holds = true;
    promise_ = std::numeric_limits<double>::infinity();
    for (int i = 0; i < count_; i += lane_count) holds = examine(i, first) && holds;
    return holds;
  }

  /// Points of b near the nearest ones to the centres of a. From a rough line one step of Newton's method goes to them:
  /// bounds lose half the square of how far they are off.
  Pieces points_beside(const Pieces& a, Lanes t, bool rough) const {
    const auto at = [&](Lanes x) {
      return strip_points(task_.b, clamp(x, task_.ib.begin, task_.ib.end), a.half, task_.ib);
    };
    const Pieces b = at(t);
    if (!rough) return b;
    const LaneVector r = spread(task_.base) + (a.offset - b.offset);
    const Lanes across = 1.0 - dot(r, b.second);  // d2G/dt2
    return at(b.centre + dot(r, b.first) / select(across > spread(0.1), across, spread(1.0)));
  }

  /// Bounds four strips; those that come near are noted. Whether the bounds hold on all.
  bool examine(int from, bool rough) {
    const int count = std::min(lane_count, count_ - from);
    Lanes begin, end, at, t, along;
    for (int i = 0; i < lane_count; ++i) {
      const Strip& strip = strips_[from + (i < count ? i : 0)];
      begin[i] = strip.begin, end[i] = strip.end, at[i] = strip.at, t[i] = strip.t, along[i] = strip.along;
    }
    const Lanes centre = 0.5 * (begin + end);
    const Lanes half = 0.5 * (end - begin) * (1.0 + 1e-15);
    const Pieces a = strip_pieces(task_.a, centre, half);
    const Pieces b = points_beside(a, t + along * (centre - at), rough);
    const Strips g = make_strips(task_.base, a, b, task_.ib.end - task_.ib.begin, upper_, task_.rounding);
    const Lanes lower = strip_distances(g, half, task_.rounding);
    steps_ += count;
    bounds_[static_cast<std::size_t>(from / lane_count)] = strip_bounds(g, half, task_.rounding);
    const Lanes slope = g.slope_s + g.along * g.slope_t;
    const Lanes zero = spread(0.0);
    const auto within = [&](Lanes x) { return min(half, max(-half, x)); };
    const Lanes first = select(g.square > zero, within(-0.5 * slope / g.square), select(slope > zero, -half, half));
    // One step of Newton's method for the cubic.
    const Lanes second_derivative = g.square + 3.0 * g.cube * first;
    const Lanes better = within(first - (0.5 * slope + first * (g.square + 1.5 * g.cube * first)) / second_derivative);
    const Lanes x = select(second_derivative > zero, better, first);
    const Lanes promise = g.value + x * (slope + x * (g.square + x * g.cube)) - 0.5 * g.slope_t * g.slope_t;
    bool holds = true;
    for (int i = 0; i < count; ++i) {
      Strip& strip = strips_[from + i];
      const bool here = g.holds[i] != 0;
      holds = holds && here;
      strip.lower = lower[i];
      if (!(lower[i] < enough())) continue;
      met_ = std::min(met_, g.value[i]);
      strip.at = centre[i];
      strip.t = b.centre[i] - (here ? g.slope_t[i] : 0.0);
      strip.along = g.along[i];
      strip.reach = here ? g.reach[i] + std::abs(g.slope_t[i]) + std::abs(g.along[i]) * half[i]
                         : std::numeric_limits<double>::infinity();
      if (!(promise[i] < promise_)) continue;
      promise_ = promise[i];
      promised_ = {centre[i] + x[i], strip.t + g.along[i] * x[i]};
    }
    return holds;
  }

  /// Goes down to the minimum that the strips promise; whether it is the least about itself.
  bool settle() {
    const Interval ia = task_.ia;
    const Interval ib = task_.ib;
    const LocalMinimum found = promised_minimum();
    if (!(found.distance < upper_)) return true;
    upper_ = found.distance;
    best_ = found;
    const double room_below = found.s_a - ia.begin;
    const double room_above = ia.end - found.s_a;
    const Lanes half = std::max(room_below, room_above) * Lanes{1.0, 0.4, 0.15, 0.05};
    const Pieces a = strip_pieces_about(task_.a, found.s_a, found.a, half);
    const Pieces b = strip_point(task_.b, found.s_b, found.b, half, ib);
    const Strips g = make_strips(task_.base, a, b, ib.end - ib.begin, upper_, task_.rounding);
    const int end_b = found.s_b >= ib.end ? 1 : found.s_b <= ib.begin ? -1 : 0;
    const Basin basin = make_basin(g, half, room_below, room_above, end_b, task_.rounding);
    const double slack = std::min(std::sqrt(basin.slack), basin.slack / (found.distance + 1e-300));
    steps_ += 1;
    if (!(slack <= task_.tolerance) || !(basin.below + basin.above > 0.0)) return false;
    settled_ = {found.s_a - basin.below, found.s_a + basin.above};
    return true;
  }

  LocalMinimum promised_minimum() const {
    const Interval ia = task_.ia;
    const Interval ib = task_.ib;
    return local_minimum(task_.a, ia, task_.b, ib, task_.base, std::clamp(promised_.s_a, ia.begin, ia.end),
                         std::clamp(promised_.s_b, ib.begin, ib.end), task_.resolution);
  }

  /// Leaves the strips that could hold a nearer pair, without what was settled.
  void keep_unsettled() {
    const int count = count_;
    std::array<Strip, capacity> old;
    std::copy_n(strips_.begin(), count, old.begin());
    count_ = 0;
    for (int i = 0; i < count; ++i) {
      const Strip& strip = old[i];
      if (!(strip.lower < enough())) continue;
      if (!settled_ || settled_->end <= strip.begin || settled_->begin >= strip.end) {
        append_unsettled(i, strip, strip.begin, strip.end);
        continue;
      }
      append_unsettled(i, strip, strip.begin, settled_->begin);
      append_unsettled(i, strip, settled_->end, strip.end);
    }
  }

  /// Appends what of a part of a strip, which was examined as number `i`, its own bound leaves, looked at on either
  /// side of its centre.
  void append_unsettled(int i, const Strip& strip, double begin, double end) {
    if (!(begin < end)) return;
    const double middle = std::clamp(strip.at, begin, end);
    const auto near = [&](double from, double to, double& lower) {
      lower = part_distance(bounds_[static_cast<std::size_t>(i / lane_count)], i % lane_count, from - strip.at,
                            to - strip.at, task_.rounding);
      return from < to && lower < enough();
    };
    double before, after;
    const bool near_before = near(begin, middle, before);
    const bool near_after = near(middle, end, after);
    if (!near_before && !near_after) return;
    Strip& part = strips_[count_++];
    part = strip;
    part.begin = near_before ? begin : middle;
    part.end = near_after ? end : middle;
    part.lower = std::max(strip.lower, near_before && near_after ? std::min(before, after)
                                       : near_before             ? before
                                                                 : after);
  }

  void refine() {
    const int count = count_;
    if (count > capacity / 4) return;
    std::array<Strip, capacity / 4> old;
    std::copy_n(strips_.begin(), count, old.begin());
    count_ = 0;
    for (int i = 0; i < count; ++i) append_parts(old[i], old[i].begin, old[i].end, count == 1 ? 4 : 2);
  }

  const StripTask<A, B>& task_;
  double upper_;
  std::array<Strip, capacity> strips_;
  std::array<StripBounds, capacity / lane_count> bounds_;  ///< of the strips in the order they were examined
  int count_ = 0;
  int steps_ = 0;
  double promise_ = 0.0;  ///< least of |a - b|^2/2 that a strip promises [m^2]
  ClosestPointsGuess promised_;
  double met_ = std::numeric_limits<double>::infinity();  ///< least of it at the centres of strips
  std::optional<Interval> settled_;                       ///< of a, where best() is the least
  std::optional<LocalMinimum> best_;
};

}  // namespace tresse::geometry::detail
