#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <tresse/base/hot.hpp>
#include <tresse/base/lanes.hpp>

/// Sines, cosines and Stumpff functions that are inline and quick, for queries that call them tens of times.
namespace tresse::math::quick {

/// Of one number, or of a pack of them.
template <typename T>
struct SineCosine {
  T sine;
  T cosine;
};

/// Sine and cosine of what is left of `angle` in its quadrant, and a number whose lowest bits are that of the quadrant.
/// Cody and Waite's reduction by pi/2 in three parts, then Taylor-like minimax polynomials on [-pi/4, pi/4].
template <typename T>
TRESSE_HOT SineCosine<T> within_quadrant(const T& angle, T& shifted) {
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double half_pi_high = 1.57079632673412561417e+00;  // 33 bits: exact product with a quadrant below 2^20
  constexpr double half_pi_middle = 6.07710050630396597660e-11;
  constexpr double half_pi_low = 2.02226624879595063154e-21;
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to the nearest integer
  shifted = angle * two_over_pi + shifter;
  const T quadrant = shifted - shifter;
  const T x = ((angle - quadrant * half_pi_high) - quadrant * half_pi_middle) - quadrant * half_pi_low;
  const T z = x * x;
  const T z2 = z * z;
  // Estrin's scheme: short dependency chains.
  const T s_low = (-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03) +
                  z2 * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06);
  const T s_high = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
  const T c_low = (4.16666666666666019037e-02 - z * 1.38888888888741095749e-03) +
                  z2 * (2.48015872894767294178e-05 - z * 2.75573143513906633035e-07);
  const T c_high = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11;
  return {x + x * z * (s_low + z2 * z2 * s_high), 1.0 - (0.5 * z - z2 * (c_low + z2 * z2 * c_high))};
}

/// Sine and cosine of `angle` [rad] together, absolute error below 3e-16 for |angle| <= 1e5 (the C library's beyond).
TRESSE_HOT SineCosine<double> sine_cosine(double angle) {
  if (!(std::abs(angle) <= 1e5)) return {std::sin(angle), std::cos(angle)};
  double shifted;
  const auto [sine, cosine] = within_quadrant(angle, shifted);
  const auto index = std::bit_cast<std::int64_t>(shifted);
  const bool odd = (index & 1) != 0;
  const double a = odd ? cosine : sine;
  const double b = odd ? sine : cosine;
  return {(index & 2) != 0 ? -a : a, ((index + 1) & 2) != 0 ? -b : b};
}

/// The same of four angles.
TRESSE_HOT SineCosine<lanes::Doubles> sine_cosine(const lanes::Doubles& angle) {
  using lanes::select;
  SineCosine<lanes::Doubles> out;
  if (lanes::any(lanes::abs(angle) > lanes::spread(1e5))) {
    for (int i = 0; i < lanes::count; ++i) {
      out.sine[i] = std::sin(angle[i]);
      out.cosine[i] = std::cos(angle[i]);
    }
    return out;
  }
  lanes::Doubles shifted;
  const auto [sine, cosine] = within_quadrant(angle, shifted);
  const auto index = std::bit_cast<lanes::Mask>(shifted);
  const lanes::Mask odd = -(index & 1);
  const lanes::Doubles a = select(odd, cosine, sine);
  const lanes::Doubles b = select(odd, sine, cosine);
  return {select(-((index >> 1) & 1), -a, a), select(-(((index + 1) >> 1) & 1), -b, b)};
}

/// The Stumpff functions c_0..c_3 of x >= 0: c_m(x) = sum_k (-x)^k / (2k + m)!.
struct Stumpff {
  double c0, c1, c2, c3;
};

/// c_2 and c_3 by their series, 0 <= x <= 1, for a double or several at once.
template <typename T>
TRESSE_HOT void stumpff_series(const T& x, T& c2, T& c3) {
  constexpr double f3 = 1.0 / 6.0, f5 = 1.0 / 120.0, f7 = 1.0 / 5040.0, f9 = 1.0 / 362880.0, f11 = 1.0 / 39916800.0,
                   f13 = 1.0 / 6227020800.0, f15 = 1.0 / 1307674368000.0, f17 = 1.0 / 355687428096000.0,
                   f19 = 1.0 / 1.21645100408832e17;
  constexpr double f2 = 1.0 / 2.0, f4 = 1.0 / 24.0, f6 = 1.0 / 720.0, f8 = 1.0 / 40320.0, f10 = 1.0 / 3628800.0,
                   f12 = 1.0 / 479001600.0, f14 = 1.0 / 87178291200.0, f16 = 1.0 / 20922789888000.0,
                   f18 = 1.0 / 6402373705728000.0;
  // Estrin's scheme: short dependency chains.
  const T z = x * x;
  const T z2 = z * z;
  c3 = ((f3 - x * f5) + z * (f7 - x * f9)) + z2 * (((f11 - x * f13) + z * (f15 - x * f17)) + z2 * f19);
  c2 = ((f2 - x * f4) + z * (f6 - x * f8)) + z2 * (((f10 - x * f12) + z * (f14 - x * f16)) + z2 * f18);
}

/// Beyond x = 1, trigonometric: nothing cancels there any more.
[[gnu::noinline]] inline Stumpff stumpff_beyond_series(double x) {
  const double t = std::sqrt(x);
  const SineCosine<double> trig = sine_cosine(t);
  const double half = sine_cosine(0.5 * t).sine;
  return {trig.cosine, trig.sine / t, 2.0 * half * half / x, (t - trig.sine) / (t * x)};
}

/// Relative error of each below 1e-15 (c0 absolute): the two highest by series and the others by the recursion
/// c_m = 1/m! - x c_{m+2} up to x = 1.
TRESSE_HOT Stumpff stumpff(double x) {
  if (!(x <= 1.0)) return stumpff_beyond_series(x);
  double c2, c3;
  stumpff_series(x, c2, c3);
  return {1.0 - x * c2, 1.0 - x * c3, c2, c3};
}

}  // namespace tresse::math::quick
