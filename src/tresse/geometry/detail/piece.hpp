#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/base/triple.hpp>
#include <tresse/geometry/prepared_curve.hpp>
#include <tresse/math/quick_trigonometry.hpp>
#include <tresse/math/reciprocals.hpp>

/// Pieces of curves, boxes of two pieces, and what can be proved about |a - b| on four boxes at a time. See
/// docs/theory/geometry.md for the proofs; physics and notation: u, v in [-1, 1] across the pieces, e half-widths, k >=
/// |r''|, m >= |r'''|.

namespace tresse::geometry::detail {

using Lanes = lanes::Doubles;
using LaneMask = lanes::Mask;
using LaneVector = Triple<Lanes>;
constexpr int lane_count = lanes::count;
using lanes::abs;
using lanes::any;
using lanes::lane_of;
using lanes::max;
using lanes::min;
using lanes::select;
using lanes::spread;
using lanes::sqrt;

TRESSE_HOT Lanes clamp(Lanes x, double low, double high) { return min(max(x, spread(low)), spread(high)); }

/// Four pieces of a curve: intervals of the parameter, the jets at their centres and bounds of the derivatives over
/// them.
struct Pieces {
  Lanes centre;
  Lanes half;  ///< half-widths of the intervals; 0: a point, whose parameter is fixed
  LaneVector offset;
  LaneVector first;
  LaneVector second;
  LaneVector third;  ///< of strips alone
  Lanes bend;        ///< >= |r''| on the piece
  Lanes twist;       ///< >= |r'''| on the piece
  Lanes fourth;      ///< >= |r''''|, of strips alone
  Lanes remainder;   ///< >= |r - its second-order expansion| on the piece
  Lanes min_speed;   ///< <= |r'| on the piece
  Lanes max_speed;   ///< >= |r'| on the piece
};

/// Jets at four parameters: in lanes where the curve is simple, one by one else.
template <CurveEvaluator C>
TRESSE_HOT void fill_jets(const C& curve, Pieces& p) {
  for (int i = 0; i < lane_count; ++i) {
    const CurveJet jet = curve.jet(p.centre[i]);
    for (int k = 0; k < 3; ++k) {
      const auto component = static_cast<std::size_t>(k);
      p.offset[component][i] = jet.offset[k];
      p.first[component][i] = jet.first[k];
      p.second[component][i] = jet.second[k];
    }
    const DerivativeBounds bounds = curve.bounds({p.centre[i] - p.half[i], p.centre[i] + p.half[i]});
    p.bend[i] = bounds.second;
    p.twist[i] = bounds.third;
  }
}
/// Jets of four points of one piece of the series, and third derivatives where they are wanted.
template <bool with_third>
TRESSE_HOT void sum_series(const ClothoidEvaluator::Piece& piece, Pieces& p) {
  const Lanes x = p.centre - piece.begin;
  const Lanes t = x * (1.0 / piece.length);
  LaneVector sum, first, second, third;
  sum = first = second = third = spread(Vector3(Vector3::Zero()));
  for (auto n = static_cast<std::size_t>(piece.terms); n-- > 0;) {
    const std::array<double, 4>& c = piece.term[n];
    const LaneVector term{spread(c[0]), spread(c[1]), spread(c[2])};
    if constexpr (with_third) third = t * third + second;
    second = t * second + first;
    first = t * first + term;
    sum = t * sum + spread(math::reciprocals[n + 1]) * term;
  }
  const auto turned = [&frame = piece.frame](Lanes by, const LaneVector& v) {
    const auto row = [&](int i) { return by * (frame(i, 0) * v[0] + frame(i, 1) * v[1] + frame(i, 2) * v[2]); };
    return LaneVector{row(0), row(1), row(2)};
  };
  const double rate = 1.0 / piece.length;
  p.offset = spread(piece.start) + turned(x, sum);
  p.first = turned(spread(1.0), first);
  p.second = turned(spread(rate), second);
  if constexpr (with_third) p.third = turned(spread(2.0 * rate * rate), third);
}

template <bool with_third>
TRESSE_HOT void fill_clothoid(const ClothoidEvaluator& curve, Pieces& p) {
  std::array<const ClothoidEvaluator::Piece*, lane_count> at{};
  for (std::size_t i = 0; i < lane_count; ++i) at[i] = &curve.piece_at(p.centre[i]);
  sum_series<with_third>(*at[0], p);
  for (std::size_t i = 1; i < lane_count; ++i) {
    if (at[i] == at[i - 1]) continue;
    // The lanes from here on are of another piece.
    Pieces next;
    next.centre = p.centre;
    sum_series<with_third>(*at[i], next);
    constexpr LaneMask places{0, 1, 2, 3};
    const LaneMask later = places >= static_cast<std::int64_t>(i);
    const auto join = [&](LaneVector& x, const LaneVector& y) {
      for (std::size_t k = 0; k < 3; ++k) x[k] = select(later, y[k], x[k]);
    };
    join(p.offset, next.offset);
    join(p.first, next.first);
    join(p.second, next.second);
    if constexpr (with_third) join(p.third, next.third);
  }
}

/// Bounds from `begin` to `end`, beyond the ends of the domain too, as ClothoidEvaluator::bounds(); and
/// r'''' = R (k x (k x (k x e_x)) + 2 k x (g x e_x) + g x (k x e_x)).
TRESSE_HOT void bound_along(const ClothoidEvaluator& curve, Lanes begin, Lanes end, Pieces& p) {
  const LaneVector k = spread(curve.curvature());
  const LaneVector g = spread(curve.curvature_slope());
  const LaneVector first = k + begin * g;
  const LaneVector last = k + end * g;
  const auto across = [](const LaneVector& v) { return v[1] * v[1] + v[2] * v[2]; };
  const Lanes bend2 = max(across(first), across(last));
  const Lanes bend = sqrt(bend2);
  const Lanes whole = sqrt(max(first[0] * first[0], last[0] * last[0]) + bend2);
  const Lanes slope = sqrt(across(g));
  constexpr double rounding = 1.0 + 1e-15;
  p.bend = bend * rounding;
  p.twist = (whole * bend + slope) * rounding;
  p.fourth = (whole * (whole * bend + 2.0 * slope) + sqrt(dot(g, g)) * bend) * rounding;
}
TRESSE_HOT void fill_jets(const ClothoidEvaluator& curve, Pieces& p) {
  fill_clothoid<false>(curve, p);
  bound_along(curve, p.centre - p.half, p.centre + p.half, p);
}
TRESSE_HOT void fill_jets(const SegmentEvaluator& curve, Pieces& p) {
  p.first = spread(curve.direction());
  p.offset = p.centre * p.first;
  p.second = p.third = spread(Vector3(Vector3::Zero()));
  p.bend = p.twist = p.fourth = spread(0.0);
}
TRESSE_HOT void fill_helix_bounds(const HelixEvaluator& curve, Pieces& p) {
  const DerivativeBounds bounds = curve.bounds({});
  p.bend = spread(bounds.second);
  p.twist = spread(bounds.third);
  p.fourth = spread(curve.rate() * curve.rate() * bounds.second);
}
TRESSE_HOT void fill_jets(const HelixEvaluator& curve, Pieces& p) {
  const double w = curve.rate();
  const LaneVector u = spread(curve.cosine_radius());
  const LaneVector v = spread(curve.sine_radius());
  const LaneVector pitch = spread(curve.pitch());
  fill_helix_bounds(curve, p);
  if (!curve.turning()) {
    const Lanes x = (w * w) * p.centre * p.centre;
    Lanes c2, c3;
    math::quick::stumpff_series(x, c2, c3);
    const Lanes c1 = 1.0 - x * c3;
    p.offset = p.centre * (pitch + p.centre * (c2 * u + (p.centre * c3) * v));
    p.first = pitch + p.centre * (c1 * u + (p.centre * c2) * v);
    p.second = (1.0 - x * c2) * u + (p.centre * c1) * v;
    p.third = (1.0 - x * c2) * v - (w * w * p.centre * c1) * u;
    return;
  }
  const auto [sine, cosine] = math::quick::sine_cosine(Lanes(w * p.centre));
  const LaneVector radial = cosine * u + sine * v;
  p.offset = spread(curve.centre()) + p.centre * pitch + radial;
  p.first = pitch + (w * cosine) * v - (w * sine) * u;
  p.second = spread(-(w * w)) * radial;
  p.third = spread(w * w * w) * (sine * u - cosine * v);
}

template <CurveEvaluator C>
TRESSE_HOT void fill_bounds(const C&, Pieces& p) {
  const Lanes half = p.half;
  // Inflated for the rounding of the phase of many turns (docs/theory/geometry.md, "The certified search").
  p.remainder = p.twist * (half * half * half) * ((1.0 + 1e-6) / 6.0);
  if constexpr (C::unit_speed) {
    p.min_speed = p.max_speed = spread(1.0);
  } else {
    const Lanes speed = sqrt(dot(p.first, p.first));
    p.min_speed = max(spread(0.0), speed - p.bend * half) * (1.0 - 1e-14);
    p.max_speed = (speed + p.bend * half) * (1.0 + 1e-14);
  }
}

template <CurveEvaluator C>
TRESSE_HOT Pieces make_pieces(const C& curve, Lanes centre, Lanes half) {
  Pieces p;
  p.centre = centre;
  p.half = half;
  fill_jets(curve, p);
  fill_bounds(curve, p);
  return p;
}

/// Whether a query is about all of a curve, whose halves and ends are prepared.
template <typename C>
bool is_whole(const C& curve, Interval i) {
  return i.begin == curve.domain().begin && i.end == curve.domain().end && i.end > 0.0;
}

/// Two of the prepared places of a helix, from the `first`, in the order of the lanes: the first two times and then the
/// second, or in turn.
template <bool in_turn, std::size_t first>
TRESSE_HOT LaneVector prepared(const HelixEvaluator::Places::Vectors& x) {
  const auto of = [](const std::array<double, 4>& numbers) {
    const double one = numbers[first], other = numbers[first + 1];
    if constexpr (in_turn) {
      return Lanes{one, other, one, other};
    } else {
      return Lanes{one, one, other, other};
    }
  };
  return {of(x[0]), of(x[1]), of(x[2])};
}

/// The halves of a helix, from what was prepared of it.
template <bool in_turn>
TRESSE_HOT Pieces prepared_halves(const HelixEvaluator& curve) {
  const HelixEvaluator::Places& places = curve.places();
  const double length = curve.domain().end;
  Pieces p;
  p.centre = length * (in_turn ? Lanes{0.25, 0.75, 0.25, 0.75} : Lanes{0.25, 0.25, 0.75, 0.75});
  p.half = spread(0.25 * length);
  p.offset = prepared<in_turn, 0>(places.offset);
  p.first = prepared<in_turn, 0>(places.first);
  p.second = prepared<in_turn, 0>(places.second);
  const DerivativeBounds bounds = curve.bounds({});
  p.bend = spread(bounds.second);
  p.twist = spread(bounds.third);
  fill_bounds(curve, p);
  return p;
}

/// Places and directions of the ends of a curve: twice its beginning and then its end, or in turn.
struct Ends {
  LaneVector offset, first;
};
template <bool in_turn, CurveEvaluator C>
TRESSE_HOT Ends make_ends(const C& curve, Interval i) {
  if constexpr (std::same_as<C, HelixEvaluator>) {
    if (is_whole(curve, i))
      return {prepared<in_turn, 2>(curve.places().offset), prepared<in_turn, 2>(curve.places().first)};
  }
  const Lanes at = in_turn ? Lanes{i.begin, i.end, i.begin, i.end} : Lanes{i.begin, i.begin, i.end, i.end};
  const Pieces p = make_pieces(curve, at, spread(0.0));
  return {p.offset, p.first};
}

/// Minimum of q1 u + q2 u^2 over u in [-1, 1].
TRESSE_HOT Lanes least_parabola(Lanes q1, Lanes q2) {
  const Lanes slope = abs(q1);
  return select(slope < 2.0 * q2, -0.25 * q1 * q1 / q2, q2 - slope);
}

/// Closest points c + u p and d + v q of two segments, u and v in [-1, 1], w = c - d; either may be a point.
/// Any answer is safe for the bounds below: a poor one only weakens them.
struct SegmentParameters {
  double u = 0.0;
  double v = 0.0;
};
inline SegmentParameters closest_on_segments(const Vector3& w, const Vector3& p, const Vector3& q) {
  constexpr double tiny = 1e-300;  // a point's reciprocal: finite, and times its zero numerator still zero
  const double pp = p.squaredNorm() + tiny;
  const double qq = q.squaredNorm() + tiny;
  const double pq = p.dot(q);
  const double pw = p.dot(w);
  const double qw = q.dot(w);
  const double determinant = pp * qq - pq * pq;
  double u = determinant > 1e-14 * pp * qq ? std::clamp((pq * qw - qq * pw) / determinant, -1.0, 1.0) : 0.0;
  const double v = std::clamp((pq * u + qw) / qq, -1.0, 1.0);
  u = std::clamp((pq * v - pw) / pp, -1.0, 1.0);
  return {u, v};
}

/// What the segment test of a box tells.
struct BoxDistances {
  Lanes lower;  ///< no two points of the two pieces are nearer
  Lanes upper;  ///< the points at (u, v) are no farther apart
  Lanes u;
  Lanes v;
};

/// How a segment test may be shortened.
struct BoxNeeds {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double beyond = never;  ///< nothing is told of boxes all of which are this far apart [m]
  double enough = never;  ///< no upper bounds where all are at least this far apart [m]
};

/// Lower bound: axes of the capsules shifted by half the sagitta give a direction n; along n the pieces are parabolas
/// up to the remainders, so |a - b| >= min n.a - max n.b. `base` = origin of a - origin of b; `rounding` [m] covers
/// every rounding of the positions. Never below the capsules' own bound (radius k h^2/16 + |r'''| h^3/48).
/// `unit_speed`: of both curves. False where all boxes are as far apart as `needs.beyond`; `out` is left alone then.
template <bool unit_speed>
TRESSE_HOT bool box_distances(const Vector3& base, const Pieces& a, const Pieces& b, double rounding,
                              const BoxNeeds& needs, BoxDistances& out) {
  const LaneVector p = a.half * a.first;
  const LaneVector q = b.half * b.first;
  const LaneVector sa = (0.5 * a.half * a.half) * a.second;
  const LaneVector sb = (0.5 * b.half * b.half) * b.second;
  const LaneVector w0 = spread(base) + (a.offset - b.offset);
  const LaneVector w = w0 + spread(0.5) * (sa - sb);

  // Closest points of the segments w + u p and v q, as closest_on_segments().
  constexpr double tiny = 1e-300;
  const auto squared = [](Lanes half, const LaneVector& x) { return (unit_speed ? half * half : dot(x, x)) + tiny; };
  const Lanes pp = squared(a.half, p);
  const Lanes qq = squared(b.half, q);
  const Lanes pq = dot(p, q);
  const Lanes pw = dot(p, w);
  const Lanes qw = dot(q, w);
  const Lanes determinant = pp * qq - pq * pq;
  Lanes u = select(determinant > 1e-14 * pp * qq, (pq * qw - qq * pw) / determinant, spread(0.0));
  u = clamp(u, -1.0, 1.0);
  const Lanes per_pp = 1.0 / pp;  // beside the division above, not after it
  const Lanes per_qq = 1.0 / qq;
  const Lanes v = clamp((pq * u + qw) * per_qq, -1.0, 1.0);
  u = clamp((pq * v - pw) * per_pp, -1.0, 1.0);

  const LaneVector chord = u * p - v * q;
  const LaneVector n = w + chord;
  const Lanes slack = a.remainder + b.remainder + rounding;
  const Lanes length2 = dot(n, n);
  const Lanes support = dot(n, w0) + least_parabola(dot(n, p), dot(n, sa)) + least_parabola(-dot(n, q), -dot(n, sb));
  const Lanes zero = spread(0.0);
  // Most queries end here: no root and no division.
  const Lanes wanted = max(zero, needs.beyond + slack);
  const LaneMask beyond =
      (support > zero) & (length2 > zero) & (support * support >= (1.0 + 1e-14) * (wanted * wanted) * length2);
  if (!any(~beyond)) return false;
  out.u = u;
  out.v = v;
  out.lower = select(length2 > zero, max(zero, support / sqrt(length2) - slack), zero);
  out.upper = spread(std::numeric_limits<double>::infinity());
  if (!any(~(out.lower >= spread(needs.enough)))) return true;
  const LaneVector point = w0 + chord + ((u * u) * sa - (v * v) * sb);
  out.upper = sqrt(dot(point, point)) + slack;
  return true;
}

/// What the second-order test of a box tells about G = |a - b|^2 / 2. A parameter whose piece is a point is fixed and
/// takes no part.
struct BoxShapes {
  Lanes modulus;  ///< > 0: G is convex over the box, so with one minimiser at most, and this bounds the smallest
                  ///< eigenvalue of its Hessian from below, parameters scaled to unit speed
  Lanes slope_a;  ///< sign of dG/ds_a where it is the same over the whole box, else 0
  Lanes slope_b;  ///< sign of dG/ds_b where it is the same over the whole box, else 0
  Lanes lower;    ///< where convex: |a - b| is at least this, from the value and the slope at the centre
};

/// Bounds of the Hessian of G over the box by Taylor with the bounds on r'', r''': d2G/da2 = a'.a' + (a - b).a'',
/// d2G/dadb = -a'.b', d2G/db2 = b'.b' - (a - b).b''. The angle of two tangents changes by k e / |r'| at most on a
/// piece.
TRESSE_HOT BoxShapes box_shapes(const Vector3& base, const Pieces& a, const Pieces& b, double rounding) {
  const Lanes zero = spread(0.0);
  const Lanes one = spread(1.0);
  const LaneVector r = spread(base) + (a.offset - b.offset);
  const Lanes distance = sqrt(dot(r, r)) + rounding;
  const Lanes spread_r = a.max_speed * a.half + b.max_speed * b.half + rounding + 1e-14 * distance;
  const Lanes ra = dot(r, a.second);
  const Lanes rb = -dot(r, b.second);
  // r.a'' changes by (a' x - b' y).a'' to first order, hardly at all where the tangents are alike and a' is normal to
  // a''; the rest is of second order. Or by what r and a'' change at most.
  const Lanes along_a = a.max_speed * a.half + b.max_speed * b.half;
  const Lanes second_order = 0.5 * (a.bend * a.half * a.half + b.bend * b.half * b.half) + rounding + 1e-14 * distance;
  const auto varies = [&](const Pieces& p) {
    const Lanes first_order = abs(dot(a.first, p.second)) * a.half + abs(dot(b.first, p.second)) * b.half;
    return min(spread_r * p.bend + distance * p.twist * p.half,
               first_order + second_order * p.bend + (distance + along_a) * p.twist * p.half);
  };
  const Lanes vary_a = varies(a);
  const Lanes vary_b = varies(b);
  const Lanes va = a.max_speed * a.max_speed;
  const Lanes vb = b.max_speed * b.max_speed;
  const Lanes product = abs(dot(a.first, b.first));

  BoxShapes out;
  const Lanes ga = dot(r, a.first);
  const Lanes gb = -dot(r, b.first);
  const Lanes top_a = max(va + ra + vary_a, vary_a - ra);
  const Lanes top_b = max(vb + rb + vary_b, vary_b - rb);
  const Lanes turn_a = a.bend * a.half;
  const Lanes turn_b = b.bend * b.half;
  const Lanes cross = min(a.max_speed * b.max_speed, product + turn_a * b.max_speed + turn_b * a.max_speed);
  const Lanes noise = rounding + 1e-14 * distance;
  const Lanes change_a = top_a * a.half + cross * b.half + noise * a.max_speed;
  const Lanes change_b = top_b * b.half + cross * a.half + noise * b.max_speed;
  const LaneMask free_a = a.half > zero;
  const LaneMask free_b = b.half > zero;
  const auto sign = [&](Lanes g, Lanes change, LaneMask free) {
    return select(free & (abs(g) > change), select(g > zero, one, -one), zero);
  };
  out.slope_a = sign(ga, change_a, free_a);
  out.slope_b = sign(gb, change_b, free_b);

  constexpr double margin = 1e-12;  // far above the rounding of these few products
  const auto scaled = [&](Lanes low, const Pieces& p) {
    return 1.0 + low / select(low < zero, p.min_speed * p.min_speed, p.max_speed * p.max_speed) - margin;
  };
  const Lanes alpha = select(free_a, scaled(ra - vary_a, a), one);
  const Lanes beta = select(free_b, scaled(rb - vary_b, b), one);
  const Lanes speeds = sqrt(dot(a.first, a.first) * dot(b.first, b.first));
  const Lanes middle = min(one, product / speeds);
  const Lanes turn = turn_a / a.min_speed + turn_b / b.min_speed;
  // cos(angle - turn) <= cos + sin * turn; the square root loses half the digits near parallel, hence the 2e-8
  const Lanes cosine =
      select(free_a & free_b, min(one, middle + (sqrt(max(zero, 1.0 - middle * middle)) + 2e-8) * turn + margin), zero);
  const Lanes determinant = alpha * beta - cosine * cosine;
  // Written so that a NaN, as of a piece that may stand still (min_speed 0), isn't convex.
  const LaneMask convex = (determinant > spread(margin)) & (alpha > zero) & (beta > zero) &
                          ((a.min_speed > zero) | ~free_a) & ((b.min_speed > zero) | ~free_b);
  out.modulus = select(convex, determinant / (alpha + beta), zero);
  // Convexity: G is above its tangent plane at the centre, and above the paraboloid of the modulus there.
  const Lanes value = 0.5 * dot(r, r);
  const Lanes slope2 = select(free_a, ga * ga / (a.min_speed * a.min_speed), zero) +
                       select(free_b, gb * gb / (b.min_speed * b.min_speed), zero);
  const Lanes plane = value - abs(ga) * a.half - abs(gb) * b.half;
  const Lanes bowl = value - 0.5 * slope2 / out.modulus * (1.0 + 1e-12);
  const Lanes least = max(plane, bowl) - 1e-14 * value;
  out.lower = select(convex & (least > zero), max(zero, sqrt(2.0 * max(least, zero)) - 2.0 * rounding), zero);
  return out;
}

}  // namespace tresse::geometry::detail
