#include <tresse/friction/solver.hpp>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/faceted.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction {
namespace {

void validate(const SolverOptions& options) {
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "friction solver: tolerance must be > 0");
  require(options.max_iterations >= 1, "friction solver: max_iterations must be >= 1");
  require(options.check_every >= 1, "friction solver: check_every must be >= 1");
  require(options.anderson_depth >= 0 && options.anderson_depth <= 20,
          "friction solver: anderson_depth must lie in 0..20");
  require(options.newton_contacts >= 0, "friction solver: newton_contacts must be >= 0");
}

/// Each island's share of the squared normaliser: when every island meets half the tolerance with it, the whole does.
template <typename Problem>
double island_floor(const Problem& problem, const VectorX& scales, const SolverOptions& options, std::size_t islands) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < problem.mu.size(); ++i) {
    const double s = options.measure == SolverOptions::Measure::scaled ? scales[i] : 1.0;
    sum += (problem.q.template segment<3>(3 * i) / s).squaredNorm();
  }
  return sum / static_cast<double>(islands);
}

/// sum_k e_k^2 <= t^2 sum_k max(q_k, r_k, u_k, q / m)^2 <= 4 t^2 max(q, r, u)^2. Of a single one too: the error is
/// recomputed at the end, in other units, and must not exceed the tolerance by a rounding.
constexpr double island_share = 0.5;

Status overall_status(const FrictionSolution& solution, const SolverOptions& options, bool no_solution, bool exact) {
  const double error =
      options.measure == SolverOptions::Measure::scaled ? solution.scaled_error : solution.natural_map_error;
  if (!std::isfinite(error)) return Status::not_finite;
  if (no_solution) return Status::no_solution;
  if (error <= options.tolerance) return Status::converged;
  return exact ? Status::stalled : Status::max_iterations;
}

/// A contact that couples to no other: by the fast solvers where they reach rounding, else the nearest to the guess of
/// all its solutions, in the problem's own numbers, which scaling would round.
detail::IslandResult solve_single(const Matrix3& W, const Vector3& q, double mu, double scale,
                                  Eigen::Ref<VectorX> impulse) {
  detail::IslandResult result;
  result.sweeps = 1;
  const PreparedContact prepared = prepare_contact(W, mu);
  Vector3 r = impulse.head<3>();
  double alpha = 0.0;
  if (prepared.fast && solve_contact(prepared, q, LocalSolver::hybrid, alpha, r)) {
    const Vector3 map = natural_map(r * scale, (W * r + q) / scale, mu);
    constexpr double rounding = 1e-14;
    if (map.norm() <= rounding * std::max(q.norm() / scale, r.norm() * scale)) {
      impulse.head<3>() = r;
      result.converged = true;
      return result;
    }
  }
  const ContactSolutions all = enumerate_contact(W, q, mu);
  if (all.count == 0) {
    result.no_solution = all.proved;
    result.unsolvable.push_back(0);
    impulse.setZero();
    return result;
  }
  const auto distance = [guess = Vector3(impulse)](const ContactSolution& s) { return (s.impulse - guess).norm(); };
  const ContactSolution* best =
      std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  impulse = best->impulse;
  result.converged = true;
  return result;
}

/// One island by the wanted method; r as in detail::gauss_seidel_on_island().
template <typename Problem>
detail::IslandResult solve_several(const detail::IslandTask<Problem>& task, Solver solver, VectorX& r) {
  switch (solver) {
    case Solver::alart_curnier_newton:
      return detail::newton_on_island(scaled_island(task), detail::Complementarity::alart_curnier, task.options, r);
    case Solver::fischer_burmeister_newton:
      return detail::newton_on_island(scaled_island(task), detail::Complementarity::fischer_burmeister, task.options,
                                      r);
    case Solver::cadoux:
      return detail::cadoux_on_island(scaled_island(task), task.options, r);
    case Solver::automatic:
      return detail::automatic_on_island(task, r);
    case Solver::hybrid_gauss_seidel:
      break;
  }
  return detail::gauss_seidel_on_island(task, r);
}

void validate(const VectorX& guess, const VectorX& q) {
  require(guess.size() == q.size(), [&] {
    return "friction solver: the guess has " + std::to_string(guess.size()) + " entries, expected " +
           std::to_string(q.size());
  });
  require(guess.allFinite(), "friction solver: the guess holds a number that is not finite");
}

