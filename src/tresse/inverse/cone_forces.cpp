#include <tresse/inverse/cone_forces.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::inverse {
namespace {

/// Forces s, what follows from them, and the forces r = P((rho c - W s - b) / (gamma + rho)) that they call for.
struct Iterate {
  VectorX s, moved;  ///< moved: S s
  VectorX r;
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
  friction::ErrorSums errors(const VectorX& r, const VectorX& moved) const {
    return friction::sum_errors(mu_.size(), [&](friction::ErrorSums& to, Eigen::Index i) {
      const Vector3 force = r.segment<3>(3 * i);
      const Vector3 velocity = moved.segment<3>(3 * i) + gamma_[i] * force + b_.segment<3>(3 * i);
      to.add(force - friction::project_on_cone(force - velocity, mu_[i]), b_.segment<3>(3 * i), force, velocity);
    });
  }

  void centre(const VectorX& c, double rho) {
    c_ = c;
    rho_ = rho;
    added_ = gamma_.array() + rho;
  }

  Iterate at(VectorX s, VectorX moved) const {
    Iterate out;
    out.r.resize(s.size());
    double gap = 0.0;
    for (Eigen::Index i = 0; i < mu_.size(); ++i) {
      const Vector3 x = wanted(i, moved);
      const Vector3 r = friction::project_on_cone(x, mu_[i]);
      gap += (r - s.segment<3>(3 * i)).squaredNorm();
      out.r.segment<3>(3 * i) = r;
    }
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
  friction::ErrorSums sums;
  double error = std::numeric_limits<double>::infinity();
};

Candidate candidate(const ConeSolver& solver, VectorX r) {
  Candidate out{.r = std::move(r), .moved = {}, .sums = {}};
  out.moved = solver.times(out.r);
  out.sums = solver.errors(out.r, out.moved);
  out.error = out.sums.relative();
  return out;
}

/// The iterate along a step where the convex function is nearly least, at most the whole step, and its share of the
/// step. Slopes need no product with W, so that a good place costs little beside the step itself.
std::pair<Iterate, double> searched(const ConeSolver& solver, const Iterate& from, const VectorX& step,
                                    const VectorX& change) {
  constexpr double flat = 0.1, away = 0.1;  // of the first slope; of what is left of the step
  constexpr int most = 12;
  const auto slope = [&](const Iterate& at) { return change.dot(at.s - at.r); };
  const double first = slope(from);
  double low = 0.0, at_low = first, high = 1.0, length = 1.0;
  Iterate out = solver.at(from.s + step, from.moved + change);
  double at_high = slope(out);
  for (int k = 0; k < most && first < 0.0 && at_high > -flat * first; ++k) {
    const double secant = low + (high - low) * at_low / (at_low - at_high);
    length = std::clamp(secant, low + away * (high - low), high - away * (high - low));
    out = solver.at(from.s + length * step, from.moved + length * change);
    const double there = slope(out);
    if (std::abs(there) <= -flat * first) break;
    (there < 0.0 ? low : high) = length;
    (there < 0.0 ? at_low : at_high) = there;
  }
  return {std::move(out), length};
}

/// Newton's method with a line search for one centre, until the forces that are called for differ from those that are
/// there by a hundredth of how far they are from the centre. How many steps it took.
int newton(ConeSolver& solver, const VectorX& centre, int most, Iterate& now, ConeForces& out) {
  constexpr double near = 0.01, first = 1e-3, finer = 0.1;
  // What a step brings: less of a whole one, or of a part of one, and linear systems are solved more finely.
  constexpr double slow = 0.3, slow_part = 0.9;
  constexpr double astray = 2.0;  // a step that brings this much more is what a coarse system makes: it is not taken
  double forcing = first;
  int steps = 0;
  for (; steps < most && (steps == 0 || now.gap > near * (now.r - centre).norm()); ++steps) {
    poll_interrupt();
    const VectorX step = solver.direction(now, forcing, out.products);
    auto [next, length] = searched(solver, now, step, solver.times(step));
    const bool coarse = forcing > solver.finest();
    const double was = now.gap, is = next.gap;
    if (!(coarse && is > astray * was)) now = std::move(next);
    if (is > (length < 1.0 ? slow_part : slow) * was) forcing = std::max(finer * forcing, solver.finest());
  }
  out.iterations += steps;
  return steps;
}

/// Of rho, after so many Newton steps for the last one.
double next_share(int steps) {
  constexpr int quick = 1, sound = 7, slow = 20;
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
  out.sums = best.sums;
  out.status = best.error <= options.tolerance ? Status::converged
               : std::isfinite(best.error)     ? Status::max_iterations
                                               : Status::not_finite;
  out.r = std::move(best.r);
  for (Eigen::Index i = 0; i < mu.size(); ++i) out.r.segment<3>(3 * i) /= scales[i];
  return out;
}

}  // namespace tresse::inverse
