#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <tresse/base/best.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/anderson.hpp>
#include <tresse/friction/detail/island.hpp>
#include <tresse/friction/detail/lanes.hpp>
#include <tresse/friction/detail/large_newton.hpp>
#include <tresse/friction/detail/largest_share.hpp>
#include <tresse/friction/detail/operators.hpp>
#include <tresse/friction/detail/small_newton.hpp>
#include <tresse/friction/detail/sweep_schedule.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

namespace tresse::friction::detail {

/// Contacts from which on an island is large: fewer are solved sooner than threads wake up, their rows are near, and in
/// a tower of 570 the slow contacts are no fewer than the rest.
constexpr int large_island = 1000;

/// Gauss-Seidel on one island of several contacts with its accelerations; `Operator` as in operators.hpp. Keeps the
/// best iterate.
template <typename Operator>
class IslandSolver {
 public:
  /// `floor`: the least normaliser (sum of squares) of the island's error, so that islands which hardly matter stop.
  /// `schedule`: of sweeps in groups and on several threads; null: one contact after the other. `last`: no other method
  /// follows.
  IslandSolver(Operator& op, const SolverOptions& options, double floor, const IslandSchedule* schedule, bool last)
      : op_(op),
        options_(options),
        schedule_(schedule),
        floor_(floor),
        last_(last),
        y_(Bodies::Zero(op.bodies_size())),
        f_(3 * op.mu.size()),
        u_(3 * op.mu.size()),
        unscaled_(options.measure == SolverOptions::Measure::natural_map),
        visits_{options.local_solver, newton_of_sweep,
                std::vector<double>(static_cast<std::size_t>(op.contacts()), 0.0),
                std::vector<char>(static_cast<std::size_t>(op.contacts()), 0)} {}

  /// `impulse` (3n, scaled) is the start, and the best iterate on return.
  IslandResult solve(VectorX& impulse);

 private:
  using Bodies = typename Operator::Bodies;
  using Mixer = AndersonMixer<typename Bodies::Scalar>;

  void take_velocities();
  double measure();
  bool check();
  bool check_due(double length) const;
  void restart();
  void go_to(const VectorX& r);
  double step_length();
  enum class Visit { first, again };
  void visit(const SweepGroup& group, Visit which);
  void visit_in_turns(const SweepSchedule& schedule, Visit which);
  void sweep();
  std::vector<int> moved_most(double share, std::size_t most) const;
  void choose_slow();
  void revisit(std::size_t level);
  const MatrixX& dense();
  bool settle_few();
  static constexpr double newton_of_sweep = 1e-3;  // one Newton step a contact and sweep, once it slides
  static constexpr int few_steps = 6;
  static constexpr int many_steps = 30;
  static constexpr int large_for_newton = 10;  // times what counts as a small island

  bool sweeps_will_do() const;
  bool newton_from(const VectorX& start, double lift, int max_steps);
  bool try_newton(const VectorX& start);
  bool try_proximal(const VectorX& guess);
  const LargeNewton& large_newton();
  int affordable(int steps);
  bool newton_on_large(double first_rho, int steps);
  bool newton_where_stalled();
  void finish();
  /// A tenth of the tolerance where the measure is Newton's own, else rounding.
  double newton_target() const { return (unscaled_ ? 1e-15 : 0.1 * options_.tolerance) * op_.q.norm(); }
  void run(int last_sweep);
  void run_nesterov(int last_sweep);
  void jump_drift();
  bool finished() const { return result_.converged || result_.sweeps >= options_.max_iterations; }

