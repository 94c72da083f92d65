#include <tresse/friction/convex.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/convex_on_island.hpp>
#include <tresse/friction/detail/convex_primal.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction {
namespace {

double relative_error(const VectorX& r, const VectorX& u, const VectorX& q, const VectorX& mu, const VectorX& scales) {
  const auto add = [&](ErrorSums& to, Eigen::Index i) {
    const Vector3 impulse = scales[i] * r.segment<3>(3 * i);
    const Vector3 velocity = u.segment<3>(3 * i) / scales[i];
    to.add(impulse - project_on_cone(impulse - velocity, mu[i]), q.segment<3>(3 * i) / scales[i], impulse, velocity);
  };
  return sum_errors(mu.size(), add).relative();
}

template <typename Problem>
detail::ConvexRun dual(const detail::IslandTask<Problem>& task, double target, int max_steps, VectorX& r) {
  const detail::ScaledIsland island = scaled_island(task);
  return convex_on_island(island, island.q, target, max_steps, r);
}

detail::ConvexRun primal(const detail::IslandTask<FrictionProblem>&, double, int, VectorX&) {
  throw InvalidInput("convex solver: the primal form needs a factored problem");
}

detail::ConvexRun primal(const detail::IslandTask<FactoredProblem>& task, double target, int max_steps, VectorX& r) {
  const FactoredProblem& problem = task.problem;
  const auto n = static_cast<int>(task.island.size());
  std::vector<Eigen::Triplet<double>> entries;
  std::map<int, int> begin;  // of each body of the island, in y
  int columns = 0;
  detail::PrimalProblem out{{}, VectorX(3 * n), VectorX(n)};
  for (int k = 0; k < n; ++k) {
    const int i = task.island[static_cast<std::size_t>(k)];
    const double scale = task.scales[i];
    out.mu[k] = problem.mu[i];
    out.b.segment<3>(3 * k) = problem.q.segment<3>(3 * i) / scale;
    for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(i)]) {
      if (side.body < 0) continue;
      const auto body = static_cast<std::size_t>(side.body);
      const auto [place, fresh] = begin.try_emplace(side.body, columns);
      if (fresh) columns += problem.body_begin[body + 1] - problem.body_begin[body];
      for (int e = 0; e < 3 * side.columns; ++e)
        entries.emplace_back(3 * k + e / side.columns, place->second + e % side.columns,
                             problem.rows[static_cast<std::size_t>(side.offset + e)] / scale);
    }
  }
  out.X.resize(3 * n, columns);
  out.X.setFromTriplets(entries.begin(), entries.end());
  const detail::PrimalRun run = solve_primal(out, target, max_steps, r);
  return {.gradient_steps = 0, .newton_steps = run.newton_steps, .error = run.error};
}

template <typename Problem>
ConvexSolution solve(const Problem& problem, const VectorX& guess, const ConvexOptions& options) {
  validate(problem);
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "convex solver: tolerance must be > 0");
  require(options.max_iterations >= 1, "convex solver: max_iterations must be >= 1");
  require(guess.size() == problem.q.size(), "convex solver: the guess needs one entry for each of q");
  require(guess.allFinite(), "convex solver: the guess holds a number that is not finite");
  const std::vector<Matrix3> diagonal = diagonal_blocks(problem);
  const VectorX scales = contact_scales(diagonal);
  const std::vector<std::vector<int>> all = islands(problem);
  std::vector<int> local(detail::scratch_size(problem), -1);
  constexpr double share = 0.5;  // of the tolerance: the error is recomputed at the end
  const SolverOptions island_options{.tolerance = share * options.tolerance};
  ConvexSolution out;
  out.impulse = guess;
  bool all_reached = true;
  for (const std::vector<int>& list : all) {
    const detail::IslandTask<Problem> task{problem, diagonal, scales, list, island_options, 0.0, local};
    VectorX r(3 * static_cast<Eigen::Index>(list.size()));
    double size = 0.0;
    for (std::size_t c = 0; c < list.size(); ++c) {
      r.segment<3>(3 * static_cast<Eigen::Index>(c)) = guess.segment<3>(3 * list[c]) * scales[list[c]];
      size += (problem.q.template segment<3>(3 * list[c]) / scales[list[c]]).squaredNorm();
    }
    const double target = island_options.tolerance * std::sqrt(size);
    const detail::ConvexRun run = options.form == ConvexForm::primal ? primal(task, target, options.max_iterations, r)
                                                                     : dual(task, target, options.max_iterations, r);
    for (std::size_t c = 0; c < list.size(); ++c)
      out.impulse.segment<3>(3 * list[c]) = r.segment<3>(3 * static_cast<Eigen::Index>(c)) / scales[list[c]];
    out.iterations = std::max(out.iterations, run.gradient_steps);
    out.newton_steps += run.newton_steps;
    all_reached = all_reached && run.error <= target;
  }
  out.velocity = velocity(problem, out.impulse);
  const double load = problem.q.dot(out.impulse);
  out.primal_energy = 0.5 * (out.velocity.dot(out.impulse) - load);
  out.dual_energy = out.primal_energy + load;
  out.error = relative_error(out.impulse, out.velocity, problem.q, problem.mu, scales);
  if (!std::isfinite(out.error)) {
    out.status = Status::not_finite;
  } else if (out.error <= options.tolerance) {
    out.status = Status::converged;
  } else {
    out.status = all_reached ? Status::stalled : Status::max_iterations;
  }
  return out;
}

template <typename Problem>
double error_of(const Problem& problem, const VectorX& impulse) {
  return relative_error(impulse, velocity(problem, impulse), problem.q, problem.mu,
                        contact_scales(diagonal_blocks(problem)));
}

}  // namespace

ConvexSolution solve_convex(const FrictionProblem& problem, const VectorX& guess, const ConvexOptions& options) {
  return solve(problem, guess, options);
}
ConvexSolution solve_convex(const FactoredProblem& problem, const VectorX& guess, const ConvexOptions& options) {
  return solve(problem, guess, options);
}

double convex_error(const FrictionProblem& problem, const VectorX& impulse) { return error_of(problem, impulse); }
double convex_error(const FactoredProblem& problem, const VectorX& impulse) { return error_of(problem, impulse); }

}  // namespace tresse::friction
