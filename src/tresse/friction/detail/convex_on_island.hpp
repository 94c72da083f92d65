#pragma once

#include <tresse/friction/detail/island.hpp>

namespace tresse::friction::detail {

struct ConvexRun {
  int gradient_steps = 0;
  int newton_steps = 0;
  double error = 0.0;  ///< norm of r - P_K(r - u)
};

/// K* > W r + b _|_ r in K on a scaled island until the norm of its natural map is at most `target`; r is the start,
/// and the best iterate on return. @cite beck2009; odonoghue2015
ConvexRun convex_on_island(const ScaledIsland& island, const VectorX& b, double target, int max_steps, VectorX& r);

/// Its first part: projected gradients, extrapolated, restarted where they turn against the step; the step length is
/// bisected until the quadratic bound holds. Stops after `max_steps` or at `target`. Returns the steps taken.
int projected_gradients(const ScaledIsland& island, const VectorX& b, double target, int max_steps, VectorX& r);

}  // namespace tresse::friction::detail
