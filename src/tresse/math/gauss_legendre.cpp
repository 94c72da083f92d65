#include <array>
#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::math {
namespace {

constexpr int max_points = 64;

struct Legendre {
  long double value;
  long double slope;
};

/// P_n and P_n' by the three-term recurrence, |x| < 1.
Legendre legendre(int n, long double x) {
  long double previous = 1.0L;
  long double value = x;
  for (int k = 2; k <= n; ++k) {
    const long double next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
    previous = value;
    value = next;
  }
  return {value, n * (x * value - previous) / (x * x - 1.0L)};
}

GaussRule make_rule(int n) {
  GaussRule rule;
  rule.nodes.resize(static_cast<std::size_t>(n));
  rule.weights.resize(static_cast<std::size_t>(n));
  const long double pi = 3.141592653589793238462643383279502884L;
  for (int i = 0; i < n; ++i) {
    long double x = -std::cos(pi * (i + 0.75L) / (n + 0.5L));
    for (int iteration = 0; iteration < 8; ++iteration) {
      const Legendre p = legendre(n, x);
      x -= p.value / p.slope;
    }
    const long double slope = legendre(n, x).slope;
    rule.nodes[static_cast<std::size_t>(i)] = static_cast<double>((1.0L + x) / 2.0L);
    rule.weights[static_cast<std::size_t>(i)] = static_cast<double>(1.0L / ((1.0L - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

const GaussRule& gauss_legendre(int n) {
  require(n >= 1 && n <= max_points, "gauss_legendre: number of points outside [1, 64]");
  static const std::array<GaussRule, max_points> rules = [] {
    std::array<GaussRule, max_points> all;
    for (int k = 1; k <= max_points; ++k) all[static_cast<std::size_t>(k - 1)] = make_rule(k);
    return all;
  }();
  return rules[static_cast<std::size_t>(n - 1)];
}

}  // namespace tresse::math
