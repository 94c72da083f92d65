#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <tresse/friction/detail/accelerated_sweeps.hpp>
#include <tresse/friction/detail/large_newton.hpp>
#include <tresse/friction/detail/small_newton.hpp>
#include <tresse/friction/detail/swept_island.hpp>

/// What Newton's method does for an island on which sweeps are slow. All return whether the tolerance is met, but for
/// NewtonOnFew.
namespace tresse::friction::detail {

/// On all of a small island.
template <SweepOperator Operator>
class NewtonOnSmall {
 public:
  explicit NewtonOnSmall(SweptIsland<Operator>& island) : island_(island) {}

  /// Improves the warm start of an island of a few contacts in less than a sweep's time.
  bool improve(const VectorX& guess) {
    if (!island_.is_small() || island_.contacts() > policy.warm_contacts || guess.isZero(0.0)) return false;
    if (step_from(guess, policy.lift, policy.warm_steps)) return true;
    island_.go_to(island_.progress.best());
    return false;
  }
  /// Between portions of mixed sweeps, each twice as long as the one before.
  void take_turns_with_sweeps(SlowContacts<Operator>& slow, const VectorX& guess);
  /// With one lift after the other.
  bool step_from_best() {
    if (!island_.is_small()) return false;
    return std::any_of(policy.lifts.begin(), policy.lifts.end(),
                       [&](double lift) { return step_from(island_.progress.best(), lift, policy.steps); }) ||
           step_with_weights();
  }

 private:
  static constexpr SweepPolicy::Small policy = sweep_policy.small;

  bool step_from(const VectorX& start, double lift, int most) {
    VectorX trial = start;
    island_.result.newton_steps +=
        small_newton(island_.dense(), island_.op.q, island_.op.mu, lift, island_.newton_target(), trial, most);
    return island_.try_impulses(trial);
  }
  bool step_with_proximal_terms(const VectorX& guess);
  /// From near the solution.
  bool step_with_weights() {
    if (!(island_.progress.error() < newton_policy.proximal.near)) return false;
    VectorX trial = island_.progress.best();
    island_.result.newton_steps +=
        weighted_proximal_newton(island_.dense(), island_.op.q, island_.op.mu, island_.newton_target(), trial);
    return island_.try_impulses(trial);
  }
  bool sweeps_will_do() const;

  SweptIsland<Operator>& island_;
};

template <SweepOperator Operator>
void NewtonOnSmall<Operator>::take_turns_with_sweeps(SlowContacts<Operator>& slow, const VectorX& guess) {
  if (!island_.is_small()) return;
  bool tried = false;
  for (int patience = policy.first_patience; !island_.finished() && patience <= policy.last_patience; patience *= 2) {
    mixed_sweeps(island_, slow, island_.result.sweeps + patience);
    if (!island_.result.converged) island_.check();
    if (island_.finished()) return;
    if (sweeps_will_do()) continue;
    if (tried ? step_from_best()
              : step_from(island_.progress.best(), policy.lift, policy.steps) || step_with_proximal_terms(guess))
      return;
    tried = true;
  }
}

/// For contacts that are nearly redundant: which of them carry is a choice that neither sweeps nor a step from the
/// wrong side revise. Where sweeps stalled is a wrong side more often than the guess that they set out from.
template <SweepOperator Operator>
bool NewtonOnSmall<Operator>::step_with_proximal_terms(const VectorX& guess) {
  for (const VectorX& start : {guess, VectorX(VectorX::Zero(guess.size())), island_.progress.best()}) {
    VectorX trial = start;
    island_.result.newton_steps +=
        proximal_newton(island_.dense(), island_.op.q, island_.op.mu, island_.newton_target(), trial);
    if (island_.try_impulses(trial) || step_with_weights()) return true;
  }
  return false;
}

/// Whether sweeps, at the rate between the last two checks, reach the tolerance in less time than a dense Newton's
/// method takes.
template <SweepOperator Operator>
bool NewtonOnSmall<Operator>::sweeps_will_do() const {
  const auto& checks = island_.result.history;
  if (checks.size() < 2 || !(island_.progress.error() < policy.trusted_error)) return false;
  const FrictionSolution::Check &last = checks.back(), &before = checks[checks.size() - 2];
  if (last.sweeps <= before.sweeps || !(last.error < before.error)) return false;
  const double rate = std::log(before.error / last.error) / (last.sweeps - before.sweeps);
  return std::log(last.error / island_.options.tolerance) / rate <
         policy.newton_in_sweeps * island_.contacts() * island_.contacts();
}

/// A load that moves between redundant contacts, mostly three or four of the same two fibres, drifts for thousands of
/// sweeps until one of them opens, and the error stays. The contacts that carry a sweep's step are solved together,
/// with the impulses of the others held.
template <SweepOperator Operator>
class NewtonOnFew {
 public:
  explicit NewtonOnFew(SweptIsland<Operator>& island) : island_(island) {}
  /// Whether that helped; not tried twice in a row.
  bool settle() {
    settled_ = !settled_ && try_to();
    return settled_;
  }

