#include <tresse/math/polynomial.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tresse::math {
namespace {

template <typename Scalar>
struct Polynomial {
  std::array<Scalar, 5> c{};
  int degree = 0;

  Scalar value(Scalar x) const {
    Scalar sum = c[static_cast<std::size_t>(degree)];
    for (int k = degree - 1; k >= 0; --k) sum = sum * x + c[static_cast<std::size_t>(k)];
    return sum;
  }
  Scalar slope(Scalar x) const {
    Scalar sum = 0;
    for (int k = degree; k >= 1; --k) sum = sum * x + Scalar(k) * c[static_cast<std::size_t>(k)];
    return sum;
  }
  /// What rounding may do to value(x).
  Scalar rounding(Scalar x) const {
    Scalar sum = 0;
    for (int k = degree; k >= 0; --k) sum = sum * std::abs(x) + std::abs(c[static_cast<std::size_t>(k)]);
    return Scalar(4) * std::numeric_limits<Scalar>::epsilon() * sum;
  }
};

/// No root lies outside [-bound, bound]: Fujiwara's 2 max |c_k / c_n|^(1/(n-k)), each ratio rounded up to a power of
/// two, which needs no logarithm.
template <typename Scalar>
Scalar root_bound(const Polynomial<Scalar>& p) {
  const Scalar lead = std::abs(p.c[static_cast<std::size_t>(p.degree)]);
  int largest = std::numeric_limits<Scalar>::min_exponent;
  for (int k = 0; k < p.degree; ++k) {
    const Scalar ratio = std::abs(p.c[static_cast<std::size_t>(k)]) / lead;
    if (!std::isfinite(ratio)) return std::numeric_limits<Scalar>::infinity();
    if (ratio == 0) continue;
    const int exponent = std::ilogb(ratio) + 1;  // ratio < 2^exponent
    const int power = p.degree - k;
    largest = std::max(largest, exponent >= 0 ? (exponent + power - 1) / power : -(-exponent / power));
  }
  return std::ldexp(Scalar(2), largest);
}

/// Degree 2, the larger root by the sum that doesn't cancel; a touching root as in roots_of.
template <typename Scalar>
RealRoots<Scalar> quadratic_roots(const Polynomial<Scalar>& p) {
  RealRoots<Scalar> out;
  const Scalar middle = -p.c[1] / (2 * p.c[2]);
  const Scalar at_middle = p.value(middle);
  if (std::abs(at_middle) <= p.rounding(middle)) {
    out.value[0] = middle;
    out.count = 1;
    return out;
  }
  if ((at_middle < 0) == (p.c[2] < 0)) return out;
  const Scalar half = std::sqrt(-at_middle / p.c[2]);
  Scalar large = middle < 0 ? middle - half : middle + half;
  large -= p.value(large) / p.slope(large);
  const Scalar small = p.c[0] / p.c[2] / large;
  out.value = {std::min(large, small), std::max(large, small)};
  out.count = 2;
  return out;
}

/// The root in [low, high], where the values have opposite signs: Newton kept inside the bracket, else bisection.
template <typename Scalar>
Scalar bracketed_root(const Polynomial<Scalar>& p, Scalar low, Scalar high) {
  const bool rising = p.value(low) < 0;
  Scalar x = Scalar(0.5) * (low + high);
  Scalar width = high - low;
  for (int step = 0; step < 300; ++step) {
    const Scalar value = p.value(x);
    if (value == 0) return x;
    ((value < 0) == rising ? low : high) = x;
    Scalar next = x - value / p.slope(x);
    const Scalar new_width = high - low;
    const bool slow = new_width > Scalar(0.5) * width;  // Newton from one side only leaves the bracket wide
    if (!(next > low && next < high) || (slow && step % 3 == 2)) next = low + Scalar(0.5) * new_width;
    width = new_width;
    if (next == x || new_width <= std::numeric_limits<Scalar>::epsilon() * std::abs(x)) return next;
    x = next;
  }
  return x;
}

template <typename Scalar>
RealRoots<Scalar> roots_of(Polynomial<Scalar> p) {
  RealRoots<Scalar> out;
  while (p.degree > 0 && p.c[static_cast<std::size_t>(p.degree)] == 0) --p.degree;
  if (p.degree == 0) return out;
  if (p.degree == 1) {
    out.value[0] = -p.c[0] / p.c[1];
    out.count = std::isfinite(out.value[0]) ? 1 : 0;
    return out;
  }
  if (p.degree == 2 && std::isfinite(p.c[1] / p.c[2]) && std::isfinite(p.c[0] / p.c[2])) return quadratic_roots(p);
  Polynomial<Scalar> derivative;
  derivative.degree = p.degree - 1;
  for (int k = 0; k < p.degree; ++k)
    derivative.c[static_cast<std::size_t>(k)] = Scalar(k + 1) * p.c[static_cast<std::size_t>(k + 1)];
  const RealRoots<Scalar> critical = roots_of(derivative);

  const Scalar bound = root_bound(p);
  if (!std::isfinite(bound)) {  // a lead so small that its root is out of range: the rest decides
    p.c[static_cast<std::size_t>(p.degree)] = 0;
    return roots_of(p);
  }
  std::array<Scalar, 6> knot{};
  int knots = 0;
  knot[static_cast<std::size_t>(knots++)] = -bound;
  for (const Scalar x : critical)
    if (x > -bound && x < bound) knot[static_cast<std::size_t>(knots++)] = x;
  knot[static_cast<std::size_t>(knots++)] = bound;

  const auto add = [&out](Scalar x) {
    if (out.count < 4 && (out.count == 0 || x > out.value[static_cast<std::size_t>(out.count - 1)]))
      out.value[static_cast<std::size_t>(out.count++)] = x;
  };
  const auto vanishes = [&p](Scalar x) { return std::abs(p.value(x)) <= p.rounding(x); };
  for (int k = 0; k + 1 < knots; ++k) {
    const Scalar low = knot[static_cast<std::size_t>(k)];
    const Scalar high = knot[static_cast<std::size_t>(k + 1)];
    const bool low_root = vanishes(low);
    const bool high_root = vanishes(high);
    if (low_root) add(low);
    if (!low_root && !high_root && (p.value(low) < 0) != (p.value(high) < 0)) add(bracketed_root(p, low, high));
    if (high_root && k + 2 == knots) add(high);
  }
  return out;
}

}  // namespace

template <typename Scalar>
RealRoots<Scalar> real_roots(const std::array<Scalar, 5>& coefficients) {
  Scalar largest = 0;
  for (const Scalar c : coefficients) largest = std::max(largest, std::abs(c));
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  Polynomial<Scalar> p;
  p.degree = 4;
  // A power of two, so that scaling is exact.
  const Scalar scale = std::ldexp(Scalar(1), -std::ilogb(largest));
  for (std::size_t k = 0; k < 5; ++k) p.c[k] = coefficients[k] * scale;
  return roots_of(p);
}

template RealRoots<double> real_roots(const std::array<double, 5>&);
template RealRoots<long double> real_roots(const std::array<long double, 5>&);

}  // namespace tresse::math
