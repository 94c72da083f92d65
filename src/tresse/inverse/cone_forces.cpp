#include <tresse/inverse/cone_forces.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::inverse {
namespace {

/// Forces s, what follows from them, and the forces r = P((rho c - W s - b) / (gamma + rho)) that they call for.
struct Iterate {
  VectorX s, moved;  ///< moved: S s
  VectorX r;
  double value = std::numeric_limits<double>::infinity();
  double gap = std::numeric_limits<double>::infinity();  ///< |r - s|
};

class ConeSolver {
 public:
  ConeSolver(const ContactCompliance& compliance, const VectorX& b, const VectorX& mu, const ConeOptions& options)
      : compliance_(compliance), mu_(mu), b_(b), added_(mu.size()), gamma_(mu.size()) {
    const VectorX& scales = compliance.scales();
    for (Eigen::Index i = 0; i < mu.size(); ++i) {
      b_.segment<3>(3 * i) /= scales[i];
      gamma_[i] = options.gamma / (scales[i] * scales[i]);
    }
  }

  /// Of forces in the cones.
  double error(const VectorX& r, const VectorX& moved) const {
    return friction::sum_errors(mu_.size(),
                                [&](friction::ErrorSums& to, Eigen::Index i) {
                                  const Vector3 force = r.segment<3>(3 * i);
                                  const Vector3 velocity =
                                      moved.segment<3>(3 * i) + gamma_[i] * force + b_.segment<3>(3 * i);
                                  to.add(force - friction::project_on_cone(force - velocity, mu_[i]),
                                         b_.segment<3>(3 * i), force, velocity);
                                })
        .relative();
  }

  void centre(const VectorX& c, double rho) {
    c_ = c;
    rho_ = rho;
    added_ = gamma_.array() + rho;
  }

  Iterate at(VectorX s, VectorX moved) const {
    Iterate out;
    out.r.resize(s.size());
    double value = 0.5 * s.dot(moved), gap = 0.0;
    for (Eigen::Index i = 0; i < mu_.size(); ++i) {
      const Vector3 x = wanted(i, moved);
      const Vector3 r = friction::project_on_cone(x, mu_[i]);
      value += 0.5 * added_[i] * r.squaredNorm();
      gap += (r - s.segment<3>(3 * i)).squaredNorm();
      out.r.segment<3>(3 * i) = r;
    }
    out.value = value;
    out.gap = std::sqrt(gap);
    out.s = std::move(s);
    out.moved = std::move(moved);
    return out;
  }

  /// Newton's direction of s.
  VectorX direction(const Iterate& at, double forcing, int& products) {
    std::vector<FreeDirections> free(static_cast<std::size_t>(mu_.size()));
    VectorX fixed = at.r - at.s, rest(at.r.size());
    std::vector<Vector3> shares(free.size());
    for (Eigen::Index i = 0; i < mu_.size(); ++i) {
      FreeDirections& one = free[static_cast<std::size_t>(i)];
      Vector3& d = shares[static_cast<std::size_t>(i)];
      d = free_directions(wanted(i, at.moved), mu_[i], one);
      const Vector3 left = fixed.segment<3>(3 * i);
      rest.segment<3>(3 * i).setZero();
      for (Eigen::Index c = 0; c < one.axes.cols(); ++c) {
        const double along = one.axes.col(c).dot(left);
        fixed.segment<3>(3 * i) -= along * one.axes.col(c);
        one.added[c] = added_[i] / d[c];
        rest.segment<3>(3 * i) += one.added[c] * along * one.axes.col(c);
      }
    }
    if (!matrix_.factor(compliance_, free)) return at.r - at.s;
    const VectorX b = matrix_.along(rest - compliance_.times(fixed));
    constexpr int most = 400;
    const FreeForces::Solve solved = matrix_.solve(b, forcing, most);
    products += solved.iterations;
    return fixed + matrix_.forces(solved.x);
  }

  VectorX projected(VectorX r) const {
    for (Eigen::Index i = 0; i < mu_.size(); ++i)
      r.segment<3>(3 * i) = friction::project_on_cone(r.segment<3>(3 * i), mu_[i]);
    return r;
  }
  VectorX times(const VectorX& r) const { return compliance_.times(r); }

  /// What linear systems must be solved to in the end: what forces are off by, Newton's step has over gamma + rho.
  double finest() const {
    constexpr double most = 1e-4, share = 0.1;
    return std::min(most, share * added_.mean());
  }

 private:
  Vector3 wanted(Eigen::Index i, const VectorX& moved) const {
    return (rho_ * c_.segment<3>(3 * i) - moved.segment<3>(3 * i) - b_.segment<3>(3 * i)) / added_[i];
  }

