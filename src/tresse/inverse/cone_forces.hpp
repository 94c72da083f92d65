#pragma once

#include <limits>

#include <tresse/base/status.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/inverse/contact_compliance.hpp>

namespace tresse::inverse {

struct ConeOptions {
  double gamma = 0.0;        ///< > 0, in the unit of W
  double tolerance = 1e-8;   ///< on `error`; > 0
  double first_rho = 1.0;    ///< of contacts that are scaled: small for a guess near the solution; > 0
  int max_iterations = 600;  ///< Newton steps, all; >= 1
};

struct ConeForces {
  VectorX r;                               ///< (3n), in the cones: the best that was met
  Status status = Status::max_iterations;  ///< converged: error <= tolerance
  /// |r - P(r - u)|, P onto the cones, over the largest of |r|, |b|, |u|, all scaled. Recomputed.
  double error = std::numeric_limits<double>::infinity();
  friction::ErrorSums sums;  ///< that `error` is the quotient of
  int iterations = 0;        ///< Newton steps
  int products = 0;          ///< of the conjugate gradients in them
};

/// The convex problem min over r in K_mu of 1/2 r.W r + gamma/2 |r|^2 + b.r, W = S, whose conditions are
/// K* > u = (W + gamma I) r + b _|_ r in K. `b` (3n), `mu` and `guess` not scaled.
/// The method of multipliers: rho/2 |r - c|^2 is added, c the last forces and rho falling. Each such problem is solved
/// in forces s by Newton's method on the convex function whose gradient, measured by W, is s - r(s),
/// r(s) = P((rho c - W s - b) / (gamma + rho)); its line search needs no product with W. The smaller rho, the fewer
/// changes of c: rho grows again where Newton's method takes many steps. @cite rockafellar1976; bertails2018hdr
/// sec. 4.2.3; docs/theory/inverse_assemblies.md
ConeForces solve_cones(const ContactCompliance& compliance, const VectorX& b, const VectorX& mu, VectorX guess,
                       const ConeOptions& options);

}  // namespace tresse::inverse
