#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/anderson.hpp>
#include <tresse/friction/detail/small_newton.hpp>
#include <tresse/friction/detail/sweep_schedule.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

namespace tresse::friction::detail {

struct IslandResult {
  int sweeps = 0;
  int newton_steps = 0;
  bool converged = false;
  bool stalled = false;
  bool no_solution = false;
  std::vector<FrictionSolution::Check> history;
  std::vector<int> unsolvable;  ///< local numbers
};

/// Gauss-Seidel on one island of several contacts with its accelerations; `Operator` as in operators.hpp. Keeps the
/// best iterate.
template <typename Operator>
class IslandSolver {
 public:
  /// `floor`: the least normaliser (sum of squares) of the island's error, so that islands which hardly matter stop.
  /// `schedule`: of sweeps on several threads; empty: one contact after the other.
  IslandSolver(const Operator& op, const SolverOptions& options, double floor, const SweepSchedule& schedule)
      : op_(op),
        options_(options),
        schedule_(schedule),
        floor_(floor),
        measured_(3 * op.mu.size()),
        x_(op.size()),
        g_(op.size()),
        best_(measured_),
        u_(measured_),
        last_step_(measured_),
        unscaled_(options.measure == SolverOptions::Measure::natural_map),
        alpha_(static_cast<std::size_t>(op.contacts()), 0.0),
        failed_(static_cast<std::size_t>(op.contacts()), 0) {}

  /// `impulse` (3n, scaled) is the start, and the best iterate on return.
  IslandResult solve(VectorX& impulse);

 private:
  double measure(const VectorX& x);
  bool check(const VectorX& x);
  bool check_due(double length) const;
  static constexpr Eigen::Index long_block = 8192;  // numbers
  void copy(const VectorX& from, VectorX& to) const;
  double distance(const VectorX& g, const VectorX& x);
  void solve_one(int i, VectorX& x);
  template <typename Visit>
  void for_each_cluster(const Visit& visit);
  void sweep(VectorX& x);
  std::vector<int> moved_most(const VectorX& before, const VectorX& after, double share, std::size_t most) const;
  void choose_restless(const VectorX& before, const VectorX& after);
  void revisit(std::size_t level, VectorX& x);
  bool settle_few();
  static constexpr double newton_of_sweep = 1e-3;  // one Newton step a contact and sweep, once it slides
  static constexpr int few_steps = 6;
  static constexpr int many_steps = 30;

  bool newton_from(const VectorX& start, double lift, int max_steps);
  bool try_newton(const VectorX& start);
  bool try_proximal(const VectorX& guess);
  /// A tenth of the tolerance where the measure is Newton's own, else rounding.
  double newton_target() const { return (unscaled_ ? 1e-15 : 0.1 * options_.tolerance) * op_.q.norm(); }
  void run(int last_sweep);
  void run_nesterov(int last_sweep);
  void jump_drift();
  bool finished() const { return result_.converged || result_.sweeps >= options_.max_iterations; }