  /// Eigenvectors of the derivative of the projection with an eigenvalue above 0; these.
  static Vector3 free_directions(const Vector3& x, double mu, FreeDirections& out) {
    const double tangential = friction::tangential_norm(x);
    if (mu * tangential <= -x[0]) return Vector3::Zero();
    if (tangential <= mu * x[0]) {
      out.axes = Matrix3::Identity();
      return Vector3::Ones();
    }
    const double c = x[1] / tangential, s = x[2] / tangential;
    const double across = mu * (x[0] + mu * tangential) / ((1.0 + mu * mu) * tangential);
    constexpr double least = 1e-10;
    out.axes.resize(3, across > least ? 2 : 1);
    out.axes.col(0) = Vector3(1.0, mu * c, mu * s) / std::sqrt(1.0 + mu * mu);
    if (across > least) out.axes.col(1) << 0.0, -s, c;
    return {1.0, across, 0.0};
  }

  const ContactCompliance& compliance_;
  const VectorX& mu_;
  VectorX b_, added_, gamma_, c_;
  double rho_ = 0.0;
  FreeForces matrix_;
};

}  // namespace

namespace {

/// Forces in the cones, and how far they are from the solution.
struct Candidate {
  VectorX r, moved;
  double error = std::numeric_limits<double>::infinity();
};

Candidate candidate(const ConeSolver& solver, VectorX r) {
  Candidate out{.r = std::move(r), .moved = {}};
  out.moved = solver.times(out.r);
  out.error = solver.error(out.r, out.moved);
  return out;
}

/// Newton's method with a line search for one centre, until the forces that are called for differ from those that are
/// there by a tenth of how far they are from the centre. How many steps it took.
int newton(ConeSolver& solver, const VectorX& centre, int most, Iterate& now, ConeForces& out) {
  constexpr double near = 0.1, first = 1e-3, finer = 0.1, slow = 0.3, enough = 1e-4, shortest = 1e-4, rounding = 1e-14;
  double forcing = first;
  int steps = 0;
  for (; steps < most && (steps == 0 || now.gap > near * (now.r - centre).norm()); ++steps) {
    poll_interrupt();
    const VectorX step = solver.direction(now, forcing, out.products);
    const VectorX change = solver.times(step);
    const double slope = -(now.r - now.s).dot(change);
    double length = 1.0;
    Iterate next;
    for (;; length *= 0.5) {
      next = solver.at(now.s + length * step, now.moved + length * change);
      if (next.value <= now.value + enough * length * slope + rounding * std::abs(now.value) || length < shortest)
        break;
    }
    if (next.gap > slow * now.gap) forcing = std::max(finer * forcing, solver.finest());
    now = std::move(next);
  }
  out.iterations += steps;
  return steps;
}

/// Of rho, after so many Newton steps for the last one.
double next_share(int steps) {
  constexpr int quick = 1, sound = 7, slow = 12;
  return steps <= quick ? 0.1 : (steps <= sound ? 0.3 : (steps <= slow ? 1.0 : 3.0));
}

}  // namespace

ConeForces solve_cones(const ContactCompliance& compliance, const VectorX& b, const VectorX& mu, VectorX guess,
                       const ConeOptions& options) {
  constexpr int most_rounds = 60, most_steps = 30;
  constexpr double least = 1e-9;
  ConeSolver solver(compliance, b, mu, options);
  const VectorX& scales = compliance.scales();
  for (Eigen::Index i = 0; i < mu.size(); ++i) guess.segment<3>(3 * i) *= scales[i];
  ConeForces out;
  Candidate best = candidate(solver, solver.projected(std::move(guess)));
  Candidate centre = best;
  double rho = options.first_rho;
  for (int k = 0; k < most_rounds && best.error > options.tolerance && out.iterations < options.max_iterations; ++k) {
    solver.centre(centre.r, rho);
    Iterate now = solver.at(centre.r, centre.moved);
    const int steps = newton(solver, centre.r, most_steps, now, out);
    centre = candidate(solver, std::move(now.r));
    Candidate other = candidate(solver, solver.projected(std::move(now.s)));
    if (is_better(other.error, centre.error)) centre = std::move(other);
    if (is_better(centre.error, best.error)) best = centre;
    rho = std::max(rho * next_share(steps), least);
  }
  out.error = best.error;
  out.status = best.error <= options.tolerance ? Status::converged
               : std::isfinite(best.error)     ? Status::max_iterations
                                               : Status::not_finite;
  out.r = std::move(best.r);
  for (Eigen::Index i = 0; i < mu.size(); ++i) out.r.segment<3>(3 * i) /= scales[i];
  return out;
}

}  // namespace tresse::inverse
