#pragma once

#include <cmath>
#include <cstring>

#include <tresse/base/lanes.hpp>
#include <tresse/base/types.hpp>
#include <tresse/math/quick_trigonometry.hpp>

namespace tresse::geometry::detail {

using Lanes = lanes::Doubles;
using LaneMask = lanes::Mask;
constexpr int lane_count = lanes::count;
using lanes::abs;
using lanes::any;
using lanes::max;
using lanes::min;
using lanes::select;
using lanes::spread;
using lanes::sqrt;

TRESSE_HOT Lanes clamp(Lanes x, double low, double high) { return min(max(x, spread(low)), spread(high)); }

struct LaneVector {
  Lanes x, y, z;
};
TRESSE_HOT LaneVector spread(const Vector3& v) { return {spread(v.x()), spread(v.y()), spread(v.z())}; }
TRESSE_HOT LaneVector operator+(const LaneVector& a, const LaneVector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TRESSE_HOT LaneVector operator-(const LaneVector& a, const LaneVector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TRESSE_HOT LaneVector operator*(Lanes s, const LaneVector& a) { return {s * a.x, s * a.y, s * a.z}; }
TRESSE_HOT Lanes dot(const LaneVector& a, const LaneVector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// Sines and cosines of four angles, as sine_cosine(); |angle| <= 1e5.
TRESSE_HOT void sines_cosines(Lanes angle, Lanes& sines, Lanes& cosines) {
  if (any(abs(angle) > spread(1e5))) {
    for (int i = 0; i < lane_count; ++i) {
      sines[i] = std::sin(angle[i]);
      cosines[i] = std::cos(angle[i]);
    }
    return;
  }
  const Lanes shifted = angle * 0.63661977236758134308 + 6755399441055744.0;
  const Lanes quadrant = shifted - 6755399441055744.0;
  LaneMask index;  // the low bits of the shifted number are the quadrant
  std::memcpy(&index, &shifted, sizeof(index));
  const Lanes x = ((angle - quadrant * 1.57079632673412561417e+00) - quadrant * 6.07710050630396597660e-11) -
                  quadrant * 2.02226624879595063154e-21;
  const Lanes z = x * x;
  const Lanes z2 = z * z;
  const Lanes s_low = (-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03) +
                      z2 * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06);
  const Lanes s_high = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
  const Lanes sine = x + x * z * (s_low + z2 * z2 * s_high);
  const Lanes c_low = (4.16666666666666019037e-02 - z * 1.38888888888741095749e-03) +
                      z2 * (2.48015872894767294178e-05 - z * 2.75573143513906633035e-07);
  const Lanes c_high = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11;
  const Lanes cosine = 1.0 - (0.5 * z - z2 * (c_low + z2 * z2 * c_high));
  const LaneMask odd = -(index & 1);
  sines = select(-((index >> 1) & 1), -select(odd, cosine, sine), select(odd, cosine, sine));
  cosines = select(-(((index + 1) >> 1) & 1), -select(odd, sine, cosine), select(odd, sine, cosine));
}

}  // namespace tresse::geometry::detail
