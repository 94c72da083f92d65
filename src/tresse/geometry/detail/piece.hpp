#pragma once

#include <algorithm>
#include <cmath>

#include <tresse/geometry/prepared_curve.hpp>

/// Pieces of curves, boxes of two pieces, and what can be proved about |a - b| on a box. See docs/geometry.md for the
/// proofs; physics and notation: u, v in [-1, 1] across the pieces, e half-widths, k >= |r''|, m >= |r'''|.

namespace tresse::geometry::detail {

/// A piece of a curve: an interval of the parameter, the jet at its centre and bounds of the derivatives over it.
struct Piece {
  double centre = 0.0;
  double half = 0.0;  ///< half-width of the interval; 0: a point, whose parameter is fixed
  CurveJet jet;
  double second = 0.0;     ///< >= |r''| on the piece
  double third = 0.0;      ///< >= |r'''| on the piece
  double remainder = 0.0;  ///< >= |r - its second-order expansion| on the piece
  double min_speed = 1.0;  ///< <= |r'| on the piece
  double max_speed = 1.0;  ///< >= |r'| on the piece
  bool at_begin = false;   ///< the piece starts where the whole interval starts
  bool at_end = false;     ///< the piece ends where the whole interval ends
};

template <CurveEvaluator C>
Piece make_piece(const C& curve, double centre, double half, bool at_begin, bool at_end) {
  Piece p{.centre = centre, .half = half, .jet = curve.jet(centre), .at_begin = at_begin, .at_end = at_end};
  const DerivativeBounds bounds = curve.bounds({centre - half, centre + half});
  p.second = bounds.second;
  p.third = bounds.third;
  // Inflated for the rounding of the phase of many turns (docs/geometry.md, margins).
  p.remainder = bounds.third * (half * half * half) * ((1.0 + 1e-6) / 6.0);
  if constexpr (!C::unit_speed) {
    const double speed = p.jet.first.norm();
    const double change = bounds.second * half;
    p.min_speed = std::max(0.0, speed - change) * (1.0 - 1e-14);
    p.max_speed = (speed + change) * (1.0 + 1e-14);
  }
  return p;
}

/// Minimum of q1 u + q2 u^2 over u in [-1, 1].
inline double least_parabola(double q1, double q2) {
  const double slope = std::abs(q1);
  return slope < 2.0 * q2 ? -0.25 * q1 * q1 / q2 : q2 - slope;
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
struct BoxDistance {
  double lower = 0.0;  ///< no two points of the two pieces are nearer
  double upper = 0.0;  ///< the points at (u, v) are no farther apart
  double u = 0.0;
  double v = 0.0;
};

/// Lower bound: axes of the capsules shifted by half the sagitta give a direction n; along n the pieces are parabolas
/// up to the remainders, so |a - b| >= min n.a - max n.b. `base` = origin of a - origin of b; `rounding` [m] covers
/// every rounding of the positions. Never below the capsules' own bound (radius k h^2/16 + |r'''| h^3/48).
inline BoxDistance box_distance(const Vector3& base, const Piece& a, const Piece& b, double rounding) {
  const double ea = 0.5 * a.half * a.half;
  const double eb = 0.5 * b.half * b.half;
  const Vector3 p = a.half * a.jet.first;
  const Vector3 q = b.half * b.jet.first;
  const Vector3 sa = ea * a.jet.second;
  const Vector3 sb = eb * b.jet.second;
  const Vector3 w0 = base + (a.jet.offset - b.jet.offset);
  const Vector3 w = w0 + 0.5 * (sa - sb);
  const auto [u, v] = closest_on_segments(w, p, q);
  const Vector3 n = w + u * p - v * q;
  const double slack = a.remainder + b.remainder + rounding;
  BoxDistance out{.u = u, .v = v};
  out.upper = (w0 + u * p - v * q + (u * u) * sa - (v * v) * sb).norm() + slack;
  const double length2 = n.squaredNorm();
  if (length2 > 0.0) {
    const double support = n.dot(w0) + least_parabola(n.dot(p), n.dot(sa)) + least_parabola(-n.dot(q), -n.dot(sb));
    out.lower = std::max(0.0, support / std::sqrt(length2) - slack);
  }
  return out;
}

/// What the second-order test of a box tells about G = |a - b|^2 / 2. A parameter whose piece is a point is fixed and
/// takes no part.
struct BoxShape {
  bool convex = false;   ///< the Hessian of G is positive definite over the box: one minimiser at most
  double modulus = 0.0;  ///< lower bound of its smallest eigenvalue, parameters scaled to unit speed
  int slope_a = 0;       ///< sign of dG/ds_a where it is the same over the whole box, else 0
  int slope_b = 0;       ///< sign of dG/ds_b where it is the same over the whole box, else 0
  double lower = 0.0;    ///< where convex: |a - b| is at least this, from the tangent plane at the centre
};

/// Bounds of the Hessian of G over the box by Taylor with the bounds on r'', r''': dG2/da2 = a'.a' + (a - b).a'',
/// dG2/dadb = -a'.b', dG2/db2 = b'.b' - (a - b).b''. The angle of two tangents changes by k e / |r'| at most on a
/// piece.
inline BoxShape box_shape(const Vector3& base, const Piece& a, const Piece& b, double rounding) {
  const Vector3 r = base + (a.jet.offset - b.jet.offset);
  const double distance = r.norm() + rounding;
  const double reach_a = a.max_speed * a.half;
  const double reach_b = b.max_speed * b.half;
  const double spread = reach_a + reach_b + rounding;
  const double ra = r.dot(a.jet.second);
  const double rb = -r.dot(b.jet.second);
  const double vary_a = spread * a.second + distance * a.third * a.half + 1e-14 * distance * a.second;
  const double vary_b = spread * b.second + distance * b.third * b.half + 1e-14 * distance * b.second;
  const double va = a.max_speed * a.max_speed;
  const double vb = b.max_speed * b.max_speed;
  const double product = a.jet.first.dot(b.jet.first);

  BoxShape out;
  const double ga = r.dot(a.jet.first);
  const double gb = -r.dot(b.jet.first);
  const double top_a = std::max(va + ra + vary_a, vary_a - ra);
  const double top_b = std::max(vb + rb + vary_b, vary_b - rb);
  const double cross = std::min(a.max_speed * b.max_speed,
                                std::abs(product) + a.second * a.half * b.max_speed + b.second * b.half * a.max_speed);
  const double change_a = top_a * a.half + cross * b.half + (rounding + 1e-14 * distance) * a.max_speed;
  const double change_b = top_b * b.half + cross * a.half + (rounding + 1e-14 * distance) * b.max_speed;
  if (a.half > 0.0 && std::abs(ga) > change_a) out.slope_a = ga > 0.0 ? 1 : -1;
  if (b.half > 0.0 && std::abs(gb) > change_b) out.slope_b = gb > 0.0 ? 1 : -1;

  constexpr double margin = 1e-12;  // far above the rounding of these few products
  if ((a.half > 0.0 && !(a.min_speed > 0.0)) || (b.half > 0.0 && !(b.min_speed > 0.0))) return out;
  const auto scaled = [](double low, const Piece& p) {
    return 1.0 + low / (low < 0.0 ? p.min_speed * p.min_speed : p.max_speed * p.max_speed) - margin;
  };
  const double alpha = a.half > 0.0 ? scaled(ra - vary_a, a) : 1.0;
  const double beta = b.half > 0.0 ? scaled(rb - vary_b, b) : 1.0;
  if (!(alpha > 0.0 && beta > 0.0)) return out;
  double cosine = 0.0;
  if (a.half > 0.0 && b.half > 0.0) {
    const double speeds = a.min_speed == 1.0 && b.min_speed == 1.0 ? 1.0 : a.jet.first.norm() * b.jet.first.norm();
    const double middle = std::min(1.0, std::abs(product) / speeds);
    const double turn = a.second * a.half / a.min_speed + b.second * b.half / b.min_speed;
    // cos(angle - turn) <= cos + sin * turn; the square root loses half the digits near parallel, hence the 2e-8
    cosine = std::min(1.0, middle + (std::sqrt(std::max(0.0, 1.0 - middle * middle)) + 2e-8) * turn + margin);
  }
  const double determinant = alpha * beta - cosine * cosine;
  if (!(determinant > margin)) return out;
  out.convex = true;
  out.modulus = determinant / (alpha + beta);
  const double plane = 0.5 * r.squaredNorm() - std::abs(ga) * a.half - std::abs(gb) * b.half;
  if (plane > 0.0) out.lower = std::max(0.0, std::sqrt(2.0 * plane) - 2.0 * rounding);
  return out;
}

}  // namespace tresse::geometry::detail