  const Operator& op_;
  const SolverOptions& options_;
  const SweepSchedule& schedule_;
  double floor_;
  Eigen::Index measured_;
  VectorX x_, g_, best_, u_, last_step_;
  MatrixX dense_;  // W, of small islands once it is needed
  bool unscaled_;
  std::vector<double> alpha_;
  std::vector<char> failed_;  // contacts without a solution of their own at the last sweep
  struct Restless {
    std::vector<int> contacts;  // ascending
    std::vector<int> begin;     // of each cluster's in them; empty: too few to share out
  };
  std::array<Restless, 3> restless_;  // each within the one before
  std::vector<ErrorSums> sums_;       // of blocks of contacts
  std::vector<double> squares_;       // of blocks of numbers
  double checked_length_ = 0.0;       // of the step at the last check
  double best_error_ = std::numeric_limits<double>::infinity();
  double milestone_ = std::numeric_limits<double>::infinity();  // error at the last halving
  int milestone_sweep_ = 0;
  int jumps_ = 0;
  IslandResult result_;
};

template <typename Operator>
double IslandSolver<Operator>::measure(const VectorX& x) {
  op_.velocities(x, u_);
  constexpr int block = 1024;
  sums_.assign(static_cast<std::size_t>((op_.contacts() + block - 1) / block), {});
  for_blocks(op_.contacts(), block, [&](int k, int begin, int end) {
    ErrorSums& part = sums_[static_cast<std::size_t>(k)];
    for (int i = begin; i < end; ++i) {
      // Unscaled: back to the problem's units.
      const double s = unscaled_ ? op_.scale[i] : 1.0;
      const Vector3 r = x.segment<3>(3 * i) / s;
      const Vector3 u = u_.segment<3>(3 * i) * s;
      part.map += natural_map(r, u, op_.mu[i]).squaredNorm();
      part.q += (op_.q.template segment<3>(3 * i) * s).squaredNorm();
      part.r += r.squaredNorm();
      part.u += u.squaredNorm();
    }
  });
  ErrorSums sums;
  for (const ErrorSums& part : sums_) {
    sums.map += part.map;
    sums.q += part.q;
    sums.r += part.r;
    sums.u += part.u;
  }
  sums.q = std::max(sums.q, floor_);
  return sums.relative();
}

/// Evaluates the measure at x, keeps the best; true when the tolerance is met.
template <typename Operator>
bool IslandSolver<Operator>::check(const VectorX& x) {
  const double error = measure(x);
  result_.history.push_back({result_.sweeps, error});
  if (error < best_error_) {
    best_error_ = error;
    best_ = x.head(measured_);
  }
  if (best_error_ < 0.5 * milestone_) {
    milestone_ = best_error_;
    milestone_sweep_ = result_.sweeps;
  }
  result_.converged = best_error_ <= options_.tolerance;
  return result_.converged;
}

template <typename Operator>
void IslandSolver<Operator>::solve_one(int i, VectorX& x) {
  const auto k = static_cast<std::size_t>(i);
  const Vector3 q = op_.free_velocity(i, x);
  const Vector3 before = x.segment<3>(3 * i);
  Vector3 r = before;
  failed_[k] = !solve_contact(op_.contact[k], q, options_.local_solver, alpha_[k], r, newton_of_sweep);
  if (failed_[k]) {
    // No impulse of its own can satisfy this contact: a projected step, the others may still change.
    const Vector3 u = q + op_.contact[k].W * r;
    r = project_on_cone(r - de_saxce(u, op_.mu[i]), op_.mu[i]);
  }
  if (r != before) op_.change(i, r - before, x);
}

/// Colour by colour; those of a colour on all threads.
template <typename Operator>
template <typename Visit>
void IslandSolver<Operator>::for_each_cluster(const Visit& visit) {
  for (std::size_t c = 0; c + 1 < schedule_.colour_begin.size(); ++c) {
    const int first = schedule_.colour_begin[c];
    for_blocks(schedule_.colour_begin[c + 1] - first, 1,
               [&](int k, int, int) { visit(static_cast<std::size_t>(first + k)); });
  }
}

template <typename Operator>
void IslandSolver<Operator>::sweep(VectorX& x) {
  if (schedule_.colour_begin.empty()) {
    for (int i = 0; i < op_.contacts(); ++i) solve_one(i, x);
  } else {
    for_each_cluster([&](std::size_t cluster) {
      for (int i = schedule_.cluster_begin[cluster]; i < schedule_.cluster_begin[cluster + 1]; ++i) solve_one(i, x);
    });
  }
  ++result_.sweeps;
}

/// The contacts that make up a share of the square of a step, at most so many, those that moved farthest first.
template <typename Operator>
std::vector<int> IslandSolver<Operator>::moved_most(const VectorX& before, const VectorX& after, double share,
                                                    std::size_t most) const {
  std::vector<std::pair<double, int>> moved;  // square, and the contact: equal ones in a fixed order
  moved.reserve(static_cast<std::size_t>(op_.contacts()));
  double total = 0.0;
  for (int i = 0; i < op_.contacts(); ++i) {
    moved.emplace_back((after.segment<3>(3 * i) - before.segment<3>(3 * i)).squaredNorm(), i);
    total += moved.back().first;
  }
  std::partial_sort(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(most), moved.end(), std::greater<>());
  std::vector<int> out;
  for (double sum = 0.0; out.size() < most && sum < share * total; sum += moved[out.size() - 1].first)
    out.push_back(moved[out.size()].second);
  return out;
}

/// A few contacts settle hundreds of sweeps later than the rest: light ones near clamped roots, or many between the
/// same two fibres. They are known by how far a sweep moves them.
template <typename Operator>
void IslandSolver<Operator>::choose_restless(const VectorX& before, const VectorX& after) {
  constexpr double share = 0.999;          // of the square of the step: who makes up the rest needs no more visits
  constexpr double part = 0.2;             // of the contacts of the level before, at most
  constexpr std::size_t shared_out = 300;  // contacts: fewer are visited sooner than threads wake up
  double most = part * op_.contacts();
  const std::vector<int> chosen = moved_most(before, after, share, static_cast<std::size_t>(most));
  for (Restless& level : restless_) {
    const std::size_t count = std::min(chosen.size(), static_cast<std::size_t>(most));
    level.contacts.assign(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(level.contacts.begin(), level.contacts.end());
    level.begin.clear();
    most *= part;
    if (count < shared_out) continue;
    for (const int first : schedule_.cluster_begin)
      level.begin.push_back(static_cast<int>(std::lower_bound(level.contacts.begin(), level.contacts.end(), first) -
                                             level.contacts.begin()));
  }
}

/// Twice over the restless of a level, and each time on to those of the next.
template <typename Operator>
void IslandSolver<Operator>::revisit(std::size_t level, VectorX& x) {
  if (level == restless_.size() || restless_[level].contacts.empty()) return;
  const Restless& set = restless_[level];
  constexpr int times = 2;
  for (int k = 0; k < times; ++k) {
    if (set.begin.empty()) {
      for (const int i : set.contacts) solve_one(i, x);
    } else {
      for_each_cluster([&](std::size_t cluster) {
        for (int j = set.begin[cluster]; j < set.begin[cluster + 1]; ++j)
          solve_one(set.contacts[static_cast<std::size_t>(j)], x);
      });
    }
    revisit(level + 1, x);
  }
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
  if (dense_.size() == 0) op_.dense(dense_);
  VectorX trial = start;
  result_.newton_steps += small_newton(dense_, op_.q, op_.mu, lift, newton_target(), trial, max_steps);
  x_.head(measured_) = trial;
  op_.refresh(x_);
  return check(x_);
}

/// For contacts that are nearly redundant: which of them carry is a choice that neither sweeps nor a step from the
/// wrong side revise. Where sweeps stalled is a wrong side more often than the guess that they set out from.
template <typename Operator>
bool IslandSolver<Operator>::try_proximal(const VectorX& guess) {
  if (dense_.size() == 0) op_.dense(dense_);
  for (const VectorX& start : {guess, VectorX(VectorX::Zero(measured_)), best_}) {
    VectorX trial = start;
    result_.newton_steps += proximal_newton(dense_, op_.q, op_.mu, newton_target(), trial);
    x_.head(measured_) = trial;
    op_.refresh(x_);
    if (check(x_)) return true;
  }
  return false;
}

/// A check costs as much as two sweeps: far above the tolerance, as the length of a sweep's step tells, every fourth
/// one is made.
template <typename Operator>
bool IslandSolver<Operator>::check_due(double length) const {
  if (result_.sweeps % options_.check_every != 0) return false;
  constexpr int rarely = 4;
  constexpr double far = 20.0;
  if (result_.sweeps % (rarely * options_.check_every) == 0 || !(checked_length_ > 0.0)) return true;
  return best_error_ * length / checked_length_ < far * options_.tolerance;
}

template <typename Operator>
void IslandSolver<Operator>::copy(const VectorX& from, VectorX& to) const {
  for_blocks(from.size(), long_block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    to.segment(begin, end - begin) = from.segment(begin, end - begin);
  });
}

/// |g - x| of the impulses.
template <typename Operator>
double IslandSolver<Operator>::distance(const VectorX& g, const VectorX& x) {
  squares_.assign(static_cast<std::size_t>((measured_ + long_block - 1) / long_block), 0.0);
  for_blocks(measured_, long_block, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) {
    squares_[static_cast<std::size_t>(k)] =
        (g.segment(begin, end - begin) - x.segment(begin, end - begin)).squaredNorm();
  });
  double sum = 0.0;
  for (const double square : squares_) sum += square;
  return std::sqrt(sum);
}

