#include <tresse/friction/detail/newton.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/detail/nodal_system.hpp>

namespace tresse::friction::detail {
namespace {

/// W r + q and the functions of all contacts at one point; keeps its memory from step to step.
template <typename Matrix>
class Functions {
 public:
  Functions(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings)
      : W_(W),
        q_(q),
        mu_(mu),
        function_(settings.function),
        weight_(settings.weight),
        contacts_(static_cast<std::size_t>(mu.size())) {}

  void velocity(const VectorX& r, VectorX& u) const {
    multiply(W_, r, u);
    u += q_;
  }
  /// |F|.
  double evaluate(const VectorX& r, const VectorX& u) {
    double sum = 0.0;
    for (Eigen::Index i = 0; i < mu_.size(); ++i) {
      ContactFunction& c = contacts_[static_cast<std::size_t>(i)];
      c = detail::evaluate(function_, r.segment<3>(3 * i), weight_ * u.segment<3>(3 * i), mu_[i]);
      c.du *= weight_;
      sum += c.value.squaredNorm();
    }
    return std::sqrt(sum);
  }
  double error(const VectorX& r, const VectorX& u) const { return map_norm(function_, r, u, mu_); }
  const std::vector<ContactFunction>& contacts() const { return contacts_; }

 private:
  const Matrix& W_;
  const VectorX& q_;
  const VectorX& mu_;
  Complementarity function_;
  double weight_;
  std::vector<ContactFunction> contacts_;
};

/// Keeps the best iterate; true: stop.
class BestIterate {
 public:
  BestIterate(const NewtonSettings& settings, VectorX& r) : settings_(settings), r_(r) {}
  void start(double error) { error_ = error; }
  bool offer(const VectorX& r, const VectorX& u, double error, int steps) {
    better_ = is_better(error, error_);
    if (better_) {
      error_ = error;
      r_ = r;
    }
    return (settings_.watch && settings_.watch(r, u, steps)) || done();
  }
  bool done() const { return error_ <= settings_.target; }
  bool better() const { return better_; }
  double error() const { return error_; }

 private:
  const NewtonSettings& settings_;
  VectorX& r_;
  double error_ = std::numeric_limits<double>::infinity();
  bool better_ = false;
};

double directional(const std::vector<ContactFunction>& contacts, double lift, const VectorX& d) {
  // d solves (J + lift B) d = F: the slope of |F|^2/2 along -d is -F.J d = -F.F + lift F.B d.
  double out = 0.0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactFunction& c = contacts[i];
    out += c.value.dot(lift * (c.du * d.segment<3>(3 * static_cast<Eigen::Index>(i))) - c.value);
  }
  return out;
}

}  // namespace

NewtonSettings weighted_settings() {
  constexpr NewtonPolicy::Proximal policy = newton_policy.proximal;
  return {.search = LineSearch::halving,
          .weight = 1.0 / policy.weighted_rho,
          .max_steps = policy.weighted_steps,
          .first_rho = policy.weighted_rho};
}

double goldstein_price(const std::function<double(double)>& phi, double at_zero, double slope) {
  constexpr NewtonPolicy::Search policy = newton_policy.search;
  if (!(slope < 0.0)) return 0.0;
  double low = 0.0, high = std::numeric_limits<double>::infinity(), t = 1.0, good = 0.0;
  for (int k = 0; k < policy.trials; ++k) {
    const double value = phi(t);
    if (!(value <= at_zero + policy.least * t * slope)) {
      high = t;
    } else {
      good = t;
      if (value >= at_zero + policy.most * t * slope || 2.0 * t > policy.longest) return t;
      low = t;
    }
    t = std::isfinite(high) ? 0.5 * (low + high) : 2.0 * t;
  }
  return good;
}

template <typename Matrix>
int newton(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r) {
  constexpr NewtonPolicy::Plain policy = newton_policy.plain;
  Functions<Matrix> functions(W, q, mu, settings);
  typename NewtonSystemOf<Matrix>::Type system(W);
  VectorX x = r, u, change;
  functions.velocity(x, u);
  BestIterate best(settings, r);
  best.start(functions.error(x, u));
  int worse = 0;
  for (int step = 0; step < settings.max_steps; ++step) {
    poll_interrupt();
    if (best.done()) return step;
    const double size = functions.evaluate(x, u);
    if (!system.solve(functions.contacts(), settings.lift, settings.linear, change)) return step;
    const VectorX from = x;
    const auto go = [&](double t) {
      x = from - t * change;
      functions.velocity(x, u);
    };
    if (settings.search == LineSearch::none) {
      go(1.0);
    } else if (settings.search == LineSearch::halving) {
      for (double t = 1.0;; t *= 0.5) {
        go(t);
        if (functions.evaluate(x, u) <= (1.0 - policy.decrease * t) * size) break;
        if (t < policy.shortest) return step + 1;
      }
    } else {
      const double slope = directional(functions.contacts(), settings.lift, change);
      const auto phi = [&](double t) {
        go(t);
        const double f = functions.evaluate(x, u);
        return 0.5 * f * f;
      };
      const double t = goldstein_price(phi, 0.5 * size * size, slope);
      if (t == 0.0) return step + 1;
      go(t);
    }
    if (best.offer(x, u, functions.error(x, u), step + 1)) return step + 1;
    worse = best.better() || settings.weight != 1.0 ? 0 : worse + 1;  // the map measures the plain function
    if (worse > policy.worse) return step + 1;
  }
  return settings.max_steps;
}

