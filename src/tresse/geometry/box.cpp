#include <tresse/geometry/box.hpp>

#include <cmath>
#include <numbers>

#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry {
namespace {

/// The box under construction, in coordinates relative to the curve's origin.
struct Hull {
  Vector3 lower = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 upper = Vector3::Constant(-std::numeric_limits<double>::infinity());
  void add(const Vector3& point) {
    lower = lower.cwiseMin(point);
    upper = upper.cwiseMax(point);
  }
  void add(int axis, double value) {
    lower[axis] = std::min(lower[axis], value);
    upper[axis] = std::max(upper[axis], value);
  }
};

void add_interior(const SegmentEvaluator&, Interval, Hull&) {}

/// Extrema of x(s) = c + p s + A cos(w s) + B sin(w s): w (B cos - A sin) = -p has two solutions a turn,
/// w s = atan2(B, A) + pi/2 -+ acos(p / (w |(A, B)|)) in disguise; the first and the last of each family are the
/// extreme ones, because a family advances by the same amount each turn.
void add_interior(const HelixEvaluator& c, Interval i, Hull& hull) {
  if (!c.turning()) {
    // Less than a radian of turn: each coordinate's slope is a sinusoid plus a constant, with two zeros at most, on
    // each side of the extremum of the slope.
    for (int axis = 0; axis < 3; ++axis) {
      const auto slope = [&](double s) { return c.jet(s).first[axis]; };
      const auto bend = [&](double s) { return c.jet(s).second[axis]; };
      const auto root = [](const auto& f, double low, double high) {
        const bool rising = f(low) < 0.0;
        for (int n = 0; n < 100 && low < high; ++n) {
          const double middle = 0.5 * (low + high);
          if (middle == low || middle == high) break;
          ((f(middle) < 0.0) == rising ? low : high) = middle;
        }
        return 0.5 * (low + high);
      };
      const auto changes = [](const auto& f, double low, double high) { return (f(low) < 0.0) != (f(high) < 0.0); };
      double cuts[3] = {i.begin, i.end, i.end};
      if (changes(bend, i.begin, i.end)) cuts[1] = root(bend, i.begin, i.end);
      for (int n = 0; n < 2; ++n) {
        if (cuts[n] < cuts[n + 1] && changes(slope, cuts[n], cuts[n + 1])) {
          hull.add(axis, c.offset(root(slope, cuts[n], cuts[n + 1]))[axis]);
        }
      }
    }
    return;
  }
  constexpr double turn = 2.0 * std::numbers::pi;
  for (int axis = 0; axis < 3; ++axis) {
    const double cosine = c.cosine_radius()[axis];
    const double sine = c.sine_radius()[axis];
    const double amplitude = c.rate() * std::hypot(cosine, sine);
    const double ratio = c.pitch()[axis] / amplitude;  // of the slope's mean to its swing
    if (!(std::abs(ratio) <= 1.0)) continue;
    // slope = pitch - amplitude sin(w s - phase)
    const double phase = std::atan2(sine, cosine);
    const double angle = std::asin(ratio);
    for (const double family : {phase + angle, phase + std::numbers::pi - angle}) {
      const double first = family + turn * std::ceil((c.rate() * i.begin - family) / turn);
      const double last = family + turn * std::floor((c.rate() * i.end - family) / turn);
      for (const double t : {first, last}) {
        const double s = t / c.rate();
        if (s >= i.begin && s <= i.end) hull.add(axis, c.offset(s)[axis]);
      }
    }
  }
}

void add_interior(const BezierEvaluator& c, Interval i, Hull& hull) {
  for (int axis = 0; axis < 3; ++axis) {
    const double a = 3.0 * c.coefficient(3)[axis];
    const double b = 2.0 * c.coefficient(2)[axis];
    const double d = c.coefficient(1)[axis];
    const double discriminant = b * b - 4.0 * a * d;
    if (discriminant < 0.0) continue;
    const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
    for (const double x : {q / a, d / q}) {
      const double s = 0.5 + x;
      if (s > i.begin && s < i.end) hull.add(axis, c.offset(s)[axis]);
    }
  }
}

/// Pieces short enough for the sagitta to be a thousandth of their length.
void add_interior(const ClothoidEvaluator& c, Interval i, Hull& hull, int depth = 0) {
  const double half = 0.5 * (i.end - i.begin);
  const double sagitta = 0.5 * c.bounds(i).second * half * half;
  constexpr int max_depth = 12;
  if (sagitta > 1e-3 * half && depth < max_depth) {
    const double middle = i.begin + half;
    hull.add(c.offset(middle));
    add_interior(c, {i.begin, middle}, hull, depth + 1);
    add_interior(c, {middle, i.end}, hull, depth + 1);
    return;
  }
  // Every point is within the sagitta of the chord.
  const Vector3 grow = Vector3::Constant(sagitta);
  const Vector3 first = c.offset(i.begin);
  const Vector3 last = c.offset(i.end);
  hull.add(first.cwiseMin(last) - grow);
  hull.add(first.cwiseMax(last) + grow);
}

}  // namespace

Box bounding_box(const Curve& curve, Interval interval) {
  return std::visit(
      [&](const auto& c) -> Box {
        Hull hull;
        hull.add(c.offset(interval.begin));
        hull.add(c.offset(interval.end));
        add_interior(c, interval, hull);
        // Outwards by more than any rounding of offset() and of the sum with the origin.
        constexpr double units = 8.0 * std::numeric_limits<double>::epsilon();
        const double grow = units * (c.size(interval) + c.origin.cwiseAbs().maxCoeff());
        return {c.origin + (hull.lower.array() - grow).matrix(), c.origin + (hull.upper.array() + grow).matrix()};
      },
      prepare(curve));
}

Box quick_box(const PreparedCurve& curve, Interval interval) {
  if (const auto* segment = std::get_if<SegmentEvaluator>(&curve)) {
    const Vector3 first = segment->origin + segment->offset(interval.begin);
    const Vector3 last = segment->origin + segment->offset(interval.end);
    return {first.cwiseMin(last), first.cwiseMax(last)};
  }
  return std::visit(
      [&](const auto& c) -> Box {
        using namespace detail;
        const double half = 0.5 * (interval.end - interval.begin) / lane_count;
        const Pieces p = make_pieces(c, interval.begin + half * Lanes{1.0, 3.0, 5.0, 7.0}, spread(half));
        constexpr double units = 8.0 * std::numeric_limits<double>::epsilon();
        const Lanes grow = p.remainder + units * (c.size(interval) + c.origin.cwiseAbs().maxCoeff());
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
          const auto k = static_cast<std::size_t>(axis);
          const Lanes slope = p.half * p.first[k];
          const Lanes bend = (0.5 * p.half * p.half) * p.second[k];
          const Lanes low = p.offset[k] + least_parabola(slope, bend) - grow;
          const Lanes high = p.offset[k] - least_parabola(-slope, -bend) + grow;
          box.lower[axis] = c.origin[axis] + std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
          box.upper[axis] = c.origin[axis] + std::max(std::max(high[0], high[1]), std::max(high[2], high[3]));
        }
        return box;
      },
      curve);
}

}  // namespace tresse::geometry
