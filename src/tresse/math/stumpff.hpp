#pragma once

#include <array>
#include <cstddef>

#include <tresse/base/types.hpp>

namespace tresse::math {

/// The Stumpff functions c_m(x) = sum_k (-x)^k / (2k + m)!: c_0 = cos t, c_1 = sin t / t, c_2 = (1 - cos t) / t^2,
/// c_3 = (t - sin t) / t^3, ... with t = sqrt(x). They carry every closed form of a helix without a small-angle branch:
///   c_m = 1/m! - x c_{m+2},   dc_m/dx = (m c_{m+2} - c_{m+1}) / 2,   d(s^m c_m(s^2 w^2))/ds = s^{m-1} c_{m-1}(s^2
///   w^2).
/// @cite stiefel1971

namespace detail {

constexpr int stumpff_terms = 13;  // x^k m!/(2k+m)! is below 1e-18 at k = 13 for x <= 9 and m >= 4, 1e-16 for m >= 1

constexpr double inverse_factorial(int n) {
  double value = 1.0;
  for (int k = 2; k <= n; ++k) value /= k;
  return value;
}

/// Divisors of the nested form c_m = 1/m! (1 - x/((m+1)(m+2)) (1 - x/((m+3)(m+4)) (...))).
template <int M, int Terms>
constexpr std::array<double, Terms> stumpff_ratios() {
  std::array<double, Terms> ratio{};
  for (int k = 0; k < Terms; ++k)
    ratio[static_cast<std::size_t>(k)] = 1.0 / ((M + 2.0 * k + 1.0) * (M + 2.0 * k + 2.0));
  return ratio;
}

template <int M, int Terms, typename Scalar>
Scalar stumpff_sum(const Scalar& x) {
  constexpr auto ratio = stumpff_ratios<M, Terms>();
  Scalar sum = x * (-ratio[Terms - 1]) + 1.0;
  for (int k = Terms - 2; k >= 0; --k) sum = sum * (x * (-ratio[static_cast<std::size_t>(k)])) + 1.0;
  return sum * inverse_factorial(M);
}

/// c_2 and up from c_0 = cos t and c_1 = sin t / t.
void stumpff_upward(double x, double cosine, double sine_over_t, int count, double* c);

}  // namespace detail

/// Where series and downward recursion give way to trigonometry and upward recursion.
constexpr double stumpff_switch = 9.0;

/// c_0 .. c_{Count-1} by the series of the two highest and downward recursion, without cancellation for |x| <=
/// stumpff_switch. Scalar: double, std::complex<double> (complex step) or an Eigen array of doubles (several points at
/// once).
template <int Count, typename Scalar, int Terms = detail::stumpff_terms>
void stumpff_series(const Scalar& x, std::array<Scalar, Count>& c) {
  static_assert(Count >= 3);
  c[Count - 1] = detail::stumpff_sum<Count - 1, Terms>(x);
  c[Count - 2] = detail::stumpff_sum<Count - 2, Terms>(x);
  for (int m = Count - 3; m >= 0; --m) {
    const auto i = static_cast<std::size_t>(m);
    c[i] = x * (-1.0) * c[i + 2] + detail::inverse_factorial(m);
  }
}

/// c_0 .. c_{Count-1} at x >= 0, to a few roundings of c_m(0).
template <int Count>
std::array<double, Count> stumpff(double x);

/// The same for the angle t = angle + correction >= 0, x = t^2, where `correction` holds what rounding took from
/// `angle`: keeps the phase of a curve of many turns.
template <int Count>
std::array<double, Count> stumpff_of_angle(double angle, double correction);

/// sin and cos(t), t = sqrt(x), as c_1 and c_0 for the trigonometric branch.
void stumpff_trigonometric(double x, int count, double* c);
void stumpff_trigonometric(double angle, double correction, int count, double* c);

template <int Count>
std::array<double, Count> stumpff(double x) {
  std::array<double, Count> c;
  if (x <= stumpff_switch) {
    stumpff_series<Count>(x, c);
  } else {
    stumpff_trigonometric(x, Count, c.data());
  }
  return c;
}

template <int Count>
std::array<double, Count> stumpff_of_angle(double angle, double correction) {
  std::array<double, Count> c;
  if (angle * angle <= stumpff_switch) {
    stumpff_series<Count>(angle * angle, c);
  } else {
    stumpff_trigonometric(angle, correction, Count, c.data());
  }
  return c;
}

}  // namespace tresse::math
