#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/status.hpp>
#include <tresse/friction/local_solver.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// The family of solvers behind solve(). Lone contacts (coupled to no other) are solved exactly by all of them, the
/// rest island by island.
enum class Solver {
  hybrid_gauss_seidel,        ///< solve_gauss_seidel(). @cite daviet2011
  alart_curnier_newton,       ///< global semismooth Newton on Alart and Curnier's function. @cite bertails2011
  fischer_burmeister_newton,  ///< the same on the Fischer-Burmeister function of the cone. @cite daviet2011
  cadoux,                     ///< fixed point on s = mu |u_T| over convex problems. @cite acary2011
  path_following,             ///< zeros of the smoothed law, through folds. @cite fukushima2002; allgower1990
  automatic,                  ///< chooses, and changes where one is stuck
};

/// Their names on the command line, in the order of the enumeration.
inline constexpr std::array<std::string_view, 6> solver_names{
    "hybrid-gauss-seidel", "alart-curnier-newton", "fischer-burmeister-newton", "cadoux", "path-following", "auto"};

struct SolverOptions {
  double tolerance = 1e-10;   ///< on the measure below, dimensionless; > 0
  int max_iterations = 2000;  ///< sweeps over each island; >= 1
  /// Which measure stops the solve: the natural map scaled per contact (the `residual` of a run), or the field's common
  /// unscaled one.
  enum class Measure { scaled, natural_map } measure = Measure::scaled;
  int check_every = 5;  ///< sweeps between evaluations of the measure, eight times as many far from the tolerance; >= 1
  LocalSolver local_solver = LocalSolver::hybrid;  ///< how one contact is solved
  int anderson_depth = 5;                          ///< vectors mixed; 0: plain Gauss-Seidel; 0..20
  int newton_contacts = 80;                        ///< islands up to this size are finished by Newton; 0: none; >= 0
  Solver solver = Solver::hybrid_gauss_seidel;     ///< read by solve() alone
  int facets = 0;  ///< >= 3: solve() is solve_faceted(), whose law is not Coulomb's; 0: his cone
};

/// Throws InvalidInput on an option out of range.
void validate(const SolverOptions& options);

struct FrictionSolution {
  VectorX impulse;   ///< r (3n) [N s]
  VectorX velocity;  ///< u = W r + q recomputed (3n) [m/s]
  Status status = Status::max_iterations;
  /// Of the island that took most: sweeps; steps of a global Newton; convex problems of Cadoux's fixed point.
  int iterations = 0;
  int newton_steps = 0;            ///< of Newton's methods, summed over islands, accepted or not
  int islands = 0;                 ///< solved one by one
  double scaled_error = 0.0;       ///< scaled_error(problem, impulse), recomputed at the end
  double natural_map_error = 0.0;  ///< natural_map_error(problem, impulse), recomputed at the end
  struct Check {
    int sweeps = 0;        ///< done before it (of another solver: iterations)
    double error = 0.0;    ///< the stopping measure
    double seconds = 0.0;  ///< since the island was begun
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

/// The same problem by `options.solver`; the meaning of the result, and what is thrown, are those of
/// solve_gauss_seidel(). What does not converge returns the best iterate by the stopping measure.
[[nodiscard]] FrictionSolution solve(const FrictionProblem& problem, const VectorX& guess,
                                     const SolverOptions& options);
[[nodiscard]] FrictionSolution solve(const FactoredProblem& problem, const VectorX& guess,
                                     const SolverOptions& options);

}  // namespace tresse::friction

namespace tresse {

template <>
struct Words<friction::Solver> {
  static constexpr auto& list = friction::solver_names;
};

}  // namespace tresse