/// Anderson-mixed sweeps until the tolerance, `last_sweep`, or 100 sweeps without halving the error.
template <typename Operator>
void IslandSolver<Operator>::run(int last_sweep) {
  AndersonMixer mixer(op_.size(), measured_, options_.anderson_depth);
  double last_length = std::numeric_limits<double>::infinity();
  last_step_.setZero();
  VectorX plain = x_;  // the last accepted g, where a rejected mix returns to
  checked_length_ = 0.0;
  constexpr int choose_every = 20;
  constexpr int many = 1000;  // contacts: in a tower of 570 the restless are no fewer than the rest
  const bool revisits = options_.anderson_depth > 0 && op_.contacts() >= many;
  while (!finished() && result_.sweeps < last_sweep && result_.sweeps - milestone_sweep_ < 100) {
    copy(x_, g_);
    sweep(g_);
    if (revisits && result_.sweeps % choose_every == 0) choose_restless(x_, g_);
    revisit(0, g_);
    const double length = distance(g_, x_);
    if (check_due(length)) {
      checked_length_ = length;
      if (check(g_)) return;
    }
    if (length == 0.0) {
      check(g_);
      return;
    }
    if (!(length <= 2.0 * last_length)) {  // the mix went astray
      mixer.forget();
      x_ = plain;
      last_length = std::numeric_limits<double>::infinity();
      continue;
    }
    last_length = length;
    mixer.advance(x_, g_);
    std::swap(plain, g_);
  }
  x_ = plain;
}

