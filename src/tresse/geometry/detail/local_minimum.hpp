#pragma once

#include <array>

#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry::detail {

/// Minimum of g.x + x.H.x/2 over a rectangle that contains 0; H symmetric positive definite.
struct Quadratic2 {
  double g1, g2, h11, h12, h22;
  double value(double x, double y) const { return g1 * x + g2 * y + 0.5 * (h11 * x * x + h22 * y * y) + h12 * x * y; }
};
struct Step2 {
  double x = 0.0;
  double y = 0.0;
};
inline Step2 minimise_on_rectangle(const Quadratic2& f, Interval xs, Interval ys) {
  const double determinant = f.h11 * f.h22 - f.h12 * f.h12;
  if (determinant > 0.0) {
    const double x = (f.h12 * f.g2 - f.h22 * f.g1) / determinant;
    const double y = (f.h12 * f.g1 - f.h11 * f.g2) / determinant;
    if (x >= xs.begin && x <= xs.end && y >= ys.begin && y <= ys.end) return {x, y};
  }
  Step2 best;
  double least = 0.0;
  const auto offer = [&](double x, double y) {
    const double value = f.value(x, y);
    if (value < least) least = value, best = {x, y};
  };
  // With a fixed parameter the rectangle is an edge, which the same four cover.
  for (const double x : {xs.begin, xs.end}) offer(x, std::clamp(-(f.g2 + f.h12 * x) / f.h22, ys.begin, ys.end));
  for (const double y : {ys.begin, ys.end}) offer(std::clamp(-(f.g1 + f.h12 * y) / f.h11, xs.begin, xs.end), y);
  return best;
}

struct LocalMinimum {
  double s_a = 0.0;
  double s_b = 0.0;
  double distance = 0.0;
  double slope2 = 0.0;  ///< squared norm of the projected gradient of |a - b|^2/2, parameters scaled to unit speed
  CurveJet a, b;        ///< the curves there
};

/// The jet at s, from the one at s - step of the same curve. A helix's goes on by its series, as r'''' = -|w|^2 r'', to
/// rounding while the step turns little, which steps of Newton's method soon do: no sines.
template <CurveEvaluator C>
TRESSE_HOT CurveJet jet_beside(const C& curve, const CurveJet& from, double step, double s) {
  if constexpr (std::same_as<C, HelixEvaluator>) {
    constexpr double small = 1e-5;  // [rad^2] its third power is beyond all digits
    const double turn = curve.rate() * step;
    const double z = turn * turn;
    if (z <= small) {
      const double c0 = 1.0 - z * (1.0 / 2.0 - z * (1.0 / 24.0));
      const double c1 = 1.0 - z * (1.0 / 6.0 - z * (1.0 / 120.0));
      const double c2 = 1.0 / 2.0 - z * (1.0 / 24.0 - z * (1.0 / 720.0));
      const double c3 = 1.0 / 6.0 - z * (1.0 / 120.0);
      const Vector3 third = curve.third_derivative(from.first);
      return {from.offset + step * (from.first + step * (c2 * from.second + (step * c3) * third)),
              from.first + step * (c1 * from.second + (step * c2) * third), c0 * from.second + (step * c1) * third};
    }
  }
  return curve.jet(s);
}

/// Newton's method for G = |a - b|^2/2 on a rectangle of parameters from (s_a, s_b): each step minimises the quadratic
/// model over the rectangle and is halved until G falls. Where the Hessian isn't positive definite, its Gauss-Newton
/// part plus a ridge takes its place. Ends at rounding.
template <CurveEvaluator A, CurveEvaluator B>
LocalMinimum local_minimum(const A& a, Interval ia, const B& b, Interval ib, const Vector3& base, double s_a,
                           double s_b, double resolution) {
  CurveJet ja = a.jet(s_a);
  CurveJet jb = b.jet(s_b);
  Vector3 r = base + (ja.offset - jb.offset);
  double value = r.squaredNorm();
  Quadratic2 f{};
  constexpr int max_iterations = 60;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const double va = ja.first.squaredNorm();
    const double vb = jb.first.squaredNorm();
    f.g1 = r.dot(ja.first);
    f.g2 = -r.dot(jb.first);
    f.h12 = -ja.first.dot(jb.first);
    f.h11 = va + r.dot(ja.second);
    f.h22 = vb - r.dot(jb.second);
    const bool free_a = ia.begin < ia.end;
    const bool free_b = ib.begin < ib.end;
    if (!free_a) f.h11 = 1.0;
    if (!free_b) f.h22 = 1.0;
    if (free_a && free_b && !(f.h11 > 0.0 && f.h22 > 0.0 && f.h11 * f.h22 > f.h12 * f.h12)) {
      f.h11 = va * 1.01 + 1e-300;
      f.h22 = vb * 1.01 + 1e-300;
    } else if (!(f.h11 > 0.0)) {
      f.h11 = va + 1e-300;
    } else if (!(f.h22 > 0.0)) {
      f.h22 = vb + 1e-300;
    }
    Step2 step = minimise_on_rectangle(f, {ia.begin - s_a, ia.end - s_a}, {ib.begin - s_b, ib.end - s_b});
    if (step.x == 0.0 && step.y == 0.0) break;
    // Near the end G no longer shows the progress that its slope still does: that step is taken unless G rises.
    const double size2 = step.x * step.x * va + step.y * step.y * vb;
    const bool last = -2.0 * f.value(step.x, step.y) <= 1e-14 * value || size2 <= resolution * resolution;
    bool moved = false;
    for (int halving = 0; halving < (last ? 1 : 40); ++halving) {
      const double next_a = std::clamp(s_a + step.x, ia.begin, ia.end);
      const double next_b = std::clamp(s_b + step.y, ib.begin, ib.end);
      const CurveJet ka = jet_beside(a, ja, next_a - s_a, next_a);
      const CurveJet kb = jet_beside(b, jb, next_b - s_b, next_b);
      const Vector3 next = base + (ka.offset - kb.offset);
      const double next_value = next.squaredNorm();
      if (next_value < value || (last && next_value <= value * (1.0 + 1e-14))) {
        s_a = next_a, s_b = next_b, ja = ka, jb = kb, r = next, value = next_value;
        moved = true;
        break;
      }
      step.x *= 0.5;
      step.y *= 0.5;
    }
    if (!moved || last) break;
  }
  LocalMinimum out{.s_a = s_a, .s_b = s_b, .distance = std::sqrt(value), .a = ja, .b = jb};
  const auto projected = [](double g, double s, Interval i, double speed2) {
    if (!(i.begin < i.end) || (s <= i.begin && g > 0.0) || (s >= i.end && g < 0.0)) return 0.0;
    return speed2 > 0.0 ? g * g / speed2 : 0.0;
  };
  out.slope2 = projected(r.dot(ja.first), s_a, ia, ja.first.squaredNorm()) +
               projected(-r.dot(jb.first), s_b, ib, jb.first.squaredNorm());
  return out;
}

}  // namespace tresse::geometry::detail
