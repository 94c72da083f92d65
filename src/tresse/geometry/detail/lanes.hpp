#pragma once

#include <tresse/base/lanes.hpp>
#include <tresse/base/types.hpp>

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

}  // namespace tresse::geometry::detail
