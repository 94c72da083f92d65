#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/detail/sweeper.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction::detail {

/// An island on its way to the solution, which sweeps and their remedies work on in turn: where its impulses stand, the
/// best of those that were checked, and when to check.
template <SweepOperator Operator>
struct SweptIsland {
  /// `floor`: the least normaliser (sum of squares) of the island's error, so that islands which hardly matter stop.
  SweptIsland(Operator& the_operator, const SolverOptions& its_options, double its_floor,
              const IslandSchedule* schedule)
      : op(the_operator),
        options(its_options),
        floor(its_floor),
        sweeper(the_operator, its_options, schedule),
        progress(its_options, result),
        u(3 * the_operator.mu.size()) {}
  SweptIsland(const SweptIsland&) = delete;
  SweptIsland& operator=(const SweptIsland&) = delete;
  SweptIsland(SweptIsland&&) = delete;
  SweptIsland& operator=(SweptIsland&&) = delete;
  ~SweptIsland() = default;

  int contacts() const { return op.contacts(); }
  bool finished() const { return result.converged || result.sweeps >= options.max_iterations; }
  /// Newton's method takes all of it, on the way.
  bool is_small() const { return contacts() <= options.newton_contacts; }

  void sweep() {
    sweeper.sweep();
    ++result.sweeps;
  }

  double measure();
  /// Evaluates the measure, keeps the best; true when the tolerance is met.
  bool check();
  /// After a check: y counts from where the velocities were computed.
  void restart() {
    sweeper.start_from(u);
    longest = 0.0;
  }
  /// Whether a sweep with a step of this length ought to be checked.
  bool check_due(double length);
  /// Counts sweeps without progress from here.
  void count_from_here() {
    milestone_sweep = result.sweeps;
    milestone = progress.error();
  }
  bool stalls() const { return result.sweeps - milestone_sweep >= sweep_policy.sweeps.patience; }

  /// To impulses of which nothing is known; true when they meet the tolerance.
  bool try_impulses(const VectorX& r) {
    sweeper.r = r;
    const bool done = check();
    restart();
    return done;
  }
  /// To impulses that were checked before.
  void go_to(const VectorX& r) {
    sweeper.r = r;
    if (sweeper.y.size() == 0) return;
    sweeper.velocities(u);
    restart();
  }

  /// W of the whole island, once it is needed.
  const MatrixX& dense();
  /// Of the natural map's norm: a share of the tolerance where the measure is Newton's own, else rounding.
  double newton_target() const {
    return (unscaled ? newton_policy.finest_other : newton_policy.finest * options.tolerance) * op.q.norm();
  }

  Operator& op;
  const SolverOptions& options;
  double floor;
  bool unscaled = options.measure == SolverOptions::Measure::natural_map;
  Sweeper<Operator> sweeper;
  IslandResult result;
  Progress progress;
  VectorX u;                                                   ///< velocities at the last check
  double checked_length = 0.0;                                 ///< of the step at the last check
  double longest = 0.0;                                        ///< step since the last restart
  double milestone = std::numeric_limits<double>::infinity();  ///< error at the last progress
  int milestone_sweep = 0;

 private:
  MatrixX dense_;
};

template <SweepOperator Operator>
double SweptIsland<Operator>::measure() {
  sweeper.velocities(u);
  ErrorSums sums = sum_errors(contacts(), [&](ErrorSums& to, Eigen::Index i) {
    // Unscaled: back to the problem's units.
    const double s = unscaled ? op.scale[i] : 1.0;
    const Vector3 its_r = sweeper.r.template segment<3>(3 * i) / s;
    const Vector3 its_u = u.segment<3>(3 * i) * s;
    to.add(natural_map(its_r, its_u, op.mu[i]), op.q.template segment<3>(3 * i) * s, its_r, its_u);
  });
  sums.q = std::max(sums.q, floor);
  return sums.relative();
}

template <SweepOperator Operator>
bool SweptIsland<Operator>::check() {
  progress.offer(measure(), sweeper.r, result.sweeps);
  if (progress.error() < sweep_policy.sweeps.progress * milestone) count_from_here();
  return result.converged;
}

/// A check costs as much as several sweeps: far above the tolerance, as the length of a sweep's step tells, one of some
/// is made. One is always, and with it a restart, where rounding would soon be seen in the steps.
template <SweepOperator Operator>
bool SweptIsland<Operator>::check_due(double length) {
  constexpr SweepPolicy::Sweeps policy = sweep_policy.sweeps;
  longest = std::max(longest, length);
  const auto due = [&] {
    if (length < policy.seen * Operator::rounding * longest) return true;
    if (result.sweeps % options.check_every != 0) return false;
    if (result.sweeps % (policy.rare_checks * options.check_every) == 0 || !(checked_length > 0.0)) return true;
    return progress.error() * length / checked_length < policy.far * options.tolerance;
  };
  if (!due()) return false;
  checked_length = length;
  return true;
}

template <SweepOperator Operator>
const MatrixX& SweptIsland<Operator>::dense() {
  if (dense_.size() == 0) {
    std::vector<int> all(static_cast<std::size_t>(contacts()));
    std::iota(all.begin(), all.end(), 0);
    op.dense(all, dense_);
  }
  return dense_;
}

}  // namespace tresse::friction::detail
