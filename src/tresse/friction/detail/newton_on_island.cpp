#include <algorithm>

#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/detail/newton.hpp>
#include <tresse/friction/detail/path.hpp>

namespace tresse::friction::detail {

IslandResult newton_on_island(const ScaledIsland& island, Complementarity function, const SolverOptions& options,
                              VectorX& r) {
  IslandResult result;
  Progress progress(options, result);
  NewtonSettings settings{.function = function};
  settings.watch = [&](const VectorX& at, const VectorX& u, int steps) {
    return progress.offer(island.measure(at, u), at, result.newton_steps + steps);
  };
  const VectorX start = r;
  if (progress.offer(island.measure(start, island.velocity(start)), start, 0)) return result;
  constexpr int run = 100;  // steps: what takes more isn't on its way
  const auto go = [&](const auto& method, const VectorX& from, int most) {
    settings.max_steps = std::min(most, options.max_iterations - result.newton_steps);
    if (settings.max_steps <= 0) return true;
    VectorX at = from;
    result.newton_steps += method(at);
    return result.converged;
  };
  const auto controlled = [&](VectorX& at) {
    return island.with_matrix([&](const auto& W) { return controlled_newton(W, island.q, island.mu, settings, at); });
  };
  const auto with_proximal_terms = [&](VectorX& at) {
    return island.with_matrix([&](const auto& W) { return proximal(W, island.q, island.mu, settings, at); });
  };
  const VectorX zero = VectorX::Zero(r.size());
  constexpr int many = 600;
  static_cast<void>(go(controlled, start, run) || go(with_proximal_terms, VectorX(progress.best()), many) ||
                    go(with_proximal_terms, start, many) ||
                    (!start.isZero(0.0) && go(with_proximal_terms, zero, many)) ||
                    go(controlled, VectorX(progress.best()), run));
  r = progress.best();
  result.sweeps = result.newton_steps;
  result.stuck = !result.converged && result.sweeps < options.max_iterations;
  return result;
}

IslandResult path_on_island(const ScaledIsland& island, const SolverOptions& options, VectorX& r) {
  IslandResult result;
  Progress progress(options, result);
  if (progress.offer(island.measure(r, island.velocity(r)), r, 0)) return result;
  NewtonSettings settings;
  settings.watch = [&](const VectorX& at, const VectorX& u, int steps) {
    return progress.offer(island.measure(at, u), at, result.newton_steps + steps);
  };
  island.with_matrix([&](const auto& W) {
    // In a run the last step's impulses are mostly near enough, and the path is long.
    constexpr int soon = 20;
    VectorX at = r;
    settings.max_steps = std::min(soon, options.max_iterations);
    result.newton_steps = controlled_newton(W, island.q, island.mu, settings, at);
    settings.max_steps = options.max_iterations - result.newton_steps;
    if (!result.converged) result.newton_steps += follow_path(W, island.q, island.mu, settings, at);
  });
  r = progress.best();
  result.sweeps = result.newton_steps;
  result.stuck = !result.converged && result.sweeps < options.max_iterations;
  return result;
}

}  // namespace tresse::friction::detail
