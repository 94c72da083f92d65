#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <tresse/friction/detail/anderson.hpp>
#include <tresse/friction/detail/swept_island.hpp>

/// Ways to sweep, each until the tolerance is met or its own end is reached.
namespace tresse::friction::detail {

/// A few contacts settle hundreds of sweeps later than the rest: light ones near clamped roots, or many between the
/// same two fibres. They are known by how far a sweep moves them, and each sweep visits them again.
template <SweepOperator Operator>
class SlowContacts {
 public:
  explicit SlowContacts(SweptIsland<Operator>& island)
      : island_(island),
        wanted_(island.options.anderson_depth > 0 && island.contacts() >= sweep_policy.sweeps.large_island) {}

  /// Later they change little, and long memory serves the mixing better.
  bool choice_due() const {
    const int sweeps = island_.result.sweeps;
    return wanted_ && sweeps % (sweeps <= policy.early ? policy.every : policy.every_later) == 0;
  }
  void choose();
  /// All of a level some times over, and each time on to those of the next.
  void revisit(std::size_t level = 0) {
    if (level == levels_.size() || levels_[level].contacts.empty()) return;
    for (int k = 0; k < policy.times; ++k) {
      island_.sweeper.revisit(levels_[level]);
      revisit(level + 1);
    }
  }

 private:
  static constexpr SweepPolicy::SlowContacts policy = sweep_policy.slow;
  SweptIsland<Operator>& island_;
  bool wanted_;
  std::array<SomeContacts, SweepPolicy::SlowContacts::levels> levels_;  // each within the one before
};

template <SweepOperator Operator>
void SlowContacts<Operator>::choose() {
  double most = policy.part * island_.contacts();
  const std::vector<int> chosen = island_.sweeper.moved_most(policy.share, static_cast<std::size_t>(most));
  for (SomeContacts& level : levels_) {
    const std::size_t count = std::min(chosen.size(), static_cast<std::size_t>(most));
    island_.sweeper.choose(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count), level);
    most *= policy.part;
  }
}

/// Anderson-mixed sweeps, until they stall or `last_sweep`. @cite walker2011
template <SweepOperator Operator>
void mixed_sweeps(SweptIsland<Operator>& island, SlowContacts<Operator>& slow, int last_sweep) {
  VectorX& r = island.sweeper.r;
  auto& y = island.sweeper.y;
  constexpr double unknown = std::numeric_limits<double>::infinity();
  AndersonMixer<typename Operator::Bodies::Scalar> mixer(r, y, island.options.anderson_depth);
  double last_length = unknown;
  island.checked_length = 0.0;
  while (!island.finished() && island.result.sweeps < last_sweep && !island.stalls()) {
    island.sweep();
    if (slow.choice_due()) {
      // With other contacts visited again a sweep is another map: differences of the last one would mislead.
      slow.choose();
      mixer.forget();
      last_length = unknown;
    }
    slow.revisit();
    const double length = island.sweeper.step_length();
    if (island.check_due(length)) {
      if (island.check()) return;
      mixer.shift(y);
      island.restart();
    }
    if (length == 0.0) {
      island.check();
      return;
    }
    if (!(length <= sweep_policy.mixing.astray * last_length)) {
      mixer.restore(r, y);
      last_length = unknown;
      continue;
    }
    last_length = length;
    mixer.advance(r, y, island.sweeper.step);
  }
  mixer.restore(r, y);
}

/// Sweeps extrapolated by Nesterov's rule, restarted where a step lengthens, until `last_sweep`. @cite odonoghue2015
template <SweepOperator Operator>
void nesterov_sweeps(SweptIsland<Operator>& island, SlowContacts<Operator>& slow, int last_sweep) {
  using Bodies = typename Operator::Bodies;
  VectorX& r = island.sweeper.r;
  Bodies& y = island.sweeper.y;
  VectorX previous_r = r;
  Bodies previous_y = y;
  double theta = 1.0;
  double last_length = std::numeric_limits<double>::infinity();
  while (!island.finished() && island.result.sweeps < last_sweep) {
    island.sweep();
    slow.revisit();
    const double length = island.sweeper.step_length();
    if (island.check_due(length)) {
      if (island.check()) return;
      previous_y -= y;
      island.restart();
    }
    if (length > last_length) theta = 1.0;
    last_length = length;
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * theta * theta));
    const double beyond = (theta - 1.0) / next;
    previous_r.swap(r);
    r = previous_r + beyond * (previous_r - r);
    previous_y.swap(y);
    y = previous_y + static_cast<typename Bodies::Scalar>(beyond) * (previous_y - y);
    theta = next;
  }
  r = previous_r;
  y = previous_y;
}

/// Plain sweeps; where they drift steadily (a load that moves between redundant contacts), goes on to the first contact
/// that opens.
template <SweepOperator Operator>
class DriftJumps {
 public:
  void jump(SweptIsland<Operator>& island) {
    constexpr SweepPolicy::Drift policy = sweep_policy.drift;
    VectorX last;
    for (int k = 1; k <= policy.sweeps && !island.finished(); ++k) {
      island.sweep();
      const VectorX step = island.sweeper.step.template cast<double>();
      if (k == policy.sweeps && step.dot(last) / (step.norm() * last.norm()) > policy.cosine) go_on(island, step);
      last = step;
    }
  }

 private:
  void go_on(SweptIsland<Operator>& island, const VectorX& step) {
    const VectorX& r = island.sweeper.r;
    double reach = std::numeric_limits<double>::infinity();
    for (int i = 0; i < island.contacts(); ++i)
      if (step[3 * i] < 0.0 && r[3 * i] > 0.0) reach = std::min(reach, -r[3 * i] / step[3 * i]);
    if (!std::isfinite(reach)) return;
    constexpr auto& share = sweep_policy.drift.reach;
    island.go_to(r + share[jumps_++ % share.size()] * reach * step);
  }

  std::size_t jumps_ = 0;
};

}  // namespace tresse::friction::detail
