#pragma once

#include <tresse/geometry/detail/piece.hpp>

/// Strips of a pair of curves: a part of a against all of b, four at a time. Near each point of a the nearest point of
/// b is one, so that what is left to search is one parameter, along the valley of |a - b|. See docs/theory/geometry.md,
/// "Strips". Notation: G = |a(s) - b(t)|^2 / 2; x = s - s_c in [-e, e]; y = t - (t_c + along x).

namespace tresse::geometry::detail {

/// Curves of unit speed that go on beyond their ends, third derivative at hand.
template <typename C>
concept StripCurve =
    std::same_as<C, SegmentEvaluator> || std::same_as<C, HelixEvaluator> || std::same_as<C, ClothoidEvaluator>;

/// How far beyond an end. [m]
template <StripCurve C>
double continuation(const C& curve) {
  if constexpr (std::same_as<C, ClothoidEvaluator>) {
    return curve.continuation();
  } else {
    return std::numeric_limits<double>::infinity();
  }
}

/// make_pieces() with third derivatives and bounds of the fourth.
template <StripCurve C>
TRESSE_HOT Pieces strip_pieces(const C& curve, Lanes centre, Lanes half) {
  if constexpr (std::same_as<C, ClothoidEvaluator>) {
    Pieces p;
    p.centre = centre;
    p.half = half;
    fill_clothoid<true>(curve, p);
    bound_along(curve, centre - half, centre + half, p);
    return p;
  } else {
    return make_pieces(curve, centre, half);
  }
}

/// Points of b beside the centres of parts of a with half-widths `half`: bounds are those of all of `ib` and of where a
/// strip's line may go; its `along` is below 1/(1 - 0.75/2.04) where it holds.
template <StripCurve C>
TRESSE_HOT Pieces strip_points(const C& curve, Lanes centre, Lanes half, Interval ib) {
  if constexpr (std::same_as<C, ClothoidEvaluator>) {
    constexpr double steepest = 1.6;
    Pieces p;
    p.centre = centre;
    p.half = spread(0.0);
    fill_clothoid<true>(curve, p);
    bound_along(curve, min(spread(ib.begin), centre - steepest * half), max(spread(ib.end), centre + steepest * half),
                p);
    return p;
  } else {
    return make_pieces(curve, centre, spread(0.0));
  }
}

/// strip_pieces() of parts about one point of the curve, whose jet is known.
template <StripCurve C>
TRESSE_HOT Pieces strip_pieces_about(const C& curve, double centre, const CurveJet& jet, Lanes half) {
  if constexpr (std::same_as<C, HelixEvaluator>) {
    Pieces p;
    p.centre = spread(centre);
    p.half = half;
    p.offset = spread(jet.offset);
    p.first = spread(jet.first);
    p.second = spread(jet.second);
    p.third = spread(curve.third_derivative(jet.first));
    fill_helix_bounds(curve, p);
    fill_bounds(curve, p);
    return p;
  } else {
    return strip_pieces(curve, spread(centre), half);
  }
}

/// strip_points() of one point of the curve, whose jet is known.
template <StripCurve C>
TRESSE_HOT Pieces strip_point(const C& curve, double centre, const CurveJet& jet, Lanes half, Interval ib) {
  if constexpr (std::same_as<C, HelixEvaluator>) {
    return strip_pieces_about(curve, centre, jet, spread(0.0));
  } else {
    return strip_points(curve, spread(centre), half, ib);
  }
}

/// G over four strips. On the line y = 0,
///   G >= value + (slope_s + along slope_t) x + square x^2 + cube x^3 - tail x^4,
/// and from it, for every point of b that is within `near` of a(s),
///   |y| <= reach,  dG/dt = slope_t + (no more than drift x^2),  d2G/dt2 >= stiffness.
struct Strips {
  LaneMask holds;  ///< whether all this is proved
  Lanes along;
  Lanes value;
  Lanes slope_s;  ///< at the centre
  Lanes slope_t;
  Lanes square;
  Lanes cube;
  Lanes tail;
  Lanes drift;
  Lanes stiffness;
  Lanes reach;
  Lanes size;  ///< >= |a - b| on the line
};

constexpr double least_stiffness = 0.25;  ///< of strips that hold

/// a - b along the line y = 0 of a strip, r0 at its centre: r0 + r1 x + r2 x^2/2 + r3 x^3/6, up to fourth x^4/24.
struct StripLine {
  LaneVector r1, r2, r3;
  Lanes fourth;
  Lanes n2, n3;     ///< |r2|, |r3|
  Lanes first_max;  ///< >= its first derivative
};

TRESSE_HOT StripLine strip_line(Lanes along, const Pieces& a, const Pieces& b) {
  const Lanes k = along;
  const Lanes k2 = k * k;
  const Lanes e = a.half;
  StripLine out;
  out.r1 = a.first - k * b.first;
  out.r2 = a.second - k2 * b.second;
  out.r3 = a.third - (k * k2) * b.third;
  out.fourth = a.fourth + k2 * k2 * b.fourth;
  out.n2 = sqrt(dot(out.r2, out.r2));
  out.n3 = sqrt(dot(out.r3, out.r3));
  out.first_max = sqrt(dot(out.r1, out.r1)) + e * (out.n2 + e * (0.5 * out.n3 + (1.0 / 6.0) * e * out.fourth));
  return out;
}

/// a: the parts of the first curve; b: points of the second (their width is not used), `length_b` [m] of which is
/// looked at; `near` [m]: no pair of points farther apart is of interest; `rounding` [m] of the positions.
TRESSE_HOT Strips make_strips(const Vector3& base, const Pieces& a, const Pieces& b, double length_b, double near,
                              double rounding) {
  Strips out;
  const Lanes e = a.half;
  const LaneVector r0 = spread(base) + (a.offset - b.offset);
  const Lanes across = 1.0 - dot(r0, b.second);  // d2G/dt2 at the centre
  // The valley's direction: dG/dt stays zero to first order.
  const Lanes k = dot(a.first, b.first) / select(across > spread(0.1), across, spread(1.0));
  const Lanes k2 = k * k;
  const Lanes k3 = abs(k) * k2;
  out.along = k;
  const auto [r1, r2, r3, fourth, n2, n3, first_max] = strip_line(k, a, b);
  const Lanes d00 = dot(r0, r0);
  const Lanes d11 = dot(r1, r1);
  const Lanes third_max = n3 + fourth * e;
  const Lanes second_max = n2 + e * (n3 + 0.5 * e * fourth);
  const Lanes bulge = e * e * (0.5 * n2 + e * ((1.0 / 6.0) * n3 + (1.0 / 24.0) * e * fourth));
  out.size = sqrt(d00) + sqrt(d11) * e + bulge + rounding;

  // |r0 + r1 x + ...|^2 / 2, power by power; the sixth is a square.
  constexpr double margin = 1e-12;  // far above the rounding of these products
  out.value = 0.5 * d00;
  out.slope_s = dot(r0, a.first);
  out.slope_t = -dot(r0, b.first);
  // The roundings of r0 and r1 in this and in the next, which counts for e times as much.
  out.square = 0.5 * (d11 + dot(r0, r2)) - (margin + rounding * (n2 + n3 * e) + 1e-15 * n2 * e);
  out.cube = 0.5 * dot(r1, r2) + (1.0 / 6.0) * dot(r0, r3);
  const Lanes fifth = (1.0 / 12.0) * n2 * n3;
  const Lanes quartic = 0.125 * n2 * n2 + (1.0 / 6.0) * dot(r1, r3);
  const Lanes zero = spread(0.0);
  out.tail = max(zero, -quartic) + fifth * e + (1.0 / 24.0) * out.size * fourth + margin * n2 * n2;

  // dG/dt on the line: second derivative at the centre, and a bound of the third.
  const Lanes bend = -(dot(r2, b.first) + 2.0 * k * dot(r1, b.second) + k2 * dot(r0, b.third));
  const Lanes turn =
      third_max + 3.0 * abs(k) * second_max * b.bend + 3.0 * k2 * first_max * b.twist + k3 * out.size * b.fourth;
  out.drift = 0.5 * abs(bend) + (1.0 / 6.0) * e * turn + margin * (a.bend + b.bend) + rounding * b.twist;

  // A chord of b is at least (2/k) sin(k |y| / 2), and at most near + size for the points of interest.
  constexpr double arcsine = 1.0473;  // asin(z) <= arcsine z up to 1/2
  constexpr double half_turn = 3.1;   // < pi: the sine rises as far as b reaches
  const Lanes chord = near + out.size;
  out.reach = arcsine * chord;
  out.stiffness = 1.0 - b.bend * (out.size + out.reach) - margin;
  out.holds = (b.bend * chord < spread(1.0)) & (b.bend * (length_b + abs(k) * e) < spread(half_turn)) &
              (out.stiffness > spread(least_stiffness));
  return out;
}

/// Of the slopes of four strips: on the line dG/dx = slope_s + along slope_t + 2 square x + 3 cube x^2 + (no more than
/// wander), and |d2G/dsdt + along d2G/dt2| <= lean within `reach` of it.
struct StripSlopes {
  Lanes square;
  Lanes cube;
  Lanes wander;
  Lanes lean;
};

/// Same arguments as make_strips(), whose result is `g`.
TRESSE_HOT StripSlopes strip_slopes(const Vector3& base, const Pieces& a, const Pieces& b, const Strips& g,
                                    double rounding) {
  const Lanes e = a.half;
  const Lanes k = g.along;
  const LaneVector r0 = spread(base) + (a.offset - b.offset);
  const auto [r1, r2, r3, fourth, n2, n3, first_max] = strip_line(k, a, b);
  StripSlopes out;
  out.square = 0.5 * (dot(r1, r1) + dot(r0, r2));
  out.cube = 0.5 * dot(r1, r2) + (1.0 / 6.0) * dot(r0, r3);
  // Of |r0 + r1 x + r2 x^2/2 + r3 x^3/6|^2 / 2 the higher powers, and what the fourth derivative adds.
  const Lanes quartic = abs(0.125 * n2 * n2 + (1.0 / 6.0) * dot(r1, r3));
  const Lanes fourth2 = e * e * e * fourth;
  constexpr double margin = 1e-12;  // far above the rounding of these products
  out.wander = e * e * e * (4.0 * quartic + e * n3 * ((5.0 / 12.0) * n2 + (1.0 / 12.0) * e * n3)) +
               fourth2 * ((1.0 / 24.0) * e * first_max + (1.0 / 6.0) * (g.size + e * fourth2)) +
               2.0 * e * (margin + rounding * (n2 + n3 * e) + 1e-15 * n2 * e);
  // Both second derivatives' changes from the centre, where they cancel.
  const Lanes along_b = abs(k) * e + g.reach;
  out.lean = abs(k) * (b.bend * (first_max * e + g.reach) + g.size * b.twist * along_b) + a.bend * e +
             b.bend * along_b + margin;
  return out;
}

/// Roundings of the slopes of four strips [m]: of a - b, of the tangents, of the valley's direction.
TRESSE_HOT Lanes slope_rounding(const Strips& strips, Lanes half, double rounding) {
  return rounding + 1e-14 * (strips.size + half);
}

/// |a - b| is at least this on each strip, among the points of interest. [m]
TRESSE_HOT Lanes strip_distances(const Strips& g, Lanes e, double rounding) {
  const Lanes zero = spread(0.0);
  const Lanes slope = g.slope_s + g.along * g.slope_t;
  // Off the line G falls by no more than (dG/dt)^2 / (2 stiffness).
  const Lanes side = abs(g.slope_t) + g.drift * e * e + slope_rounding(g, e, rounding);
  const Lanes noise = g.size * (2.0 * rounding + 1e-14 * g.size);
  const Lanes least = g.value + least_parabola(slope * e, g.square * e * e) - e * e * e * (abs(g.cube) + g.tail * e) -
                      0.5 * side * side / g.stiffness - noise;
  return select(g.holds & (least > zero), max(zero, sqrt(2.0 * max(least, zero)) - rounding), zero);
}

/// What bounds the distance on parts of four strips.
struct StripBounds {
  Lanes value, slope, square, cube, tail;  ///< of G on the line; value < 0 where nothing is proved
  Lanes side, drift, stiffness;            ///< of dG/dt off it, and of its slope
  Lanes noise;                             ///< of G [m^2]
};

TRESSE_HOT StripBounds strip_bounds(const Strips& g, Lanes half, double rounding) {
  return {select(g.holds, g.value, spread(-1.0)),
          g.slope_s + g.along * g.slope_t,
          g.square,
          g.cube,
          g.tail,
          abs(g.slope_t) + slope_rounding(g, half, rounding),
          g.drift,
          g.stiffness,
          g.size * (2.0 * rounding + 1e-14 * g.size)};
}

/// As strip_distances(), over the part of the strip of a lane from x = from to x = to. [m]
inline double part_distance(const StripBounds& g, int lane, double from, double to, double rounding) {
  const double slope = g.slope[lane], square = g.square[lane], cube = g.cube[lane];
  const double e = std::max(std::abs(from), std::abs(to));
  const auto parabola = [&](double x) { return x * (slope + x * square); };
  double least = std::min(parabola(from), parabola(to));
  if (square > 0.0) least = parabola(std::clamp(-0.5 * slope / square, from, to));
  const double side = g.side[lane] + g.drift[lane] * e * e;
  least += g.value[lane] + std::min(cube * from * from * from, cube * to * to * to) - g.tail[lane] * e * e * e * e -
           0.5 * side * side / g.stiffness[lane] - g.noise[lane];
  return least > 0.0 ? std::max(0.0, std::sqrt(2.0 * least) - rounding) : 0.0;
}

/// Where a minimum (the centre of a strip, on both curves) is proved to be the least of its strip.
struct Basin {
  double below = 0.0;                                      ///< to this much before the centre [m]
  double above = 0.0;                                      ///< and after it
  double slack = std::numeric_limits<double>::infinity();  ///< but for this much of |a - b|^2 (residual slopes) [m^2]
};

/// The largest basin about the common centre of four strips of any width. `room_below`, `room_above`: how far a goes
/// on to either side; `end_b`: 1 or -1 where the centre is at the end or the beginning of b, else 0.
inline Basin make_basin(const Strips& g, Lanes e, double room_below, double room_above, int end_b, double rounding) {
  const Lanes zero = spread(0.0);
  const double noise = slope_rounding(g, e, rounding)[0] + rounding;
  const double slope_t = g.slope_t[0];
  const bool held = end_b * slope_t < -2.0 * noise;  // b would go on to nearer points, but ends
  const double side = held ? std::abs(slope_t) - noise : 0.0;
  const double rest_t = held ? noise : std::abs(slope_t) + noise;
  const Lanes tail = g.tail + 2.0 * g.drift * g.drift / g.stiffness;
  const auto reach = [&](double slope, Lanes cube, double room, double& slack) {
    if (room <= 0.0) return 0.0;
    const bool rising = slope > 2.0 * noise;
    const double share = rising ? 1.0 : 0.5;  // the other half of the rise makes up for the residual slope
    const LaneMask rises = zero < spread(rising ? 1.0 : -1.0);
    const Lanes fall = max(zero, -cube);
    const auto rise = [&](Lanes z) {
      return g.square * z + min(0.25 * g.stiffness * g.along * g.along * z, spread(0.5 * side) * abs(g.along));
    };
    // (G - value) / z is above this, concave in z and not negative at 0: positive up to where it is.
    const auto least = [&](Lanes z) {
      return (rising ? slope - noise : 0.0) + share * rise(z) - z * z * (fall + tail * z);
    };
    const Lanes widest = min(e, spread(room));
    const Lanes at_widest = least(widest);
    // Else as far as its chord, or that of its quotient by z, stays positive; checked as well.
    const Lanes linear = share * g.square;
    const Lanes start = rising ? spread(slope - noise) : linear;
    const Lanes stop = rising ? at_widest : linear - widest * (fall + tail * widest);
    const Lanes z = select(at_widest >= zero, widest, widest * max(zero, start / (start - stop)) * (1.0 - 1e-9));
    const Lanes good = select(g.holds & (z > zero) & (least(z) >= zero) & ((rise(z) > zero) | rises), z, zero);
    const double rest = std::abs(slope) + noise;
    double best = 0.0;
    double left = 0.0;
    const Lanes residual = rest * rest * good / rise(good);
    for (int i = 0; i < lane_count; ++i)
      if (good[i] > best) best = good[i], left = rising ? 0.0 : residual[i];
    slack = std::max(slack, left);
    return best;
  };
  Basin out;
  double slack = 0.0;
  out.below = reach(-g.slope_s[0], -g.cube, room_below, slack);
  out.above = reach(g.slope_s[0], g.cube, room_above, slack);
  out.slack = slack + 4.0 * rest_t * rest_t / least_stiffness;
  return out;
}

}  // namespace tresse::geometry::detail