/// A load that moves between redundant contacts, mostly three or four of the same two fibres, drifts for thousands of
/// sweeps until one of them opens, and the error stays. The contacts that carry a sweep's step are solved together,
/// with the impulses of the others held, by the Newton method of small islands.
template <typename Operator>
bool IslandSolver<Operator>::settle_few() {
  constexpr int several = 20;  // contacts: more cost a sweep's time and settle nothing else
  const auto most = static_cast<std::size_t>(std::min({several, options_.newton_contacts, op_.contacts()}));
  if (most == 0) return false;
  op_.refresh(x_);  // what drift of y holds up is settled with that
  check(x_);        // for the velocities, u_
  copy(x_, g_);
  sweep(g_);
  constexpr double share = 0.999;
  const std::vector<int> few = moved_most(x_, g_, share, most);
  const auto n = static_cast<Eigen::Index>(few.size());
  if (n == 0) return false;
  MatrixX W(3 * n, 3 * n);
  VectorX r(3 * n), q(3 * n), mu(n);
  // Columns of W from the operator's own moves.
  g_.setZero();
  const auto contact = [&](Eigen::Index k) { return few[static_cast<std::size_t>(k)]; };
  for (Eigen::Index k = 0; k < n; ++k) q.segment<3>(3 * k) = op_.free_velocity(contact(k), g_);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (int c = 0; c < 3; ++c) {
      op_.change(contact(j), Vector3::Unit(c), g_);
      for (Eigen::Index i = 0; i < n; ++i) {
        if (i == j) continue;
        W.block<3, 1>(3 * i, 3 * j + c) = op_.free_velocity(contact(i), g_) - q.segment<3>(3 * i);
      }
      op_.change(contact(j), -Vector3::Unit(c), g_);
    }
    W.block<3, 3>(3 * j, 3 * j) = op_.contact[static_cast<std::size_t>(contact(j))].W;
    r.segment<3>(3 * j) = x_.segment<3>(3 * contact(j));
    mu[j] = op_.mu[contact(j)];
  }
  for (Eigen::Index k = 0; k < n; ++k) q.segment<3>(3 * k) = u_.segment<3>(3 * contact(k));
  q -= W * r;
  VectorX trial = r;
  result_.newton_steps += proximal_newton(W, q, mu, newton_target(), trial);
  const auto error = [&](const VectorX& at) {
    const VectorX u = W * at + q;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < n; ++k)
      sum += natural_map(at.segment<3>(3 * k), u.segment<3>(3 * k), mu[k]).squaredNorm();
    return sum;
  };
  constexpr double clearly = 0.01;  // of the square: else it isn't these that hold up the rest
  if (!(error(trial) < clearly * error(r))) return false;
  for (Eigen::Index k = 0; k < n; ++k) x_.segment<3>(3 * contact(k)) = trial.segment<3>(3 * k);
  op_.refresh(x_);
  check(x_);
  return true;
}

