#pragma once

#include <chrono>
#include <vector>

#include <tresse/base/best.hpp>
#include <tresse/friction/detail/complementarity.hpp>
#include <tresse/friction/problem.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

/// One island of contacts, between the frame that cuts a problem into islands and the methods that solve one.
namespace tresse::friction::detail {

struct IslandResult {
  int sweeps = 0;  ///< or iterations, as FrictionSolution::iterations
  int newton_steps = 0;
  bool converged = false;
  bool no_solution = false;
  bool stuck = false;  ///< gave up although iterations were left
  std::vector<FrictionSolution::Check> history;
  std::vector<int> unsolvable;  ///< local numbers
};

/// What a method is given. `options`: the tolerance is the island's.
template <typename Problem>
struct IslandTask {
  const Problem& problem;
  const std::vector<Matrix3>& diagonal;
  const VectorX& scales;
  const std::vector<int>& island;  ///< its contacts, ascending
  const SolverOptions& options;
  double floor;             ///< the least normaliser (sum of squares), so that islands which hardly matter stop
  std::vector<int>& local;  ///< scratch_size() numbers, -1 where nothing was written
  bool last = true;         ///< false: another method follows where this one runs out of iterations
};

inline std::size_t scratch_size(const FrictionProblem& problem) { return static_cast<std::size_t>(problem.W.rows); }
inline std::size_t scratch_size(const FactoredProblem& problem) { return problem.body_begin.size(); }

/// An island's problem with W stored, in scaled unknowns r_i s_i, u_i / s_i.
struct ScaledIsland {
  BlockMatrix W;  ///< every diagonal block is stored
  MatrixX dense;  ///< the same where most blocks are filled or there are few; else empty
  VectorX q, mu, scale;
  double floor = 0.0;
  bool unscaled = false;  ///< the measure is of the problem's own units

  int contacts() const { return W.rows; }
  /// Calls solver(matrix) with the form that is quicker to solve with.
  template <typename Do>
  auto with_matrix(const Do& solver) const {
    return dense.size() > 0 ? solver(dense) : solver(W);
  }
  /// The stopping measure at r with the velocity u = W r + q.
  double measure(const VectorX& r, const VectorX& u) const;
  VectorX velocity(const VectorX& r) const;
};

ScaledIsland scaled_island(const IslandTask<FrictionProblem>& task);
ScaledIsland scaled_island(const IslandTask<FactoredProblem>& task);

/// The best iterate of a method so far, and its history.
class Progress {
 public:
  Progress(const SolverOptions& options, IslandResult& result) : options_(options), result_(result) {}
  /// True once the tolerance is met. `error`: the stopping measure at r; `iterations`: done so far.
  bool offer(double error, const VectorX& r, int iterations);
  const VectorX& best() const { return best_.candidate(); }
  double error() const { return best_.error(); }

 private:
  const SolverOptions& options_;
  IslandResult& result_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Best<VectorX> best_;
};

/// Gauss-Seidel with its accelerations. r (3n, scaled) is the start, and the best iterate on return: so for all.
template <typename Problem>
IslandResult gauss_seidel_on_island(const IslandTask<Problem>& task, VectorX& r);

/// Newton's method, controlled, then with proximal terms from the best iterate, from the start and from zero.
IslandResult newton_on_island(const ScaledIsland& island, Complementarity function, const SolverOptions& options,
                              VectorX& r);

/// A few steps of Newton's method, then the zeros of a smoothed law (follow_path()).
IslandResult path_on_island(const ScaledIsland& island, const SolverOptions& options, VectorX& r);

/// Chooses among the others, and goes on from the best iterate with the next where one is stuck.
template <typename Problem>
IslandResult automatic_on_island(const IslandTask<Problem>& task, VectorX& r);

/// Cadoux's fixed point.
IslandResult cadoux_on_island(const ScaledIsland& island, const SolverOptions& options, VectorX& r);

}  // namespace tresse::friction::detail