 private:
  static constexpr SweepPolicy::Few policy = sweep_policy.few;

  bool try_to();
  /// Those that move, from the impulses of the last check.
  std::vector<int> that_move(std::size_t most) {
    const VectorX before = island_.sweeper.r;
    island_.sweep();
    std::vector<int> few = island_.sweeper.moved_most(policy.share, most);
    island_.sweeper.r = before;
    island_.sweeper.y.setZero();
    return few;
  }

  SweptIsland<Operator>& island_;
  bool settled_ = false;
};

template <SweepOperator Operator>
bool NewtonOnFew<Operator>::try_to() {
  const auto most =
      static_cast<std::size_t>(std::min({policy.most, island_.options.newton_contacts, island_.contacts()}));
  if (most == 0) return false;
  island_.check();
  island_.restart();
  const std::vector<int> few = that_move(most);
  if (few.empty()) return false;
  const auto n = static_cast<Eigen::Index>(few.size());
  const auto at = [&](Eigen::Index k) { return 3 * few[static_cast<std::size_t>(k)]; };
  MatrixX W;
  island_.op.dense(few, W);
  VectorX r(3 * n), q(3 * n), mu(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    r.segment<3>(3 * k) = island_.sweeper.r.template segment<3>(at(k));
    q.segment<3>(3 * k) = island_.u.template segment<3>(at(k));
    mu[k] = island_.op.mu[few[static_cast<std::size_t>(k)]];
  }
  q -= W * r;
  VectorX trial = r;
  island_.result.newton_steps += proximal_newton(W, q, mu, island_.newton_target(), trial);
  const auto error = [&](const VectorX& impulse) {
    const VectorX u = W * impulse + q;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < n; ++k)
      sum += natural_map(impulse.segment<3>(3 * k), u.segment<3>(3 * k), mu[k]).squaredNorm();
    return sum;
  };
  if (!(error(trial) < policy.clearly * error(r))) return false;
  for (Eigen::Index k = 0; k < n; ++k) island_.sweeper.r.template segment<3>(at(k)) = trial.segment<3>(3 * k);
  island_.check();
  island_.restart();
  return true;
}

/// With proximal terms on all of an island that was too large for it on the way, from the best iterate: chains that lie
/// along each other are at the solution in ten steps, or in two from the last time step's impulses, where sweeps take
/// thousands. Without these terms the line search gives up, as their contacts are redundant.
template <SweepOperator Operator>
class NewtonOnLarge {
 public:
  explicit NewtonOnLarge(SweptIsland<Operator>& island) : island_(island) {}

  /// Again only from somewhere much nearer than the last time.
  bool step_from_best() {
    if (!(island_.progress.error() < policy.nearer * tried_error_)) return false;
    tried_error_ = island_.progress.error();
    return steps({.max_steps = affordable(policy.steps), .first_rho = policy.rho}) || step_with_weights();
  }
  /// Once out of sweeps.
  bool finish() {
    return step_from_best() || steps({.max_steps = affordable(policy.last_steps), .first_rho = policy.last_rho}) ||
           step_with_weights();
  }

 private:
  static constexpr SweepPolicy::Large policy = sweep_policy.large;

  const LargeNewton& newton() {
    if (!newton_) newton_.emplace(island_.dense());
    return *newton_;
  }
  int affordable(int most);
  bool steps(NewtonSettings settings);
  /// From near the solution.
  bool step_with_weights() {
    constexpr NewtonPolicy::Proximal proximal = newton_policy.proximal;
    if (!(island_.progress.error() < proximal.near)) return false;
    NewtonSettings settings = weighted_settings();
    settings.max_steps = affordable(settings.max_steps);
    return steps(settings);
  }

  SweptIsland<Operator>& island_;
  std::optional<LargeNewton> newton_;
  double tried_error_ = std::numeric_limits<double>::infinity();  // of what it set out from
};

/// Steps that may be spent, of so many for an island that is cheap: the cost of one grows as n^3 where W fills up; 0
/// where it isn't worth it.
template <SweepOperator Operator>
int NewtonOnLarge<Operator>::affordable(int most) {
  const int unit = island_.options.newton_contacts;
  if (island_.contacts() > policy.most_contacts * unit) return 0;
  const double over = static_cast<double>(island_.contacts()) / (policy.cheap_contacts * unit);
  if (over <= 1.0) return most;
  return newton().is_dense() ? 0 : static_cast<int>(most / (over * over));
}

template <SweepOperator Operator>
bool NewtonOnLarge<Operator>::steps(NewtonSettings settings) {
  if (settings.max_steps <= 0) return false;
  settings.target = island_.newton_target();
  settings.watch = [this](const VectorX& at, const VectorX&, int) {
    island_.sweeper.r = at;
    return island_.check();
  };
  VectorX trial = island_.progress.best();
  island_.result.newton_steps += newton().with_proximal_terms(island_.op.q, island_.op.mu, settings, trial);
  island_.go_to(island_.progress.best());
  return island_.result.converged;
}

}  // namespace tresse::friction::detail
