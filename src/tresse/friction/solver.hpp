#pragma once

#include <string>
#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

struct SolverOptions {
  double tolerance = 1e-10;      ///< on the measure below, dimensionless; > 0
  int max_iterations = 2000;     ///< sweeps; >= 1
  /// Which measure stops the solve: the natural map scaled per contact (the `residual` of a run), or the field's common unscaled one.
  enum class Measure { scaled, natural_map } measure = Measure::scaled;
  int check_every = 5;           ///< sweeps between evaluations of the measure; >= 1
};

struct FrictionSolution {
  VectorX impulse;                     ///< r (3n) [N s]
  VectorX velocity;                    ///< u = W r + q recomputed (3n) [m/s]
  Status status = Status::max_iterations;
  int iterations = 0;                  ///< sweeps
  double scaled_error = 0.0;           ///< scaled_error(problem, impulse), recomputed at the end
  double natural_map_error = 0.0;      ///< natural_map_error(problem, impulse), recomputed at the end
  std::vector<double> history;         ///< the stopping measure at each check
  std::vector<int> unsolvable;         ///< contacts whose one-contact problem was proved without solution at the last sweep
};

/// Hybrid Gauss-Seidel: contact by contact, Newton on the Fischer-Burmeister function and, where it fails, the enumerative
/// solver; accelerated by Anderson mixing. @cite daviet2011; bertails2018hdr sec. 3.2.4. `guess` (3n) is the warm start.
[[nodiscard]] FrictionSolution solve_gauss_seidel(const FrictionProblem& problem, const VectorX& guess, const SolverOptions& options);
[[nodiscard]] FrictionSolution solve_gauss_seidel(const FactoredProblem& problem, const VectorX& guess, const SolverOptions& options);

}  // namespace tresse::friction
