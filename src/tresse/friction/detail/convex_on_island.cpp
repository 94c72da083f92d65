#include <tresse/friction/detail/convex_on_island.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/newton.hpp>

namespace tresse::friction::detail {
namespace {

double conic_error(const VectorX& r, const VectorX& u, const VectorX& mu) {
  return map_norm(Complementarity::conic_map, r, u, mu);
}

}  // namespace

int projected_gradients(const ScaledIsland& island, const VectorX& b, double target, int max_steps, VectorX& r) {
  const Eigen::Index n = island.mu.size();
  const auto velocity = [&](const VectorX& at, VectorX& u) {
    island.with_matrix([&](const auto& W) { multiply(W, at, u); });
    u += b;
  };
  // x, its velocity u, and the extrapolated point y with v, which goes along because the velocity is affine.
  VectorX x = r, u, y, v, next(x.size()), next_u, d;
  velocity(x, u);
  double best = conic_error(x, u, island.mu);
  y = x;
  v = u;
  double theta = 1.0;
  double step = 1.0;  // W has mean diagonal one
  constexpr double least_step = 1e-12;
  for (int k = 0; k < max_steps; ++k) {
    poll_interrupt();
    if (best <= target) return k;
    for (;; step *= 0.5) {
      for (Eigen::Index i = 0; i < n; ++i)
        next.segment<3>(3 * i) = project_on_cone(y.segment<3>(3 * i) - step * v.segment<3>(3 * i), island.mu[i]);
      velocity(next, next_u);
      d = next - y;
      if (step * d.dot(next_u - v) <= d.squaredNorm() || step < least_step) break;
    }
    const bool turns = (y - next).dot(next - x) > 0.0;
    const double last = theta;
    theta = turns ? 1.0 : 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * theta * theta));
    const double beyond = turns ? 0.0 : (last - 1.0) / theta;
    y = next + beyond * (next - x);
    v = next_u + beyond * (next_u - u);
    x.swap(next);
    u.swap(next_u);
    const double error = conic_error(x, u, island.mu);
    if (!std::isfinite(error)) return k + 1;
    if (is_better(error, best)) {
      best = error;
      r = x;
    }
  }
  return max_steps;
}

ConvexRun convex_on_island(const ScaledIsland& island, const VectorX& b, double target, int max_steps, VectorX& r) {
  ConvexRun run;
  const auto error = [&] {
    VectorX u = island.velocity(r) - island.q + b;
    run.error = conic_error(r, u, island.mu);
    return run.error <= target;
  };
  if (error()) return run;
  NewtonSettings settings{.function = Complementarity::conic_map, .target = target};
  const auto newton_from_here = [&](const auto& method, int most) {
    settings.max_steps = std::min(most, max_steps - run.newton_steps);
    if (settings.max_steps <= 0) return false;
    run.newton_steps += island.with_matrix([&](const auto& W) { return method(W); });
    return error();
  };
  const auto controlled = [&](const auto& W) { return controlled_newton(W, b, island.mu, settings, r); };
  const auto with_proximal_terms = [&](const auto& W) { return proximal(W, b, island.mu, settings, r); };
  constexpr int a_few = 30, many = 300, gradients = 200;
  if (newton_from_here(controlled, a_few)) return run;
  run.gradient_steps = projected_gradients(island, b, target, std::min(gradients, max_steps), r);
  if (error() || newton_from_here(controlled, a_few) || newton_from_here(with_proximal_terms, many)) return run;
  run.gradient_steps += projected_gradients(island, b, target, max_steps - run.gradient_steps, r);
  error();
  return run;
}

}  // namespace tresse::friction::detail