/// Nesterov's extrapolation of sweeps, restarted when a step lengthens. @cite odonoghue2015
template <typename Operator>
void IslandSolver<Operator>::run_nesterov(int last_sweep) {
  VectorX previous = x_;
  double theta = 1.0;
  double last_length = std::numeric_limits<double>::infinity();
  while (!finished() && result_.sweeps < last_sweep) {
    g_ = x_;
    sweep(g_);
    revisit(0, g_);
    const double length = (g_.head(measured_) - x_.head(measured_)).norm();
    if (result_.sweeps % options_.check_every == 0 && check(g_)) return;
    if (length > last_length) theta = 1.0;
    last_length = length;
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * theta * theta));
    x_ = g_ + (theta - 1.0) / next * (g_ - previous);
    previous = g_;
    theta = next;
  }
  x_ = previous;
}

/// Where plain sweeps drift steadily (a load that moves between redundant contacts), goes to the first contact that
/// opens.
template <typename Operator>
void IslandSolver<Operator>::jump_drift() {
  for (int k = 0; k < 3 && !finished(); ++k) {
    g_ = x_;
    sweep(g_);
    const VectorX step = g_.head(measured_) - x_.head(measured_);
    const double cosine = step.dot(last_step_) / (step.norm() * last_step_.norm());
    last_step_ = step;
    x_ = g_;
    if (k < 2 || !(cosine > 0.99)) continue;
    double reach = std::numeric_limits<double>::infinity();
    for (int i = 0; i < op_.contacts(); ++i)
      if (step[3 * i] < 0.0 && x_[3 * i] > 0.0) reach = std::min(reach, -x_[3 * i] / step[3 * i]);
    if (!std::isfinite(reach)) return;
    x_.head(measured_) += (jumps_++ % 2 == 0 ? 1.0 : 0.25) * reach * step;
    op_.refresh(x_);
  }
}

template <typename Operator>
IslandResult IslandSolver<Operator>::solve(VectorX& impulse) {
  x_.head(measured_) = impulse;
  op_.refresh(x_);
  if (check(x_)) return result_;
  const bool small = op_.contacts() <= options_.newton_contacts;
  constexpr int few = 6;  // contacts, whose warm start Newton's method improves in less than a sweep's time
  if (small && op_.contacts() <= few && !impulse.isZero(0.0) && newton_from(impulse, 1e-10, few_steps)) {
    impulse = best_;
    return result_;
  }
  x_.head(measured_) = best_;
  op_.refresh(x_);
  if (small) {
    for (int patience = 10; !finished() && patience <= 100; patience *= 2) {
      run(result_.sweeps + patience);
      if (!result_.converged) check(x_);
      if (finished()) break;
      if (patience == 10 && (newton_from(best_, 1e-10, many_steps) || try_proximal(impulse))) break;
      if (patience > 10 && try_newton(best_)) break;
    }
  }
  bool settled = false;
  while (!finished()) {
    milestone_sweep_ = result_.sweeps;
    milestone_ = best_error_;
    run(options_.max_iterations);
    if (finished()) break;
    if (small && try_newton(best_)) break;
    settled = !small && !settled && settle_few();
    if (settled) continue;
    run_nesterov(result_.sweeps + 100);
    if (finished()) break;
    jump_drift();
  }
  // Sweeps since the last regular check count too.
  if (!result_.converged && result_.sweeps % options_.check_every != 0) check(x_);
  impulse = best_;
  for (int i = 0; i < op_.contacts(); ++i)
    if (failed_[static_cast<std::size_t>(i)]) result_.unsolvable.push_back(i);
  return result_;
}

}  // namespace tresse::friction::detail
