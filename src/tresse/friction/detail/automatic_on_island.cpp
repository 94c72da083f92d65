#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {
namespace {

constexpr SweepPolicy::Automatic automatic_policy = sweep_policy.automatic;

/// The iterations and history of one method after another's.
void append(IslandResult& all, IslandResult&& part) {
  const double begin = all.history.empty() ? 0.0 : all.history.back().seconds;
  for (FrictionSolution::Check& check : part.history) {
    check.sweeps += all.sweeps;
    check.seconds += begin;
    all.history.push_back(check);
  }
  all.sweeps += part.sweeps;
  all.newton_steps += part.newton_steps;
  all.converged = part.converged;
  all.stuck = part.stuck;
  all.no_solution = part.no_solution;
  all.unsolvable = std::move(part.unsolvable);
}

/// nu = 3n / m, m the degrees of freedom of the bodies that the island touches; unknown (0) where W alone is given.
/// @cite bertails2011 sec. 4
double redundancy(const IslandTask<FrictionProblem>&) { return 0.0; }

double redundancy(const IslandTask<FactoredProblem>& task) {
  std::vector<int> bodies;
  for (const int i : task.island)
    for (const ContactRows& side : task.problem.contacts[static_cast<std::size_t>(i)])
      if (side.body >= 0) bodies.push_back(side.body);
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  int freedoms = 0;
  for (const int body : bodies)
    freedoms += task.problem.body_begin[static_cast<std::size_t>(body) + 1] -
                task.problem.body_begin[static_cast<std::size_t>(body)];
  return 3.0 * static_cast<double>(task.island.size()) / std::max(1, freedoms);
}

double least_error(const std::vector<FrictionSolution::Check>& history, std::size_t from) {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t k = from; k < history.size(); ++k) out = std::min(out, history[k].error);
  return out;
}

/// A path takes a thousand factorisations and more.
bool path_affordable(const ScaledIsland& island) {
  return island.contacts() <= (island.dense.size() > 0 ? automatic_policy.path_dense : automatic_policy.path_sparse);
}

}  // namespace

template <typename Problem>
IslandResult automatic_on_island(const IslandTask<Problem>& task, VectorX& r) {
  IslandResult all;
  SolverOptions options = task.options;
  const auto left = [&] { return task.options.max_iterations - all.sweeps; };
  const auto sweep = [&](int most) {
    const bool last = most >= left();
    options.max_iterations = std::min(most, left());
    append(all, gauss_seidel_on_island(IslandTask<Problem>{task.problem, task.diagonal, task.scales, task.island,
                                                           options, task.floor, task.local, last},
                                       r));
    return all.converged || all.no_solution || left() <= 0;
  };
  if (sweep(automatic_policy.run)) return all;
  double error = least_error(all.history, 0);
  for (bool falls = true; falls;) {
    const std::size_t before = all.history.size();
    if (sweep(automatic_policy.run)) return all;
    const double now = least_error(all.history, before);
    falls = now < automatic_policy.progress * error;
    error = std::min(error, now);
  }
  const auto follow = [&](int most, const auto& method) {
    options.max_iterations = std::min(most, left());
    if (options.max_iterations <= 0) return true;
    append(all, method());
    return all.converged;
  };
  if (task.island.size() <= automatic_policy.too_many) {
    const ScaledIsland island = scaled_island(task);
    const auto newton = [&](Complementarity function, int most) {
      return follow(most, [&] { return newton_on_island(island, function, options, r); });
    };
    const auto cadoux = [&] { return follow(left(), [&] { return cadoux_on_island(island, options, r); }); };
    const auto path = [&] { return follow(left(), [&] { return path_on_island(island, options, r); }); };
    if (newton(Complementarity::alart_curnier, automatic_policy.newton_steps)) return all;
    if (path_affordable(island)) {
      const int more = std::min(automatic_policy.before_path, left() - automatic_policy.for_path);
      if (more > automatic_policy.run && sweep(more)) return all;
      if (path()) return all;
    }
    // Convex problems stand redundant contacts; Newton's second function is worth more where there are none.
    const bool regular = redundancy(task) <= automatic_policy.well_posed;
    if (newton(Complementarity::alart_curnier, left())) return all;
    if (regular ? newton(Complementarity::fischer_burmeister, left()) || cadoux()
                : cadoux() || newton(Complementarity::fischer_burmeister, left()))
      return all;
  }
  if (left() > 0) sweep(left());
  return all;
}

template IslandResult automatic_on_island(const IslandTask<FrictionProblem>&, VectorX&);
template IslandResult automatic_on_island(const IslandTask<FactoredProblem>&, VectorX&);

}  // namespace tresse::friction::detail
