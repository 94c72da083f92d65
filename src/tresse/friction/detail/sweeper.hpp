#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/detail/lanes.hpp>
#include <tresse/friction/detail/largest_share.hpp>
#include <tresse/friction/detail/operators.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>
#include <tresse/friction/detail/sweep_schedule.hpp>
#include <tresse/friction/solver.hpp>

namespace tresse::friction::detail {

/// Some of an island's contacts, ascending, and their schedule where all have one.
struct SomeContacts {
  std::vector<int> contacts;
  SweepSchedule schedule;
};

/// Sweeps over an island and nothing else: in which order contacts are visited, and what becomes of the impulses.
template <SweepOperator Operator>
class Sweeper {
 public:
  using Bodies = typename Operator::Bodies;

  /// `schedule`: of sweeps in groups and on several threads; null: one contact after the other.
  Sweeper(Operator& op, const SolverOptions& options, const IslandSchedule* schedule)
      : y(Bodies::Zero(op.bodies_size())),
        step(3 * op.mu.size()),
        op_(op),
        schedule_(schedule),
        visits_{options.local_solver, sweep_policy.sweeps.near,
                std::vector<double>(static_cast<std::size_t>(op.contacts()), 0.0),
                std::vector<char>(static_cast<std::size_t>(op.contacts()), 0)} {}

  /// Visits every contact once and solves it for the present impulses of the others.
  void sweep() {
    poll_interrupt();
    if (schedule_) {
      visit_in_turns(*schedule_, Visit::first);
    } else {
      for (int i = 0; i < op_.contacts(); ++i) visit({1, {i}}, Visit::first);
    }
  }

  /// Visits some again, within the same sweep.
  void revisit(const SomeContacts& some) {
    if (schedule_) {
      visit_in_turns(some.schedule, Visit::again);
    } else {
      for (const int i : some.contacts) visit({1, {i}}, Visit::again);
    }
  }

  /// For revisit(); the memory of `out` is used again.
  template <typename Iterator>
  void choose(Iterator begin, Iterator end, SomeContacts& out) const {
    out.contacts.assign(begin, end);
    std::sort(out.contacts.begin(), out.contacts.end());
    if (schedule_) out.schedule = schedule_of(*schedule_, out.contacts);
  }

  double step_length();

  /// The contacts that make up a share of the square of the step, at most so many, those that moved farthest first.
  std::vector<int> moved_most(double share, std::size_t most) const {
    std::vector<double> squares(static_cast<std::size_t>(op_.contacts()));
    for (int i = 0; i < op_.contacts(); ++i)
      squares[static_cast<std::size_t>(i)] = step.template segment<3>(3 * i).template cast<double>().squaredNorm();
    return largest_share(squares, share, most);
  }

  /// u from r alone, on all threads as sweeps are.
  void velocities(VectorX& u) {
    op_.velocities(r, u, [&](const auto& each) {
      if (!schedule_) {
        for (int i = 0; i < op_.contacts(); ++i) each(i);
        return;
      }
      turns_.run(*schedule_, [&](const SweepCluster& cluster) {
        for (int g = cluster.begin; g < cluster.end; ++g) {
          const SweepGroup& group = schedule_->groups[static_cast<std::size_t>(g)];
          std::for_each_n(group.contact.begin(), group.count, each);
        }
      });
    });
  }

  /// y counts from where velocities are u.
  void start_from(const VectorX& u) {
    op_.start(u);
    y.setZero();
  }

  /// Whether a contact had no solution of its own at its last visit.
  bool failed(int i) const { return visits_.failed[static_cast<std::size_t>(i)] != 0; }

  VectorX r;    ///< the impulses
  Bodies y;     ///< the operator's; goes with r
  Bodies step;  ///< what the last sweep changed of r

 private:
  enum class Visit { first, again };
  void visit(const SweepGroup& group, Visit which);
  void visit_in_turns(const SweepSchedule& schedule, Visit which) {
    turns_.run(schedule, [&](const SweepCluster& cluster) {
      for (int g = cluster.begin; g < cluster.end; ++g) visit(schedule.groups[static_cast<std::size_t>(g)], which);
    });
  }

  Operator& op_;
  const IslandSchedule* schedule_;
  SweepTurns turns_;
  Visits visits_;
  std::vector<double> squares_;  // of blocks of numbers
};

template <SweepOperator Operator>
void Sweeper<Operator>::visit(const SweepGroup& group, Visit which) {
  GroupImpulses solved;
  op_.solve(group, r, y, visits_, solved);
  for (std::size_t n = 0; n < static_cast<std::size_t>(group.count); ++n) {
    const int i = group.contact[n];
    const Vector3 change = solved[n] - r.segment<3>(3 * i);
    auto its_step = step.template segment<3>(3 * i);
    if (which == Visit::first) its_step.setZero();
    its_step += change.template cast<typename Bodies::Scalar>();
    if (change.isZero(0.0)) continue;
    r.segment<3>(3 * i) = solved[n];
    op_.change(i, change, y);
  }
}

/// |step|.
template <SweepOperator Operator>
double Sweeper<Operator>::step_length() {
  constexpr Eigen::Index block = sweep_policy.sweeps.block;
  squares_.assign(static_cast<std::size_t>((step.size() + block - 1) / block), 0.0);
  for_blocks(step.size(), block, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) {
    squares_[static_cast<std::size_t>(k)] = dot(step.data() + begin, step.data() + begin, end - begin);
  });
  double sum = 0.0;
  for (const double square : squares_) sum += square;
  return std::sqrt(sum);
}

}  // namespace tresse::friction::detail
