#include <tresse/friction/detail/convex_primal.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/SparseCholesky>

#include <tresse/base/best.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/complementarity.hpp>

namespace tresse::friction::detail {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// The inner problem in y at given r_k and sigma.
class Inner {
 public:
  Inner(const PrimalProblem& problem, const VectorX& at, double sigma)
      : problem_(problem), at_(at), sigma_(sigma), p_(at.size()) {}

  /// phi(y); p = P_K(r_k - sigma (X y + b)) goes with it.
  double value(const VectorX& y) {
    z_ = at_ - sigma_ * (problem_.X * y + problem_.b);
    for (Eigen::Index i = 0; i < problem_.mu.size(); ++i)
      p_.segment<3>(3 * i) = project_on_cone(z_.segment<3>(3 * i), problem_.mu[i]);
    return 0.5 * y.squaredNorm() + 0.5 / sigma_ * p_.squaredNorm();
  }
  const VectorX& projected() const { return p_; }
  VectorX gradient(const VectorX& y) const { return y - problem_.X.transpose() * p_; }

  /// Newton's step at the last value().
  bool step(const VectorX& gradient, VectorX& d) {
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < problem_.mu.size(); ++i) {
      // The derivative of P_K at z is the conic map's with respect to u at r = z, u = 0.
      const Matrix3 block = conic_map(z_.segment<3>(3 * i), Vector3::Zero(), problem_.mu[i]).du;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          if (block(a, b) != 0.0) entries.emplace_back(3 * i + a, 3 * i + b, sigma_ * block(a, b));
    }
    Sparse projection(z_.size(), z_.size());
    projection.setFromTriplets(entries.begin(), entries.end());
    Sparse hessian = problem_.X.transpose() * projection * problem_.X;
    Sparse identity(hessian.rows(), hessian.cols());
    identity.setIdentity();
    hessian += identity;
    factor_.compute(hessian);
    if (factor_.info() != Eigen::Success) return false;
    d = factor_.solve(gradient);
    return d.allFinite();
  }

 private:
  const PrimalProblem& problem_;
  const VectorX& at_;
  double sigma_;
  VectorX z_, p_;
  Eigen::SimplicialLDLT<Sparse> factor_;
};

/// Damped Newton on the inner problem; false where rounding or the steps came first.
bool minimise(Inner& inner, double enough, int most, VectorX& y, int& steps) {
  VectorX d;
  double value = inner.value(y);
  for (int k = 0;; ++k) {
    const VectorX gradient = inner.gradient(y);
    if (gradient.norm() <= enough) return true;
    if (k >= most || !inner.step(gradient, d)) return false;
    ++steps;
    const double slope = -gradient.dot(d);
    double t = 1.0;
    constexpr double shortest = 1e-8;
    // Near the minimum the values differ by less than their rounding: there full steps are safe.
    const double rounding = 1e-14 * std::abs(value);
    VectorX next = y - d;
    double trial = inner.value(next);
    while (!(trial <= value + 1e-4 * t * slope + rounding)) {
      t *= 0.5;
      if (t < shortest) return false;
      next = y - t * d;
      trial = inner.value(next);
    }
    y = next;
    value = trial;
  }
}

}  // namespace

PrimalRun solve_primal(const PrimalProblem& problem, double target, int max_steps, VectorX& r) {
  constexpr double first_sigma = 10.0, least_sigma = 1e-2;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  constexpr int inner_steps = 40;
  const auto error_of = [&](const VectorX& at) {
    const VectorX u = problem.X * VectorX(problem.X.transpose() * at) + problem.b;
    return map_norm(Complementarity::conic_map, at, u, problem.mu);
  };
  // Velocities are rounded to epsilon, and sigma times that is seen in the impulses.
  const double size = problem.b.norm();
  const double largest_sigma = std::clamp(0.1 * target / (epsilon * size), first_sigma, 1e8);
  PrimalRun run;
  run.error = error_of(r);
  VectorX at = r;
  VectorX y = problem.X.transpose() * at;
  double sigma = first_sigma;
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 1000 && run.newton_steps < max_steps && run.error > target; ++k) {
    Inner inner(problem, at, sigma);
    // The impulse's velocity differs from y by the gradient.
    const double finest = epsilon * (y.norm() + (1.0 + sigma) * size);
    const bool done = minimise(inner, std::max(0.1 * target, finest),
                               std::min(inner_steps, max_steps - run.newton_steps), y, run.newton_steps);
    const VectorX next = inner.projected();
    const double reached = error_of(next);
    if (!std::isfinite(reached)) break;
    if (is_better(reached, run.error)) {
      run.error = reached;
      r = next;
    }
    if (done) at = next;
    // Contacts that are nearly the same drift apart at the rate sigma: then it has to be larger whatever the rounding.
    constexpr double longest = 1e12;
    const bool drifts = reached > 0.5 * last;
    last = reached;
    const double most = drifts ? longest : std::max(sigma, largest_sigma);
    sigma = done ? std::min(10.0 * sigma, most) : std::max(0.2 * sigma, least_sigma);
    if (!done) y = problem.X.transpose() * at;
  }
  return run;
}

}  // namespace tresse::friction::detail
