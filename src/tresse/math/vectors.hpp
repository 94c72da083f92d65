#pragma once

#include <tresse/base/types.hpp>

namespace tresse::math {

/// |v| without overflow or underflow, not a number where v isn't finite. Not Eigen's stableNorm(), whose rounding
/// depends on where v stands in memory.
inline double safe_norm(const Vector3& v) {
  const double size = v.lpNorm<1>();
  return size > 0.0 ? size * (v / size).norm() : size;
}

/// v / |v|; zero for zero, not a number for anything not finite.
inline Vector3 safe_normalized(const Vector3& v) {
  const double size = v.lpNorm<1>();
  return size > 0.0 ? Vector3((v / size).normalized()) : v;
}

}  // namespace tresse::math