/// What all islands add up to; `results` are used up.
FrictionSolution combined(const std::vector<std::vector<int>>& islands, std::vector<detail::IslandResult>& results) {
  FrictionSolution out;
  out.islands = static_cast<int>(islands.size());
  for (std::size_t k = 0; k < islands.size(); ++k) {
    detail::IslandResult& result = results[k];
    out.newton_steps += result.newton_steps;
    for (const int c : result.unsolvable) out.unsolvable.push_back(islands[k][static_cast<std::size_t>(c)]);
    if (result.sweeps >= out.iterations) {
      out.iterations = result.sweeps;
      out.history = std::move(result.history);
    }
  }
  std::sort(out.unsolvable.begin(), out.unsolvable.end());
  return out;
}

template <typename Problem>
FrictionSolution solve_by(Solver solver, const Problem& problem, const VectorX& guess, const SolverOptions& options) {
  validate(problem);
  validate(options);
  validate(guess, problem.q);
  const std::vector<Matrix3> diagonal = diagonal_blocks(problem);
  const VectorX scales = contact_scales(diagonal);
  const std::vector<std::vector<int>> all = islands(problem);
  const double floor = all.empty() ? 0.0 : island_floor(problem, scales, options, all.size());
  SolverOptions island_options = options;
  island_options.tolerance *= island_share;

  VectorX impulse = guess;
  std::vector<detail::IslandResult> results(all.size());
  tbb::enumerable_thread_specific<std::vector<int>> numbering;
  const auto solve_island = [&](std::size_t k) {
    const std::vector<int>& island = all[k];
    if (island.size() == 1) {
      const int i = island.front();
      results[k] = solve_single(diagonal[static_cast<std::size_t>(i)], problem.q.template segment<3>(3 * i),
                                problem.mu[i], scales[i], impulse.segment<3>(3 * i));
      return;
    }
    // Numbers within the island; what other islands left behind is never read.
    std::vector<int>& local = numbering.local();
    local.resize(detail::scratch_size(problem), -1);
    VectorX r(3 * static_cast<Eigen::Index>(island.size()));
    for (std::size_t c = 0; c < island.size(); ++c)
      r.segment<3>(3 * static_cast<Eigen::Index>(c)) = guess.segment<3>(3 * island[c]) * scales[island[c]];
    results[k] = solve_several<Problem>({problem, diagonal, scales, island, island_options, floor, local}, solver, r);
    for (std::size_t c = 0; c < island.size(); ++c)
      impulse.segment<3>(3 * island[c]) = r.segment<3>(3 * static_cast<Eigen::Index>(c)) / scales[island[c]];
  };
  if (all.size() == 1)
    solve_island(0);  // spares a small problem the scheduler
  else
    tbb::parallel_for(std::size_t{0}, all.size(), solve_island);

  const bool no_solution = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.no_solution; });
  const bool all_stopped = std::all_of(results.begin(), results.end(),
                                       [](const auto& r) { return r.converged || r.no_solution || r.stuck; });
  FrictionSolution out = combined(all, results);
  out.impulse = std::move(impulse);
  out.velocity = velocity(problem, out.impulse);
  const auto error = [&](const VectorX& by) {
    return natural_map_sums(out.impulse, out.velocity, problem.q, problem.mu, by).relative();
  };
  out.scaled_error = error(scales);
  out.natural_map_error = error({});
  out.status = overall_status(out, options, no_solution, all_stopped);
  return out;
}

}  // namespace

std::string_view name(Solver solver) { return solver_names[static_cast<std::size_t>(solver)]; }

std::optional<Solver> solver_of(std::string_view name) {
  const auto* found = std::find(solver_names.begin(), solver_names.end(), name);
  if (found == solver_names.end()) return std::nullopt;
  return static_cast<Solver>(found - solver_names.begin());
}

FrictionSolution solve_gauss_seidel(const FrictionProblem& problem, const VectorX& guess,
                                    const SolverOptions& options) {
  return solve_by(Solver::hybrid_gauss_seidel, problem, guess, options);
}

FrictionSolution solve_gauss_seidel(const FactoredProblem& problem, const VectorX& guess,
                                    const SolverOptions& options) {
  return solve_by(Solver::hybrid_gauss_seidel, problem, guess, options);
}

FrictionSolution solve(const FrictionProblem& problem, const VectorX& guess, const SolverOptions& options) {
  if (options.facets > 0) return solve_faceted(problem, guess, options);
  return solve_by(options.solver, problem, guess, options);
}

FrictionSolution solve(const FactoredProblem& problem, const VectorX& guess, const SolverOptions& options) {
  if (options.facets > 0) return solve_faceted(assembled(problem), guess, options);
  return solve_by(options.solver, problem, guess, options);
}

}  // namespace tresse::friction
