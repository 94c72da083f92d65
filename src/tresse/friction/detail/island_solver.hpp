#pragma once

#include <utility>

#include <tresse/friction/detail/accelerated_sweeps.hpp>
#include <tresse/friction/detail/newton_remedies.hpp>
#include <tresse/friction/detail/swept_island.hpp>

namespace tresse::friction::detail {

/// Gauss-Seidel on one island of several contacts, and what is done where it is slow. The numbers are those of
/// SweepPolicy. Keeps the best iterate.
template <SweepOperator Operator>
class IslandSolver {
 public:
  /// `floor`: the least normaliser (sum of squares) of the island's error. `schedule`: of sweeps in groups and on
  /// several threads; null: one contact after the other. `last`: no other method follows.
  IslandSolver(Operator& op, const SolverOptions& options, double floor, const IslandSchedule* schedule, bool last)
      : island_(op, options, floor, schedule), last_(last) {}

  /// `impulse` (3n, scaled) is the start, and the best iterate on return.
  IslandResult solve(VectorX& impulse) {
    island_.sweeper.r = impulse;
    if (island_.check()) return std::move(island_.result);
    island_.restart();
    if (!on_small_.improve(impulse)) {
      on_small_.take_turns_with_sweeps(slow_, impulse);
      sweep_with_remedies();
      end();
    }
    impulse = island_.progress.best();
    for (int i = 0; i < island_.contacts(); ++i)
      if (island_.sweeper.failed(i)) island_.result.unsolvable.push_back(i);
    return std::move(island_.result);
  }

 private:
  /// What a remedy leaves to do.
  enum class Then { next_remedy, sweep_on, stop };

  // The remedies. Each knows on its own which islands it is meant for.
  Then newton_on_small() { return on_small_.step_from_best() ? Then::stop : Then::next_remedy; }
  Then newton_on_few() { return !island_.is_small() && on_few_.settle() ? Then::sweep_on : Then::next_remedy; }
  Then newton_on_large() { return !island_.is_small() && on_large_.step_from_best() ? Then::stop : Then::next_remedy; }
  Then nesterov() {
    nesterov_sweeps(island_, slow_, island_.result.sweeps + sweep_policy.nesterov_sweeps);
    return island_.finished() ? Then::stop : Then::next_remedy;
  }
  Then jump() {
    jumps_.jump(island_);
    return Then::sweep_on;
  }
  /// In the order in which they are tried.
  static constexpr Then (IslandSolver::*remedies[])() = {&IslandSolver::newton_on_small, &IslandSolver::newton_on_few,
                                                         &IslandSolver::newton_on_large, &IslandSolver::nesterov,
                                                         &IslandSolver::jump};

  /// Mixed sweeps, and wherever they stall one remedy after the other.
  void sweep_with_remedies() {
    Then then = Then::sweep_on;
    while (!island_.finished() && then != Then::stop) {
      island_.count_from_here();
      mixed_sweeps(island_, slow_, island_.options.max_iterations);
      if (island_.finished()) return;
      then = Then::next_remedy;
      for (const auto remedy : remedies)
        if (then == Then::next_remedy) then = (this->*remedy)();
    }
  }

  void end() {
    IslandResult& result = island_.result;
    // Sweeps since the last check count too.
    if (!result.converged && result.history.back().sweeps != result.sweeps) island_.check();
    if (last_ && !result.converged && !island_.is_small()) on_large_.finish();
  }

  SweptIsland<Operator> island_;
  bool last_;
  SlowContacts<Operator> slow_{island_};
  NewtonOnSmall<Operator> on_small_{island_};
  NewtonOnFew<Operator> on_few_{island_};
  NewtonOnLarge<Operator> on_large_{island_};
  DriftJumps<Operator> jumps_;
};

}  // namespace tresse::friction::detail
