#pragma once

#include <array>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/strip.hpp>

/// Where the distance from the points of a to b rises or falls all the way. See docs/theory/geometry.md, "Flanks".

namespace tresse::geometry::detail {

/// Signs of the derivative along a of the distance to b's nearest point, over four strips; points of b beyond its ends
/// (`begin_b`, `end_b`, the strips' lines may go there) do not count.
struct Flanks {
  LaneMask rises;
  LaneMask falls;
};

/// g: strips of the parts `a` and the points `b`. At the nearest point y*,
/// dG/ds = d(G on the line)/dx + y* (d2G/dsdt + along d2G/dt2) - along dG/dt,
/// the bracket being 0 at the centre and the last term 0 but where b ends, and of known sign there.
TRESSE_HOT Flanks flanks_of(const Strips& g, const StripSlopes& slopes, const Pieces& a, const Pieces& b,
                            Interval domain_b, double rounding) {
  const Lanes zero = spread(0.0);
  const Lanes e = a.half;
  const Lanes noise = slope_rounding(g, e, rounding);
  // d(G on the line)/dx is between these, but for `wander`.
  const Lanes slope = g.slope_s + g.along * g.slope_t;
  const Lanes linear = 2.0 * abs(slopes.square) * e;
  const Lanes bow = 3.0 * slopes.cube * e * e;
  const Lanes least = slope - linear + min(zero, bow);
  const Lanes most = slope + linear + max(zero, bow);
  // How far the nearest point is from the line, and the line from b.
  const Lanes pull = abs(g.slope_t) + g.drift * e * e + noise;
  const Lanes slip = pull / g.stiffness;
  const Lanes swing = abs(g.along) * e;
  const Lanes past_end = b.centre + swing - domain_b.end;
  const Lanes past_begin = domain_b.begin - (b.centre - swing);
  const Lanes off = min(g.reach, slip + max(zero, max(past_end, past_begin)));
  const Lanes doubt = slopes.wander + slopes.lean * off + noise * (1.0 + abs(g.along));
  // What the end of b adds where all of the line is past it.
  const auto lift = [&](Lanes past) { return abs(g.along) * max(zero, g.stiffness * (past - 2.0 * swing) - pull); };
  const LaneMask forward = g.along > zero;
  const Lanes past_where_a_leaves = select(forward, past_end, past_begin);
  const Lanes past_where_a_comes = select(forward, past_begin, past_end);
  const LaneMask leaves = past_where_a_leaves + slip > zero;
  const LaneMask comes = past_where_a_comes + slip > zero;
  return {g.holds & ~comes & (least + lift(past_where_a_leaves) > doubt),
          g.holds & ~leaves & (most - lift(past_where_a_comes) < -doubt)};
}

/// Parts of a, in order; few.
struct Parts {
  static constexpr int capacity = 32;
  std::array<Interval, capacity> part;
  int count = 0;

  /// Appends, or widens the last where it touches or no more fit.
  void append(Interval i) {
    if (count > 0 && (part[count - 1].end >= i.begin || count == capacity)) {
      part[count - 1].end = i.end;
    } else {
      part[count++] = i;
    }
  }
};

/// The search for parts of a where the distance to b may have a minimum.
template <StripCurve A, StripCurve B>
class FlankSearch {
 public:
  FlankSearch(const A& a, const B& b, Interval ib, const FlankOptions& options, double rounding)
      : a_(a), b_(b), ib_(ib), options_(options), base_(a.origin - b.origin), rounding_(rounding) {}

  /// Appends what is left of `part` to `out`.
  void run(Interval part, Parts& out) const {
    Interval rest = part;
    constexpr double half_turn = 3.1;  // < pi: b stays behind its ends
    if (b_.bounds(ib_).second * (ib_.end - ib_.begin) < half_turn) {
      cut_beyond(ib_.begin, -1.0, rest);
      cut_beyond(ib_.end, 1.0, rest);
    }
    if (!(rest.begin < rest.end)) return;
    examine(rest, options_.begin_counts && rest.begin <= part.begin, options_.end_counts && rest.end >= part.end, 0,
            out);
  }

 private:
  static constexpr int rounds = 2;

