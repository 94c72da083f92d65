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

/// Squared normaliser of the whole problem, of which each island takes its share: when every island meets half the
/// tolerance with it, the whole does. `known`: of q alone; `likely`: if impulses are as large as the guess, too, which
/// the end has to confirm. Where loads hang on long stacks the second is a hundred times the first.
struct Normaliser {
  double known = 0.0, likely = 0.0;
};

template <typename Problem>
Normaliser normaliser(const Problem& problem, const VectorX& guess, const VectorX& scales,
                      const SolverOptions& options) {
  double q = 0.0, r = 0.0;
  for (Eigen::Index i = 0; i < problem.mu.size(); ++i) {
    const double s = options.measure == SolverOptions::Measure::scaled ? scales[i] : 1.0;
    q += (problem.q.template segment<3>(3 * i) / s).squaredNorm();
    r += (guess.segment<3>(3 * i) * s).squaredNorm();
  }
  return {q, std::max(q, r)};
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
detail::IslandResult solve_single(const Matrix3& W, const Vector3& q, double mu, double scale, Vector3& impulse) {
  detail::IslandResult result;
  result.sweeps = 1;
  const PreparedContact prepared = prepare_contact(W, mu);
  Vector3 r = impulse;
  double alpha = 0.0;
  if (prepared.fast && solve_contact(prepared, q, LocalSolver::hybrid, alpha, r)) {
    const Vector3 map = natural_map(r * scale, (W * r + q) / scale, mu);
    constexpr double rounding = 1e-14;
    if (map.norm() <= rounding * std::max(q.norm() / scale, r.norm() * scale)) {
      impulse = r;
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
  const auto distance = [guess = impulse](const ContactSolution& s) { return (s.impulse - guess).norm(); };
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
    case Solver::path_following:
      return detail::path_on_island(scaled_island(task), task.options, r);
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

/// What all islands add up to.
FrictionSolution combined(const std::vector<std::vector<int>>& islands,
                          const std::vector<detail::IslandResult>& results) {
  FrictionSolution out;
  out.islands = static_cast<int>(islands.size());
  const detail::IslandResult* longest = nullptr;
  for (std::size_t k = 0; k < islands.size(); ++k) {
    const detail::IslandResult& result = results[k];
    out.newton_steps += result.newton_steps;
    for (const int c : result.unsolvable) out.unsolvable.push_back(islands[k][static_cast<std::size_t>(c)]);
    if (result.sweeps >= out.iterations) {
      out.iterations = result.sweeps;
      longest = &result;
    }
  }
  if (longest != nullptr) out.history = longest->history;
  std::sort(out.unsolvable.begin(), out.unsolvable.end());
  return out;
}

/// What a second look at an island adds to the first.
void append(detail::IslandResult& all, detail::IslandResult&& part) {
  for (FrictionSolution::Check& check : part.history) {
    check.sweeps += all.sweeps;
    if (!all.history.empty()) check.seconds += all.history.back().seconds;
  }
  part.history.insert(part.history.begin(), all.history.begin(), all.history.end());
  part.sweeps += all.sweeps;
  part.newton_steps += all.newton_steps;
  all = std::move(part);
}

/// One problem on its way: its islands, solved one by one with a given normaliser.
template <typename Problem>
class Islands {
 public:
  Islands(const Problem& problem, const VectorX& guess, const SolverOptions& options)
      : problem_(problem),
        options_(options),
        diagonal_(diagonal_blocks(problem)),
        scales_(contact_scales(diagonal_)),
        islands_(islands(problem)),
        results_(islands_.size()),
        impulse_(guess) {
    options_.tolerance *= island_share;
  }

  /// From the impulses so far.
  void solve(Solver solver, double normaliser) {
    floor_ = islands_.empty() ? 0.0 : normaliser / static_cast<double>(islands_.size());
    if (islands_.size() == 1)
      solve_island(solver, 0);  // spares a small problem the scheduler
    else
      tbb::parallel_for(std::size_t{0}, islands_.size(), [&](std::size_t k) { solve_island(solver, k); });
  }

  /// `options`: of the whole.
  FrictionSolution solution(const SolverOptions& options) const {
    const bool no_solution = std::any_of(results_.begin(), results_.end(), [](const auto& r) { return r.no_solution; });
    const bool all_stopped = std::all_of(results_.begin(), results_.end(),
                                         [](const auto& r) { return r.converged || r.no_solution || r.stuck; });
    FrictionSolution out = combined(islands_, results_);
    out.impulse = impulse_;
    out.velocity = velocity(problem_, out.impulse);
    const auto error = [&](const VectorX& by) {
      return natural_map_sums(out.impulse, out.velocity, problem_.q, problem_.mu, by).relative();
    };
    out.scaled_error = error(scales_);
    out.natural_map_error = error({});
    out.status = overall_status(out, options, no_solution, all_stopped);
    return out;
  }

  const VectorX& scales() const { return scales_; }

 private:
  void solve_island(Solver solver, std::size_t k) {
    const std::vector<int>& island = islands_[k];
    if (island.size() == 1) {
      const int i = island.front();
      if (results_[k].sweeps > 0) return;
      Vector3 r = impulse_.segment<3>(3 * i);
      results_[k] = solve_single(diagonal_[static_cast<std::size_t>(i)], problem_.q.template segment<3>(3 * i),
                                 problem_.mu[i], scales_[i], r);
      impulse_.segment<3>(3 * i) = r;
      return;
    }
    SolverOptions options = options_;
    options.max_iterations -= results_[k].sweeps;
    if (options.max_iterations <= 0) return;
    // Numbers within the island; what other islands left behind is never read.
    std::vector<int>& local = numbering_.local();
    local.resize(detail::scratch_size(problem_), -1);
    VectorX r(3 * static_cast<Eigen::Index>(island.size()));
    for (std::size_t c = 0; c < island.size(); ++c)
      r.segment<3>(3 * static_cast<Eigen::Index>(c)) = impulse_.segment<3>(3 * island[c]) * scales_[island[c]];
    append(results_[k],
           solve_several<Problem>({problem_, diagonal_, scales_, island, options, floor_, local}, solver, r));
    for (std::size_t c = 0; c < island.size(); ++c)
      impulse_.segment<3>(3 * island[c]) = r.segment<3>(3 * static_cast<Eigen::Index>(c)) / scales_[island[c]];
  }

  const Problem& problem_;
  SolverOptions options_;  // the tolerance is an island's
  std::vector<Matrix3> diagonal_;
  VectorX scales_;
  std::vector<std::vector<int>> islands_;
  std::vector<detail::IslandResult> results_;
  tbb::enumerable_thread_specific<std::vector<int>> numbering_;
  VectorX impulse_;
  double floor_ = 0.0;
};

template <typename Problem>
FrictionSolution solve_by(Solver solver, const Problem& problem, const VectorX& guess, const SolverOptions& options) {
  validate(problem);
  validate(options);
  validate(guess, problem.q);
  Islands<Problem> work(problem, guess, options);
  const Normaliser by = normaliser(problem, guess, work.scales(), options);
  work.solve(solver, by.likely);
  FrictionSolution out = work.solution(options);
  if (by.likely > by.known && (out.status == Status::stalled || out.status == Status::max_iterations)) {
    work.solve(solver, by.known);
    out = work.solution(options);
  }
  return out;
}

}  // namespace

void validate(const SolverOptions& options) {
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "friction solver: tolerance must be > 0");
  require(options.max_iterations >= 1, "friction solver: max_iterations must be >= 1");
  require(options.check_every >= 1, "friction solver: check_every must be >= 1");
  require(options.anderson_depth >= 0 && options.anderson_depth <= 20,
          "friction solver: anderson_depth must lie in 0..20");
  require(options.newton_contacts >= 0, "friction solver: newton_contacts must be >= 0");
  require(options.facets == 0 || options.facets >= 3, "friction solver: facets must be 0 or >= 3");
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
  if (options.facets != 0) return solve_faceted(problem, guess, options);
  return solve_by(options.solver, problem, guess, options);
}

FrictionSolution solve(const FactoredProblem& problem, const VectorX& guess, const SolverOptions& options) {
  if (options.facets != 0) return solve_faceted(assembled(problem), guess, options);
  return solve_by(options.solver, problem, guess, options);
}

}  // namespace tresse::friction
