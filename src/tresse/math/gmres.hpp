#pragma once

#include <functional>

#include <tresse/base/types.hpp>

namespace tresse::math {

struct GmresResult {
  int iterations = 0;     ///< applications of A
  double residual = 0.0;  ///< |b - A x| / |b|, as the recursion has it; 0 for b = 0
};

/// Solves A x = b from x = 0 by GMRES without restart: A need be neither symmetric nor written out; apply(v, out) sets
/// out = A v. Ends once `residual` is at most `tolerance`, at the latest after `max_iterations`. b and x are (n).
/// Saad, Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7, 1986.
GmresResult gmres(const std::function<void(const VectorX&, VectorX&)>& apply, const VectorX& b, double tolerance,
                  int max_iterations, VectorX& x);

}  // namespace tresse::math
