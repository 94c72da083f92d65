#pragma once

#include <tresse/base/status.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// Over impulses, or over the bodies' velocities.
enum class ConvexForm { dual, primal };

struct ConvexOptions {
  double tolerance = 1e-10;            ///< on `error`, dimensionless; > 0
  int max_iterations = 2000;           ///< gradient steps of an island, and Newton steps; >= 1
  ConvexForm form = ConvexForm::dual;  ///< primal: of a factored problem alone
};

struct ConvexSolution {
  VectorX impulse;   ///< r (3n), in the cones to the error [N s]
  VectorX velocity;  ///< W r + q recomputed (3n), in the dual cones to the error [m/s]
  Status status = Status::max_iterations;
  int iterations = 0;          ///< gradient steps of the island that took most
  int newton_steps = 0;        ///< summed over islands
  double error = 0.0;          ///< convex_error(problem, impulse), recomputed at the end
  double dual_energy = 0.0;    ///< r.W r / 2 + q.r, the least at the solution [J]
  double primal_energy = 0.0;  ///< r.W r / 2: with y = X^T r, |y|^2 / 2; minus the other at the solution [J]
};

/// The convex problem min r.W r / 2 + q.r over r_i in K_mu_i, whose optimality conditions are K* > W r + q _|_ r in K:
/// Coulomb's law with u~ = u + mu |u_T| e_N replaced by W r + q. Island by island.
/// Dual form: accelerated projected gradients with restarts [beck2009; odonoghue2015] and a semismooth Newton on
/// r - P_K(r - W r - q), with proximal terms where W is singular. A W that is not symmetric is used whole: then the
/// conditions above are what is solved.
/// Primal form: min |y|^2 / 2 over X y + q in K*, by augmented Lagrangians with a Newton in y, whose systems stay
/// regular however redundant contacts are; where nearly the same contacts contradict each other, so that impulses have
/// to be huge, it ends above tight tolerances. Throws InvalidInput on a problem, guess or option out of range.
/// @cite bertails2018hdr eq. (3.11), (3.12); rockafellar1976
[[nodiscard]] ConvexSolution solve_convex(const FrictionProblem& problem, const VectorX& guess,
                                          const ConvexOptions& options);
[[nodiscard]] ConvexSolution solve_convex(const FactoredProblem& problem, const VectorX& guess,
                                          const ConvexOptions& options);

/// ||r - P_K(r - (W r + q))|| / max(||q||, ||r||, ||W r + q||) after the scaling of `scaled_error`.
double convex_error(const FrictionProblem& problem, const VectorX& impulse);
double convex_error(const FactoredProblem& problem, const VectorX& impulse);

}  // namespace tresse::friction
