#pragma once

#include <array>

#include <tresse/base/types.hpp>

/// Vectors whose components hold a number for each quadrature point of a batch.
namespace tresse::rods::detail {

template <typename Lanes>
using LaneVector = std::array<Lanes, 3>;

template <typename Lanes>
LaneVector<Lanes> zero_lanes() {
  return {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
}

template <typename Lanes>
Vector3 sum(const LaneVector<Lanes>& v) {
  return {v[0].sum(), v[1].sum(), v[2].sum()};
}

template <typename Lanes>
[[gnu::always_inline]] inline void add_cross(const LaneVector<Lanes>& a, const LaneVector<Lanes>& b,
                                             LaneVector<Lanes>& into) {
  into[0] += a[1] * b[2] - a[2] * b[1];
  into[1] += a[2] * b[0] - a[0] * b[2];
  into[2] += a[0] * b[1] - a[1] * b[0];
}

template <typename Lanes>
LaneVector<Lanes> matrix_times(const Matrix3& m, const LaneVector<Lanes>& v) {
  LaneVector<Lanes> out;
  for (int r = 0; r < 3; ++r) out[static_cast<std::size_t>(r)] = v[0] * m(r, 0) + v[1] * m(r, 1) + v[2] * m(r, 2);
  return out;
}

}  // namespace tresse::rods::detail
