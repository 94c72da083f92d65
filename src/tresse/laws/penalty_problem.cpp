#include <tresse/laws/penalty_problem.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include <tresse/base/errors.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/math/gmres.hpp>

namespace tresse::laws {
namespace {

/// The energy at a gap, felt below delta; of a barrier below `least` the parabola that it has there: what is solved for
/// is beyond, and on the way there a gap may be anything.
Energy energy_at(Law law, double gap, double delta, double least) {
  if (law != Law::ipc || gap >= least) return energy(law, gap, 0.0, delta);
  const Energy at = ipc_energy(least, 0.0, delta);
  const double d = gap - least;
  return {at.value + d * (at.slope + 0.5 * d * at.curvature), at.slope + d * at.curvature, at.curvature};
}

/// Contacts that depend on each other, and their part of W.
class Island {
 public:
  /// `place`: of each contact in its island.
  Island(const PenaltyProblem& problem, const friction::FrictionProblem& all, const std::vector<int>& members,
         const std::vector<int>& place)
      : problem_(problem), members_(members) {
    const auto n = static_cast<Eigen::Index>(members.size());
    q_.resize(3 * n);
    w_.rows = static_cast<int>(n);
    w_.row_begin.push_back(0);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto contact = static_cast<std::size_t>(members[static_cast<std::size_t>(i)]);
      q_.segment<3>(3 * i) = all.q.segment<3>(3 * static_cast<Eigen::Index>(contact));
      for (int k = all.W.row_begin[contact]; k < all.W.row_begin[contact + 1]; ++k) {
        // A block that ties two islands is zero.
        const int other = all.W.column[static_cast<std::size_t>(k)];
        const int column = place[static_cast<std::size_t>(other)];
        if (column >= n || members[static_cast<std::size_t>(column)] != other) continue;
        w_.column.push_back(column);
        w_.block.push_back(all.W.block[static_cast<std::size_t>(k)]);
      }
      w_.row_begin.push_back(static_cast<int>(w_.column.size()));
    }
    constexpr Eigen::Index few = 200;  // contacts, whose dense factor costs less than Krylov's steps
    if (n <= few) make_dense();
  }

  /// Newton's method from r, which it leaves at the best impulses.
  Status solve(double tolerance, int max_iterations, VectorX& r, int& iterations, double& error) {
    least_ = 1e-3;
    for (;;) {
      Status status = newton(tolerance, max_iterations, r, iterations, error);
      if (status != Status::converged) status = by_loads(tolerance, max_iterations, r, iterations, error);
      if (status != Status::converged || problem_.penalty.law != Law::ipc) return status;
      double nearest = 1.0;
      for (std::size_t i = 0; i < members_.size(); ++i)
        nearest = std::min(nearest, problem_.dt * u_[static_cast<Eigen::Index>(3 * i)] / delta(i));
      // Loads that press a contact nearer than that: the parabola begins nearer still.
      if (nearest >= least_) return status;
      if (least_ < 1e-12) return Status::stalled;
      least_ *= 1e-2;
    }
  }

  const VectorX& velocity() const { return u_; }
  double least_step_length() const { return least_step_length_; }

 private:
  /// Below which a contact is felt. [m]
  double delta(std::size_t i) const {
    return problem_.penalty.delta * (problem_.reach.size() > 0 ? problem_.reach[members_[i]] : 1.0);
  }

