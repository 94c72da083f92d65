#include <algorithm>
#include <optional>

#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/detail/island_solver.hpp>
#include <tresse/friction/detail/operators.hpp>

namespace tresse::friction::detail {
namespace {

template <typename Problem>
struct OperatorOf;
template <>
struct OperatorOf<FrictionProblem> {
  using Small = AssembledOperator;
  using Large = AssembledOperator;
  static std::optional<IslandSchedule> schedule(const FrictionProblem&, std::vector<int>&) { return {}; }
};
template <>
struct OperatorOf<FactoredProblem> {
  using Small = FactoredOperator;
  using Large = RoundedOperator;
  static std::optional<IslandSchedule> schedule(const FactoredProblem& problem, std::vector<int>& island) {
    return make_schedule(problem, island);
  }
};

}  // namespace

template <typename Problem>
IslandResult gauss_seidel_on_island(const IslandTask<Problem>& task, VectorX& r) {
  const auto& [problem, diagonal, scales, island, options, floor, local, last] = task;
  if (static_cast<int>(island.size()) < sweep_policy.sweeps.large_island) {
    typename OperatorOf<Problem>::Small op(problem, diagonal, scales, island, local);
    return IslandSolver<typename OperatorOf<Problem>::Small>(op, options, floor, nullptr, last).solve(r);
  }
  std::vector<int> order = island;
  const std::optional<IslandSchedule> schedule = OperatorOf<Problem>::schedule(problem, order);
  std::vector<Eigen::Index> place(order.size());  // in the island, which ascends
  for (std::size_t k = 0; k < order.size(); ++k)
    place[k] = std::lower_bound(island.begin(), island.end(), order[k]) - island.begin();
  VectorX ordered(r.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    ordered.segment<3>(3 * static_cast<Eigen::Index>(k)) = r.segment<3>(3 * place[k]);
  typename OperatorOf<Problem>::Large op(problem, diagonal, scales, order, local);
  IslandResult result =
      IslandSolver<typename OperatorOf<Problem>::Large>(op, options, floor, schedule ? &*schedule : nullptr, last)
          .solve(ordered);
  for (std::size_t k = 0; k < order.size(); ++k)
    r.segment<3>(3 * place[k]) = ordered.segment<3>(3 * static_cast<Eigen::Index>(k));
  for (int& c : result.unsolvable) c = static_cast<int>(place[static_cast<std::size_t>(c)]);
  return result;
}

template IslandResult gauss_seidel_on_island(const IslandTask<FrictionProblem>&, VectorX&);
template IslandResult gauss_seidel_on_island(const IslandTask<FactoredProblem>&, VectorX&);

}  // namespace tresse::friction::detail
