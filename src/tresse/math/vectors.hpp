#pragma once

#include <cmath>

#include <tresse/base/types.hpp>

namespace tresse::math {

/// |v| without overflow or underflow, not a number where v isn't finite. Not Eigen's stableNorm(), whose rounding
/// depends on where v stands in memory.
inline double safe_norm(const Vector3& v) {
  const double square = v.squaredNorm();
  if (square > 1e-280 && square < 1e280) return std::sqrt(square);
  const double size = v.lpNorm<1>();
  return size > 0.0 ? size * (v / size).norm() : size;
}

/// v / |v|; zero for zero, not a number for anything not finite.
inline Vector3 safe_normalized(const Vector3& v) {
  const double size = safe_norm(v);
  return size == 0.0 ? v : Vector3(v / size);
}

}  // namespace tresse::math