  void make_dense() {
    dense_.setZero(q_.size(), q_.size());
    for (int i = 0; i < w_.rows; ++i) {
      for (int k = w_.row_begin[static_cast<std::size_t>(i)]; k < w_.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
        dense_.block<3, 3>(3 * i, 3 * w_.column[static_cast<std::size_t>(k)]) = w_.block[static_cast<std::size_t>(k)];
    }
  }

  void times_w(const VectorX& r, VectorX& out) const {
    if (dense_.size() > 0) {
      out.noalias() = dense_ * r;
      return;
    }
    out.resize(r.size());
    for (int i = 0; i < w_.rows; ++i) {
      Vector3 sum = Vector3::Zero();
      for (int k = w_.row_begin[static_cast<std::size_t>(i)]; k < w_.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
        sum += w_.block[static_cast<std::size_t>(k)] * r.segment<3>(3 * w_.column[static_cast<std::size_t>(k)]);
      out.segment<3>(3 * i) = sum;
    }
  }

  /// What the law answers to the velocities of r, and how that falls with them.
  void respond(const VectorX& r, bool slopes) {
    times_w(r, u_);
    u_ += q_;
    response_.resize(u_.size());
    if (slopes) slopes_.resize(members_.size());
    const double dt = problem_.dt;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(3 * i);
      const Vector3 u = u_.segment<3>(at);
      const SmoothFriction friction{problem_.contacts.mu[members_[i]], problem_.penalty.slip_velocity};
      const double stiffness = problem_.stiffness[members_[i]];
      const Energy energy = energy_at(problem_.penalty.law, dt * u[0], delta(i), least_ * delta(i));
      Force force = contact_force(energy, stiffness, u, friction);
      if (loads_.size() > 0) {
        const Energy given{0.0, -loads_[static_cast<Eigen::Index>(i)] / stiffness, 0.0};
        const Force rubs = contact_force(given, stiffness, u, friction);
        force.value.tail<2>() = rubs.value.tail<2>();
        force.by_distance.tail<2>().setZero();
        force.by_velocity = rubs.by_velocity;
      }
      response_.segment<3>(at) = dt * force.value;
      if (!slopes) continue;
      slopes_[i] = -dt * force.by_velocity;
      slopes_[i].col(0) -= dt * dt * force.by_distance;
    }
    missing_ = r - response_;
    times_w(missing_, product_);
    merit_ = std::max(0.0, missing_.dot(product_));
  }

  double error_of(const VectorX& r) const {
    VectorX product;
    times_w(r, product);
    const double own = r.dot(product);
    times_w(response_, product);
    const double size = std::max(own, response_.dot(product));
    return size > 0.0 ? std::sqrt(merit_ / size) : 0.0;
  }

  /// (1 + K W) step = -missing.
  bool newton_step(VectorX& step) const {
    const auto n = static_cast<Eigen::Index>(members_.size());
    if (dense_.size() > 0) {
      MatrixX matrix(3 * n, 3 * n);
      for (Eigen::Index i = 0; i < n; ++i)
        matrix.middleRows<3>(3 * i).noalias() = slopes_[static_cast<std::size_t>(i)] * dense_.middleRows<3>(3 * i);
      matrix.diagonal().array() += 1.0;
      step = matrix.partialPivLu().solve(-missing_);
      return step.allFinite();
    }
    std::vector<Matrix3> lone(members_.size());
    for (int i = 0; i < w_.rows; ++i) {
      Matrix3 own = Matrix3::Zero();
      for (int k = w_.row_begin[static_cast<std::size_t>(i)]; k < w_.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
        if (w_.column[static_cast<std::size_t>(k)] == i) own = w_.block[static_cast<std::size_t>(k)];
      lone[static_cast<std::size_t>(i)] = (Matrix3::Identity() + slopes_[static_cast<std::size_t>(i)] * own).inverse();
    }
    const auto alone = [&](VectorX& x) {
      for (Eigen::Index i = 0; i < n; ++i)
        x.segment<3>(3 * i) = (lone[static_cast<std::size_t>(i)] * x.segment<3>(3 * i)).eval();
    };
    const auto apply = [&](const VectorX& x, VectorX& out) {
      times_w(x, out);
      for (Eigen::Index i = 0; i < n; ++i)
        out.segment<3>(3 * i) = x.segment<3>(3 * i) + slopes_[static_cast<std::size_t>(i)] * out.segment<3>(3 * i);
      alone(out);
    };
    VectorX rhs = -missing_;
    alone(rhs);
    constexpr double enough = 1e-8;
    constexpr int most = 300;
    static_cast<void>(math::gmres(apply, rhs, enough, most, step));
    return step.allFinite();
  }

  Status newton(double tolerance, int max_iterations, VectorX& r, int& iterations, double& error) {
    respond(r, true);
    error = error_of(r);
    VectorX step;
    for (;; ++iterations) {
      poll_interrupt();
      if (!std::isfinite(merit_)) return Status::not_finite;
      if (error <= tolerance) return Status::converged;
      if (iterations >= max_iterations) return Status::max_iterations;
      if (!newton_step(step)) return Status::not_finite;
      const double before = merit_;
      constexpr double shortest = 1e-9, decrease = 1e-4;
      double length = 1.0;
      for (; length > shortest; length *= 0.5) {
        respond(r + length * step, false);
        if (merit_ <= (1.0 - decrease * length) * before) break;
      }
      if (length <= shortest) {
        respond(r, true);
        error = error_of(r);
        constexpr double rounding = 1e3;
        return error <= rounding * tolerance ? Status::converged : Status::stalled;
      }
      least_step_length_ = std::min(least_step_length_, length);
      r += length * step;
      respond(r, true);
      error = error_of(r);
    }
  }

  /// Where Newton's method stalls, as it may with much friction: friction under given loads has a potential, and the
  /// sum of potentials is convex, so that Newton's method finds its minimum from anywhere. The loads that follow are
  /// given next, until Newton's method on the whole gets to the end from there.
  Status by_loads(double tolerance, int max_iterations, VectorX& r, int& iterations, double& error) {
    constexpr int rounds = 100, tries = 30;
    Status status = Status::stalled;
    VectorX next = r;
    loads_.resize(0);
    respond(next, false);
    VectorX normal(static_cast<Eigen::Index>(members_.size()));
    for (int round = 0; round < rounds && iterations < max_iterations; ++round) {
      for (Eigen::Index i = 0; i < normal.size(); ++i) normal[i] = response_[3 * i] / problem_.dt;
      loads_ = normal;
      double left = 0.0;
      constexpr double roughly = 1e-3;
      const Status step = newton(std::max(tolerance, roughly), max_iterations, next, iterations, left);
      loads_.resize(0);
      if (step != Status::converged) {
        status = step;
        break;
      }
      VectorX whole = next;
      int taken = 0;
      status = newton(tolerance, tries, whole, taken, left);
      iterations += taken;
      if (left < error || round == 0) error = left, r = whole;
      if (status == Status::converged) return status;
      respond(next, false);
    }
    respond(r, true);
    return status;
  }

  const PenaltyProblem& problem_;
  const std::vector<int>& members_;
  friction::BlockMatrix w_;
  MatrixX dense_;  ///< w_ written out, of few contacts
  VectorX q_;
  VectorX loads_;       ///< under which friction is taken; none: those of this instant [N]
  double least_ = 0.0;  ///< gap below which a barrier is a parabola, of the contact's delta
  VectorX u_, response_, missing_, product_;
  double least_step_length_ = 1.0;
  double merit_ = 0.0;  ///< |X^T (r - response)|^2
  std::vector<Matrix3> slopes_;
};

}  // namespace

void validate(const Penalty& penalty) {
  require(penalty.law != Law::coulomb, "penalty: the law must be imc or ipc");
  require(penalty.delta > 0.0 && std::isfinite(penalty.delta), "penalty: delta must be positive");
  require(penalty.slip_velocity > 0.0 && std::isfinite(penalty.slip_velocity),
          "penalty: the slip velocity must be positive");
}

double largest_load(const friction::FactoredProblem& contacts, const Penalty& penalty, double dt) {
  const std::vector<Matrix3> blocks = friction::diagonal_blocks(contacts);
  double acting = 0.0, any = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Vector3 u = contacts.q.segment<3>(3 * static_cast<Eigen::Index>(i));
    const double gap = dt * u[0];
    u[0] = std::min(0.0, (gap - penalty.delta) / dt);  // what it lacks to end delta away
    const double give = blocks[i].trace() / 3.0;
    if (!(give > 0.0)) continue;
    const double load = u.norm() / (give * dt);
    any = std::max(any, load);
    if (gap < penalty.delta) acting = std::max(acting, load);
  }
  return acting > 0.0 ? acting : any;
}

PenaltySolution solve_penalty(const PenaltyProblem& problem, const VectorX& guess, double tolerance,
                              int max_iterations) {
  validate(problem.penalty);
  require(problem.stiffness.size() == problem.contacts.mu.size() && (problem.stiffness.array() > 0.0).all() &&
              problem.dt > 0.0,
          "penalty: stiffnesses and time step must be positive");
  require(problem.reach.size() == 0 || (problem.reach.size() == problem.stiffness.size() &&
                                        (problem.reach.array() > 0.0).all() && (problem.reach.array() <= 1.0).all()),
          "penalty: the reach of a contact must be above 0, at most 1");
  const friction::FrictionProblem all = friction::assembled(problem.contacts);
  PenaltySolution out;
  out.impulse = guess;
  out.velocity.resize(guess.size());
  out.status = Status::converged;
  const std::vector<std::vector<int>> lists = friction::islands(problem.contacts);
  out.islands = static_cast<int>(lists.size());
  std::vector<int> place(problem.contacts.contacts.size());
  for (const std::vector<int>& members : lists)
    for (std::size_t i = 0; i < members.size(); ++i) place[static_cast<std::size_t>(members[i])] = static_cast<int>(i);
  for (const std::vector<int>& members : lists) {
    const auto n = static_cast<Eigen::Index>(members.size());
    VectorX r(3 * n);
    for (Eigen::Index i = 0; i < n; ++i)
      r.segment<3>(3 * i) = guess.segment<3>(3 * Eigen::Index{members[static_cast<std::size_t>(i)]});
    Island island(problem, all, members, place);
    int iterations = 0;
    double error = 0.0;
    const Status status = island.solve(tolerance, max_iterations, r, iterations, error);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto at = 3 * Eigen::Index{members[static_cast<std::size_t>(i)]};
      out.impulse.segment<3>(at) = r.segment<3>(3 * i);
      out.velocity.segment<3>(at) = island.velocity().segment<3>(3 * i);
    }
    out.iterations = std::max(out.iterations, iterations);
    out.newton_steps += iterations;
    out.least_step_length = std::min(out.least_step_length, island.least_step_length());
    out.scaled_error = std::max(out.scaled_error, error);
    if (status != Status::converged) out.status = status;
  }
  out.natural_map_error = out.scaled_error;
  return out;
}

}  // namespace tresse::laws