  /// Cuts off what has left the half-space behind an end of b by more than the upper bound.
  void cut_beyond(double t, double outward, Interval& part) const {
    const CurveJet end = b_.jet(t);
    const Vector3 n = outward * end.first;
    const Vector3 origin = base_ - end.offset;
    const double upper = options_.upper_bound + rounding_;
    const double height_begin = n.dot(origin + a_.offset(part.begin)) - upper;
    const double height_end = n.dot(origin + a_.offset(part.end)) - upper;
    if (!(std::max(height_begin, height_end) > 0.0)) return;
    const double direction = height_end > height_begin ? 1.0 : -1.0;
    const double far = direction > 0.0 ? part.end : part.begin;
    double guess = direction > 0.0 ? part.begin : part.end;
    const bool crosses = std::min(height_begin, height_end) <= 0.0;
    if (crosses) guess = part.begin + (part.end - part.begin) * height_begin / (height_begin - height_end);
    const CurveJet jet = a_.jet(guess);
    const double bend = a_.bounds(part).second;
    const double height = n.dot(origin + jet.offset) - upper;
    const double slope = direction * n.dot(jet.first);
    // height + slope v - bend v^2/2, which the height exceeds, is concave: positive between where it is.
    const auto above = [&](double v) { return height + slope * v - 0.5 * bend * v * v > 0.0; };
    double v = 0.0;
    if (crosses) {
      v = (0.05 * upper - height) / slope;
      v += 0.5 * bend * v * v / slope;
    }
    const double room = std::abs(far - guess);
    if (!(v < room && above(v) && above(room))) return;
    const double cut = std::clamp(guess + direction * v, part.begin, part.end);
    (direction > 0.0 ? part.end : part.begin) = cut;
  }

  void examine(Interval part, bool begin_counts, bool end_counts, int round, Parts& out) const {
    constexpr Lanes places{-0.75, -0.25, 0.25, 0.75};
    const double middle = 0.5 * (part.begin + part.end);
    const double half = 0.5 * (part.end - part.begin);
    const Pieces a = strip_pieces(a_, middle + half * places, spread(0.25 * half * (1.0 + 1e-15)));
    const double direction = options_.with ? 1.0 : -1.0;
    const Pieces b = feet(a, options_.near.s_b + direction * (a.centre - options_.near.s_a));
    const double past = std::max({0.0, lanes::largest(b.centre) - ib_.end, ib_.begin - lanes::least(b.centre)});
    const Strips g = make_strips(base_, a, b, ib_.end - ib_.begin + past, options_.upper_bound, rounding_);
    const Lanes lower = strip_distances(g, a.half, rounding_);
    const Flanks flank = flanks_of(g, strip_slopes(base_, a, b, g, rounding_), a, b, ib_, rounding_);
    for (int i = 0; i < lane_count; ++i) {
      if (lower[i] >= options_.upper_bound) continue;
      const Interval strip{i == 0 ? part.begin : part.begin + 0.5 * half * i,
                           i + 1 == lane_count ? part.end : part.begin + 0.5 * half * (i + 1)};
      const bool low_begin = begin_counts && i == 0;
      const bool low_end = end_counts && i + 1 == lane_count;
      if (flank.rises[i] != 0) {
        if (low_begin) out.append({strip.begin, strip.begin});
      } else if (flank.falls[i] != 0) {
        if (low_end) out.append({strip.end, strip.end});
      } else if (round + 1 < rounds && 0.5 * half > options_.width) {
        examine(strip, low_begin, low_end, round + 1, out);
      } else {
        out.append(strip);
      }
    }
  }

  /// Points of b near the nearest ones to the centres of a, from t on by Newton's method; b goes on past its ends.
  Pieces feet(const Pieces& a, Lanes t) const {
    const double more = std::min(options_.upper_bound, continuation(b_));
    Pieces b = strip_points(b_, clamp(t, ib_.begin - more, ib_.end + more), a.half, ib_);
    constexpr int steps = 2;
    for (int k = 0; k < steps; ++k) {
      const LaneVector r = spread(base_) + (a.offset - b.offset);
      const Lanes second = 1.0 - dot(r, b.second);
      t = b.centre + dot(r, b.first) / max(spread(0.25), second);
      b = strip_points(b_, clamp(t, ib_.begin - more, ib_.end + more), a.half, ib_);
    }
    return b;
  }

  const A& a_;
  const B& b_;
  Interval ib_;
  const FlankOptions& options_;
  Vector3 base_;
  double rounding_;
};

}  // namespace tresse::geometry::detail