  Operator& op_;
  const SolverOptions& options_;
  const IslandSchedule* schedule_;
  SweepTurns turns_;
  double floor_;
  bool last_;
  VectorX r_;  // the impulses; by the last sweep y_ and f_ go with them
  Bodies y_;   // the operator's
  Bodies f_;   // what the last sweep changed of r_
  Best<VectorX> best_;
  VectorX u_;  // velocities at the last check
  VectorX last_step_;
  MatrixX dense_;
  std::optional<LargeNewton> large_newton_;
  double tried_error_ = std::numeric_limits<double>::infinity();  // of what Newton's method on all set out from
  bool unscaled_;
  Visits visits_;
  struct SlowContacts {
    std::vector<int> contacts;  // ascending
    SweepSchedule schedule;     // where all have one
  };
  std::array<SlowContacts, 3> slow_;                            // each within the one before
  std::vector<double> squares_;                                 // of blocks of numbers
  double checked_length_ = 0.0;                                 // of the step at the last check
  double longest_ = 0.0;                                        // step since the last restart
  double milestone_ = std::numeric_limits<double>::infinity();  // error at the last halving
  int milestone_sweep_ = 0;
  int jumps_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  IslandResult result_;
};

/// u_ from r_, on all threads as sweeps are.
template <typename Operator>
void IslandSolver<Operator>::take_velocities() {
  op_.velocities(r_, u_, [&](const auto& each) {
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

template <typename Operator>
double IslandSolver<Operator>::measure() {
  take_velocities();
  ErrorSums sums = sum_errors(op_.contacts(), [&](ErrorSums& to, Eigen::Index i) {
    // Unscaled: back to the problem's units.
    const double s = unscaled_ ? op_.scale[i] : 1.0;
    const Vector3 r = r_.segment<3>(3 * i) / s;
    const Vector3 u = u_.segment<3>(3 * i) * s;
    to.add(natural_map(r, u, op_.mu[i]), op_.q.template segment<3>(3 * i) * s, r, u);
  });
  sums.q = std::max(sums.q, floor_);
  return sums.relative();
}

/// Evaluates the measure, keeps the best; true when the tolerance is met.
template <typename Operator>
bool IslandSolver<Operator>::check() {
  const double error = measure();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
  result_.history.push_back({result_.sweeps, error, time.count()});
  best_.offer(error, r_);
  if (best_.error() < 0.5 * milestone_) {
    milestone_ = best_.error();
    milestone_sweep_ = result_.sweeps;
  }
  result_.converged = best_.error() <= options_.tolerance;
  return result_.converged;
}

/// After a check: y counts from where the velocities were computed.
template <typename Operator>
void IslandSolver<Operator>::restart() {
  op_.start(u_);
  y_.setZero();
  longest_ = 0.0;
}

template <typename Operator>
void IslandSolver<Operator>::go_to(const VectorX& r) {
  r_ = r;
  if (y_.size() == 0) return;
  take_velocities();
  restart();
}

template <typename Operator>
void IslandSolver<Operator>::visit(const SweepGroup& group, Visit which) {
  GroupImpulses r;
  op_.solve(group, r_, y_, visits_, r);
  for (std::size_t n = 0; n < static_cast<std::size_t>(group.count); ++n) {
    const int i = group.contact[n];
    const Vector3 change = r[n] - r_.segment<3>(3 * i);
    auto step = f_.template segment<3>(3 * i);
    if (which == Visit::first) step.setZero();
    step += change.template cast<typename Bodies::Scalar>();
    if (change.isZero(0.0)) continue;
    r_.segment<3>(3 * i) = r[n];
    op_.change(i, change, y_);
  }
}

template <typename Operator>
void IslandSolver<Operator>::visit_in_turns(const SweepSchedule& schedule, Visit which) {
  turns_.run(schedule, [&](const SweepCluster& cluster) {
    for (int g = cluster.begin; g < cluster.end; ++g) visit(schedule.groups[static_cast<std::size_t>(g)], which);
  });
}

template <typename Operator>
void IslandSolver<Operator>::sweep() {
  poll_interrupt();
  if (schedule_) {
    visit_in_turns(*schedule_, Visit::first);
  } else {
    for (int i = 0; i < op_.contacts(); ++i) visit({1, {i}}, Visit::first);
  }
  ++result_.sweeps;
}

/// The contacts that make up a share of the square of the last step, at most so many, those that moved farthest first.
template <typename Operator>
std::vector<int> IslandSolver<Operator>::moved_most(double share, std::size_t most) const {
  std::vector<double> squares(static_cast<std::size_t>(op_.contacts()));
  for (int i = 0; i < op_.contacts(); ++i)
    squares[static_cast<std::size_t>(i)] = f_.template segment<3>(3 * i).template cast<double>().squaredNorm();
  return largest_share(squares, share, most);
}

/// A few contacts settle hundreds of sweeps later than the rest: light ones near clamped roots, or many between the
/// same two fibres. They are known by how far a sweep moves them.
template <typename Operator>
void IslandSolver<Operator>::choose_slow() {
  constexpr double share = 0.999;  // of the square of the step: who makes up the rest needs no more visits
  constexpr double part = 0.2;     // of the contacts of the level before, at most
  double most = part * op_.contacts();
  const std::vector<int> chosen = moved_most(share, static_cast<std::size_t>(most));
  for (SlowContacts& level : slow_) {
    const std::size_t count = std::min(chosen.size(), static_cast<std::size_t>(most));
    level.contacts.assign(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(level.contacts.begin(), level.contacts.end());
    if (schedule_) level.schedule = schedule_of(*schedule_, level.contacts);
    most *= part;
  }
}

/// Twice over the slow contacts of a level, and each time on to those of the next.
template <typename Operator>
void IslandSolver<Operator>::revisit(std::size_t level) {
  if (level == slow_.size() || slow_[level].contacts.empty()) return;
  const SlowContacts& set = slow_[level];
  constexpr int times = 2;
  for (int k = 0; k < times; ++k) {
    if (schedule_) {
      visit_in_turns(set.schedule, Visit::again);
    } else {
      for (const int i : set.contacts) visit({1, {i}}, Visit::again);
    }
    revisit(level + 1);
  }
}

/// W of the whole island, once it is needed.
template <typename Operator>
const MatrixX& IslandSolver<Operator>::dense() {
  if (dense_.size() == 0) {
    std::vector<int> all(static_cast<std::size_t>(op_.contacts()));
    std::iota(all.begin(), all.end(), 0);
    op_.dense(all, dense_);
  }
  return dense_;
}

template <typename Operator>
bool IslandSolver<Operator>::try_newton(const VectorX& start) {
  if (op_.contacts() > options_.newton_contacts) return false;
  constexpr double lifts[] = {1e-10, 1e-13, 0.0, 1e-7};
  for (const double lift : lifts) {
    if (newton_from(start, lift, many_steps)) return true;
  }
  return false;
}

template <typename Operator>
bool IslandSolver<Operator>::newton_from(const VectorX& start, double lift, int max_steps) {
  VectorX trial = start;
  result_.newton_steps += small_newton(dense(), op_.q, op_.mu, lift, newton_target(), trial, max_steps);
  r_ = trial;
  const bool done = check();
  restart();
  return done;
}

/// For contacts that are nearly redundant: which of them carry is a choice that neither sweeps nor a step from the
/// wrong side revise. Where sweeps stalled is a wrong side more often than the guess that they set out from.
template <typename Operator>
bool IslandSolver<Operator>::try_proximal(const VectorX& guess) {
  for (const VectorX& start : {guess, VectorX(VectorX::Zero(guess.size())), best_.candidate()}) {
    VectorX trial = start;
    result_.newton_steps += proximal_newton(dense(), op_.q, op_.mu, newton_target(), trial);
    r_ = trial;
    const bool done = check();
    restart();
    if (done) return true;
  }
  return false;
}

template <typename Operator>
const LargeNewton& IslandSolver<Operator>::large_newton() {
  if (!large_newton_) large_newton_.emplace(dense());
  return *large_newton_;
}

/// Newton steps that may be spent on all of an island, of so many for one of 400 contacts: the cost of one grows as n^3
/// where W fills up; 0 where it isn't worth it.
template <typename Operator>
int IslandSolver<Operator>::affordable(int steps) {
  if (op_.contacts() > large_for_newton * options_.newton_contacts) return 0;
  const double over = 2.0 * op_.contacts() / (large_for_newton * options_.newton_contacts);
  if (over <= 1.0) return steps;
  return large_newton().is_dense() ? 0 : static_cast<int>(steps / (over * over));
}

/// Newton's method with proximal terms on all of an island that was too large for it on the way, from the best iterate:
/// chains that lie along each other are at the solution in ten steps, or in two from the last time step's impulses,
/// where sweeps take thousands. Without these terms the line search gives up, as their contacts are redundant.
template <typename Operator>
bool IslandSolver<Operator>::newton_on_large(double first_rho, int steps) {
  if (steps <= 0) return false;
  NewtonSettings settings{.target = newton_target(), .max_steps = steps, .first_rho = first_rho};
  settings.watch = [&](const VectorX& at, const VectorX&, int) {
    r_ = at;
    return check();
  };
  VectorX trial = best_.candidate();
  result_.newton_steps += large_newton().with_proximal_terms(op_.q, op_.mu, settings, trial);
  go_to(best_.candidate());
  return result_.converged;
}

/// The same where sweeps stall; again only from somewhere much nearer than the last time.
template <typename Operator>
bool IslandSolver<Operator>::newton_where_stalled() {
  constexpr double nearer = 0.01, first_rho = 1e-3;
  if (!(best_.error() < nearer * tried_error_)) return false;
  tried_error_ = best_.error();
  return newton_on_large(first_rho, affordable(many_steps));
}

/// In a small island: whether sweeps, at the rate between the last two checks, reach the tolerance in less time than a
/// dense Newton's method takes.
template <typename Operator>
bool IslandSolver<Operator>::sweeps_will_do() const {
  constexpr double near = 1e-4;     // error from which on the rate is trusted
  constexpr double a_newton = 0.1;  // its time in sweeps, over the square of the number of contacts
  const auto& checks = result_.history;
  if (checks.size() < 2 || !(best_.error() < near)) return false;
  const FrictionSolution::Check &last = checks.back(), &before = checks[checks.size() - 2];
  if (last.sweeps <= before.sweeps || !(last.error < before.error)) return false;
  const double rate = std::log(before.error / last.error) / (last.sweeps - before.sweeps);
  return std::log(last.error / options_.tolerance) / rate < a_newton * op_.contacts() * op_.contacts();
}

/// And once out of sweeps, a few tenths of a second.
template <typename Operator>
void IslandSolver<Operator>::finish() {
  constexpr int steps = 100;  // of those that end at all
  constexpr double first_rho = 0.1;
  if (!newton_where_stalled()) newton_on_large(first_rho, affordable(steps));
}

/// A check costs as much as several sweeps: far above the tolerance, as the length of a sweep's step tells, every
/// eighth one is made. One is always, and with it a restart, where rounding would soon be seen in the steps.
template <typename Operator>
bool IslandSolver<Operator>::check_due(double length) const {
  constexpr double seen = 30.0;
  if (length < seen * Operator::rounding * longest_) return true;
  if (result_.sweeps % options_.check_every != 0) return false;
  constexpr int rarely = 8;
  constexpr double far = 5.0;
  if (result_.sweeps % (rarely * options_.check_every) == 0 || !(checked_length_ > 0.0)) return true;
  return best_.error() * length / checked_length_ < far * options_.tolerance;
}

/// |f|.
template <typename Operator>
double IslandSolver<Operator>::step_length() {
  constexpr Eigen::Index block = 8192;  // numbers
  squares_.assign(static_cast<std::size_t>((f_.size() + block - 1) / block), 0.0);
  for_blocks(f_.size(), block, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) {
    squares_[static_cast<std::size_t>(k)] = dot(f_.data() + begin, f_.data() + begin, end - begin);
  });
  double sum = 0.0;
  for (const double square : squares_) sum += square;
  return std::sqrt(sum);
}

/// Anderson-mixed sweeps until the tolerance, `last_sweep`, or 100 sweeps without halving the error.
template <typename Operator>
void IslandSolver<Operator>::run(int last_sweep) {
  Mixer mixer(r_, y_, options_.anderson_depth);
  double last_length = std::numeric_limits<double>::infinity();
  last_step_.setZero(r_.size());
  checked_length_ = 0.0;
  // Later the slow contacts change little, and long memory serves the mixing better.
  constexpr int early = 200, every = 20, later_every = 40;
  const auto choice_due = [&] { return result_.sweeps % (result_.sweeps <= early ? every : later_every) == 0; };
  const bool revisits = options_.anderson_depth > 0 && op_.contacts() >= large_island;
  while (!finished() && result_.sweeps < last_sweep && result_.sweeps - milestone_sweep_ < 100) {
    sweep();
    if (revisits && choice_due()) {
      // With other contacts visited again a sweep is another map: differences of the last one would mislead.
      choose_slow();
      mixer.forget();
      last_length = std::numeric_limits<double>::infinity();
    }
    revisit(0);
    const double length = step_length();
    longest_ = std::max(longest_, length);
    if (check_due(length)) {
      checked_length_ = length;
      if (check()) return;
      mixer.shift(y_);
      restart();
    }
    if (length == 0.0) {
      check();
      return;
    }
    if (!(length <= 2.0 * last_length)) {  // the mix went astray
      mixer.restore(r_, y_);
      last_length = std::numeric_limits<double>::infinity();
      continue;
    }
    last_length = length;
    mixer.advance(r_, y_, f_);
  }
  mixer.restore(r_, y_);
}

/// A load that moves between redundant contacts, mostly three or four of the same two fibres, drifts for thousands of
/// sweeps until one of them opens, and the error stays. The contacts that carry a sweep's step are solved together,
/// with the impulses of the others held, by the Newton method of small islands.
template <typename Operator>
bool IslandSolver<Operator>::settle_few() {
  constexpr int several = 20;  // contacts: more cost a sweep's time and settle nothing else
  const auto most = static_cast<std::size_t>(std::min({several, options_.newton_contacts, op_.contacts()}));
  if (most == 0) return false;
  check();
  restart();
  const VectorX before = r_;
  sweep();
  constexpr double share = 0.999;
  const std::vector<int> few = moved_most(share, most);
  r_ = before;
  y_.setZero();
  if (few.empty()) return false;
  const auto n = static_cast<Eigen::Index>(few.size());
  const auto at = [&](Eigen::Index k) { return 3 * few[static_cast<std::size_t>(k)]; };
  MatrixX W;
  op_.dense(few, W);
  VectorX r(3 * n), q(3 * n), mu(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    r.segment<3>(3 * k) = r_.segment<3>(at(k));
    q.segment<3>(3 * k) = u_.segment<3>(at(k));
    mu[k] = op_.mu[few[static_cast<std::size_t>(k)]];
  }
  q -= W * r;
  VectorX trial = r;
  result_.newton_steps += proximal_newton(W, q, mu, newton_target(), trial);
  const auto error = [&](const VectorX& impulse) {
    const VectorX u = W * impulse + q;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < n; ++k)
      sum += natural_map(impulse.segment<3>(3 * k), u.segment<3>(3 * k), mu[k]).squaredNorm();
    return sum;
  };
  constexpr double clearly = 0.01;  // of the square: else it isn't these that hold up the rest
  if (!(error(trial) < clearly * error(r))) return false;
  for (Eigen::Index k = 0; k < n; ++k) r_.segment<3>(at(k)) = trial.segment<3>(3 * k);
  check();
  restart();
  return true;
}

/// Nesterov's extrapolation of sweeps, restarted when a step lengthens. @cite odonoghue2015
template <typename Operator>
void IslandSolver<Operator>::run_nesterov(int last_sweep) {
  VectorX previous_r = r_;
  Bodies previous_y = y_;
  double theta = 1.0;
  double last_length = std::numeric_limits<double>::infinity();
  while (!finished() && result_.sweeps < last_sweep) {
    sweep();
    revisit(0);
    const double length = step_length();
    longest_ = std::max(longest_, length);
    if (check_due(length)) {
      checked_length_ = length;
      if (check()) return;
      previous_y -= y_;
      restart();
    }
    if (length > last_length) theta = 1.0;
    last_length = length;
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * theta * theta));
    const double beyond = (theta - 1.0) / next;
    previous_r.swap(r_);
    r_ = previous_r + beyond * (previous_r - r_);
    previous_y.swap(y_);
    y_ = previous_y + static_cast<typename Bodies::Scalar>(beyond) * (previous_y - y_);
    theta = next;
  }
  r_ = previous_r;
  y_ = previous_y;
}

/// Where plain sweeps drift steadily (a load that moves between redundant contacts), goes to the first contact that
/// opens.
template <typename Operator>
void IslandSolver<Operator>::jump_drift() {
  for (int k = 0; k < 3 && !finished(); ++k) {
    sweep();
    const VectorX step = f_.template cast<double>();
    const double cosine = step.dot(last_step_) / (step.norm() * last_step_.norm());
    last_step_ = step;
    if (k < 2 || !(cosine > 0.99)) continue;
    double reach = std::numeric_limits<double>::infinity();
    for (int i = 0; i < op_.contacts(); ++i)
      if (step[3 * i] < 0.0 && r_[3 * i] > 0.0) reach = std::min(reach, -r_[3 * i] / step[3 * i]);
    if (!std::isfinite(reach)) return;
    go_to(r_ + (jumps_++ % 2 == 0 ? 1.0 : 0.25) * reach * step);
  }
}

template <typename Operator>
IslandResult IslandSolver<Operator>::solve(VectorX& impulse) {
  r_ = impulse;
  if (check()) return result_;
  restart();
  const bool small = op_.contacts() <= options_.newton_contacts;
  constexpr int few = 6;  // contacts, whose warm start Newton's method improves in less than a sweep's time
  if (small && op_.contacts() <= few && !impulse.isZero(0.0)) {
    if (newton_from(impulse, 1e-10, few_steps)) {
      impulse = best_.candidate();
      return result_;
    }
    go_to(best_.candidate());
  }
  if (small) {
    bool tried = false;
    for (int patience = 10; !finished() && patience <= 100; patience *= 2) {
      run(result_.sweeps + patience);
      if (!result_.converged) check();
      if (finished()) break;
      if (sweeps_will_do()) continue;
      if (tried ? try_newton(best_.candidate())
                : newton_from(best_.candidate(), 1e-10, many_steps) || try_proximal(impulse))
        break;
      tried = true;
    }
  }
  bool settled = false;
  while (!finished()) {
    milestone_sweep_ = result_.sweeps;
    milestone_ = best_.error();
    run(options_.max_iterations);
    if (finished()) break;
    if (small && try_newton(best_.candidate())) break;
    settled = !small && !settled && settle_few();
    if (settled) continue;
    if (!small && newton_where_stalled()) break;
    run_nesterov(result_.sweeps + 100);
    if (finished()) break;
    jump_drift();
  }
  // Sweeps since the last check count too.
  if (!result_.converged && result_.history.back().sweeps != result_.sweeps) check();
  if (last_ && !result_.converged && !small) finish();
  impulse = best_.candidate();
  for (int i = 0; i < op_.contacts(); ++i)
    if (visits_.failed[static_cast<std::size_t>(i)]) result_.unsolvable.push_back(i);
  return result_;
}

}  // namespace tresse::friction::detail
