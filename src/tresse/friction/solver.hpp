#pragma once

#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/friction/local_solver.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

struct SolverOptions {
  double tolerance = 1e-10;   ///< on the measure below, dimensionless; > 0
  int max_iterations = 2000;  ///< sweeps over each island; >= 1
  /// Which measure stops the solve: the natural map scaled per contact (the `residual` of a run), or the field's common
  /// unscaled one.
  enum class Measure { scaled, natural_map } measure = Measure::scaled;
  int check_every = 5;  ///< sweeps between evaluations of the measure, four times as many far from the tolerance; >= 1
  LocalSolver local_solver = LocalSolver::hybrid;  ///< how one contact is solved
  int anderson_depth = 5;                          ///< vectors mixed; 0: plain Gauss-Seidel; 0..20
  int newton_contacts = 80;                        ///< islands up to this size are finished by Newton; 0: none; >= 0
};

struct FrictionSolution {
  VectorX impulse;   ///< r (3n) [N s]
  VectorX velocity;  ///< u = W r + q recomputed (3n) [m/s]
  Status status = Status::max_iterations;
  int iterations = 0;              ///< sweeps, of the island that took most
  int newton_steps = 0;            ///< of the small islands' Newton, summed, accepted or not
  int islands = 0;                 ///< solved one by one
  double scaled_error = 0.0;       ///< scaled_error(problem, impulse), recomputed at the end
  double natural_map_error = 0.0;  ///< natural_map_error(problem, impulse), recomputed at the end
  struct Check {
    int sweeps = 0;      ///< done before it
    double error = 0.0;  ///< the stopping measure
  };
  std::vector<Check> history;   ///< of the island that took most sweeps
  std::vector<int> unsolvable;  ///< contacts whose one-contact problem was proved without solution at the last sweep
};

/// Hybrid Gauss-Seidel: contact by contact, a fast local solver and, where it fails, the enumerative solver;
/// accelerated by Anderson mixing of the sweeps; connected components solved one by one, small ones finished by a
/// nonsmooth Newton.
/// @cite daviet2011; bertails2018hdr sec. 3.2.4; walker2011. `guess` (3n) is the warm start.
/// Status::no_solution: a contact that couples to no other was proved without solution. Not converged: the best iterate
/// found, by the stopping measure. The result doesn't depend on the number of threads. Throws InvalidInput on a
/// problem, guess or option out of range.
[[nodiscard]] FrictionSolution solve_gauss_seidel(const FrictionProblem& problem, const VectorX& guess,
                                                  const SolverOptions& options);
[[nodiscard]] FrictionSolution solve_gauss_seidel(const FactoredProblem& problem, const VectorX& guess,
                                                  const SolverOptions& options);

}  // namespace tresse::friction
