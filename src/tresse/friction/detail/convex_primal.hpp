#pragma once

#include <Eigen/SparseCore>

#include <tresse/base/types.hpp>

namespace tresse::friction::detail {

/// min |y|^2 / 2 over X y + b in K*, the primal form of the convex problem in the bodies' whitened velocities y (m).
struct PrimalProblem {
  Eigen::SparseMatrix<double> X;  ///< (3n, m) scaled
  VectorX b;                      ///< (3n) scaled
  VectorX mu;                     ///< (n)
};

struct PrimalRun {
  int newton_steps = 0;
  double error = 0.0;  ///< norm of r - P_K(r - X X^T r - b)
};

/// Augmented Lagrangians: with r_k fixed, y minimises |y|^2 / 2 + |P_K(r_k - sigma (X y + b))|^2 / (2 sigma), and
/// r_(k+1) is that projection. The Hessian I + sigma X^T DP X is positive definite however redundant the contacts are;
/// it has the size of the velocities. r (3n): the start, and the best iterate on return.
/// @cite rockafellar1976; bertails2018hdr eq. (3.11)
PrimalRun solve_primal(const PrimalProblem& problem, double target, int max_steps, VectorX& r);

}  // namespace tresse::friction::detail
