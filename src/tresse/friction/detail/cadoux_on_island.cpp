#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/anderson.hpp>
#include <tresse/friction/detail/convex_on_island.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {
namespace {

/// s_i = mu_i |u_T,i|.
VectorX slips(const VectorX& u, const VectorX& mu) {
  VectorX s(mu.size());
  for (Eigen::Index i = 0; i < mu.size(); ++i) s[i] = mu[i] * tangential_norm(u.segment<3>(3 * i));
  return s;
}

}  // namespace

IslandResult cadoux_on_island(const ScaledIsland& island, const SolverOptions& options, VectorX& r) {
  constexpr int patience = 60;          // fixed-point steps without halving the error
  constexpr int hopeless = 5;           // convex problems in a row that were not solved: they may have no solution
  constexpr double inner_share = 0.02;  // of how far s still moves
  IslandResult result;
  Progress progress(options, result);
  VectorX u = island.velocity(r);
  if (progress.offer(island.measure(r, u), r, 0)) return result;
  VectorX s = slips(u, island.mu);
  VectorX none(0);
  AndersonMixer<double> mixer(s, none, options.anderson_depth);
  // The measure in the problem's units can ask for more than the scaled one.
  const double finest =
      (island.unscaled ? newton_policy.finest_other : newton_policy.finest * options.tolerance) * island.q.norm();
  double moved = island.q.norm();
  double last = std::numeric_limits<double>::infinity();
  double milestone = std::numeric_limits<double>::infinity();
  int since = 0;
  int failures = 0;
  while (result.sweeps < options.max_iterations && since <= patience && failures < hopeless) {
    VectorX b = island.q;
    for (Eigen::Index i = 0; i < s.size(); ++i) b[3 * i] += s[i];
    const double target = std::max(inner_share * moved, finest);
    constexpr int inner_steps = 2000;
    const ConvexRun run = convex_on_island(island, b, target, inner_steps, r);
    result.newton_steps += run.newton_steps;
    failures = run.error <= target ? 0 : failures + 1;
    ++result.sweeps;
    u = island.velocity(r);
    if (progress.offer(island.measure(r, u), r, result.sweeps)) break;
    VectorX g = slips(u, island.mu);
    const VectorX f = g - s;
    moved = std::min(moved, f.norm());
    if (!std::isfinite(moved)) break;
    if (progress.error() < 0.5 * milestone) {
      milestone = progress.error();
      since = 0;
    } else {
      ++since;
    }
    if (!(f.norm() <= 2.0 * last)) {  // the mix went astray
      mixer.restore(s, none);
      last = std::numeric_limits<double>::infinity();
      continue;
    }
    last = f.norm();
    mixer.advance(g, none, f);
    s = g.cwiseMax(0.0);
  }
  r = progress.best();
  result.stuck = !result.converged && result.sweeps < options.max_iterations;
  return result;
}

}  // namespace tresse::friction::detail
