#pragma once

#include <tresse/base/types.hpp>

namespace tresse::statics::detail {

struct LeastDistance {
  VectorX point;          ///< y (n)
  VectorX multiplier;     ///< (m) >= 0, y = G^T multiplier
  bool feasible = false;  ///< false: proved empty to rounding, or given up; then `point` means nothing
};

/// The point of least norm with G y >= h; G (m, n). Dual active set: constraints enter one by one, the most violated
/// first, and leave when their multiplier would turn negative; finite, exact to rounding, rows of G may be dependent.
/// @cite goldfarb1983
LeastDistance least_distance(const MatrixX& G, const VectorX& h);

}  // namespace tresse::statics::detail