template <typename Matrix>
int controlled_newton(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings,
                      VectorX& r) {
  constexpr NewtonPolicy::Controlled policy = newton_policy.controlled;
  Functions<Matrix> functions(W, q, mu, settings);
  typename NewtonSystemOf<Matrix>::Type system(W);
  VectorX x = r, u, change, trial, trial_u;
  functions.velocity(x, u);
  BestIterate best(settings, r);
  best.start(functions.error(x, u));
  double share = policy.first;
  double milestone = std::numeric_limits<double>::infinity();
  int since = 0;
  const double unit = std::max(q.norm(), std::numeric_limits<double>::min());
  for (int step = 0; step < settings.max_steps; ++step) {
    poll_interrupt();
    if (best.done()) return step;
    const double size = functions.evaluate(x, u);
    if (size < policy.progress * milestone) {
      milestone = size;
      since = 0;
    } else if (++since > policy.patience) {
      return step;
    }
    const double lift = std::clamp(share * size / unit, policy.least_lift, policy.most_lift);
    double t = 0.0;
    if (system.solve(functions.contacts(), lift, LinearSolve::elimination, change)) {
      const double slope = directional(functions.contacts(), lift, change);
      const auto phi = [&](double length) {
        trial = x - length * change;
        functions.velocity(trial, trial_u);
        const double f = functions.evaluate(trial, trial_u);
        return 0.5 * f * f;
      };
      t = goldstein_price(phi, 0.5 * size * size, slope);
    }
    if (t > 0.0) {
      x -= t * change;
      functions.velocity(x, u);
      if (best.offer(x, u, functions.error(x, u), step + 1)) return step + 1;
    }
    if (t < policy.shortest && share >= policy.most) return step + 1;
    share = t < policy.shortest ? std::min(policy.rises * share, policy.most)
                                : std::max(policy.falls * share, policy.least);
  }
  return settings.max_steps;
}

template <typename Matrix>
int proximal(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r) {
  constexpr NewtonPolicy::Proximal policy = newton_policy.proximal;
  const double size = frobenius_norm(W);
  const auto error_of = [&](const Matrix& matrix, const VectorX& free, const VectorX& x, VectorX& u) {
    multiply(matrix, x, u);
    u += free;
    return map_norm(settings.function, x, u, mu);
  };
  int steps = 0;
  double rho = settings.first_rho;
  VectorX at = r, u;
  BestIterate best(settings, r);
  best.start(error_of(W, q, r, u));
  Matrix lifted = W;
  for (int k = 0; k < policy.points && steps < settings.max_steps && !best.done(); ++k) {
    lift_diagonal(W, rho, lifted);
    const VectorX shifted = q - rho * at;
    // Nothing finer than the rounding of W r can be asked for: a point refused for it stops the descent of rho.
    const double rounding = std::numeric_limits<double>::epsilon() * (size * at.norm() + q.norm());
    const double finest = std::max(newton_policy.finest * settings.target, rounding);
    const double enough = std::max(policy.solved * q.norm() * std::min(1.0, rho), finest);
    NewtonSettings inner{.function = settings.function,
                         .search = settings.search,
                         .weight = settings.weight,
                         .target = finest,
                         .max_steps = std::min(policy.run, settings.max_steps - steps)};
    VectorX next = at;
    steps += newton(lifted, shifted, mu, inner, next);
    double inner_error = error_of(lifted, shifted, next, u);
    if (inner_error > enough && settings.search == LineSearch::none) {
      VectorX other = at;
      inner.search = LineSearch::halving;
      inner.max_steps = std::min(policy.run, settings.max_steps - steps);
      steps += newton(lifted, shifted, mu, inner, other);
      const double other_error = error_of(lifted, shifted, other, u);
      if (other_error < inner_error) {
        next = other;
        inner_error = other_error;
      }
    }
    const bool done = inner_error <= enough;
    const double reached = error_of(W, q, next, u);
    const bool stop = best.offer(next, u, reached, steps);
    if (done || best.better()) at = next;
    if (stop) break;
    rho = done ? std::max(policy.falls * rho, policy.least_rho) : std::min(policy.rises * rho, policy.most_rho);
  }
  return steps;
}

template int newton(const MatrixX&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int newton(const BlockMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int controlled_newton(const MatrixX&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int controlled_newton(const BlockMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int newton(const NodalMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int controlled_newton(const NodalMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int proximal(const NodalMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int proximal(const MatrixX&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int proximal(const BlockMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);

}  // namespace tresse::friction::detail
