#pragma once

#include <vector>

namespace tresse::math {

/// Gauss-Legendre rule on [0, 1], exact for polynomials of degree 2n - 1.
struct GaussRule {
  std::vector<double> nodes;    ///< (n) ascending, in (0, 1)
  std::vector<double> weights;  ///< (n) sum 1
};

/// The rule of n points, 1 <= n <= 64, to rounding. Computed once per n, then shared; thread-safe.
const GaussRule& gauss_legendre(int n);

}  // namespace tresse::math
