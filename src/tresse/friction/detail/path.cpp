#include <tresse/friction/detail/path.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tresse/base/best.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::friction::detail {
namespace {

using Vector2 = Eigen::Vector2d;

/// (l + sqrt(l^2 + 4 e^2)) / 2 without cancellation, its derivative, and that by log e.
struct Softened {
  double value, slope, rate;
};

Softened soften(double l, double e) {
  const double root = std::hypot(l, 2.0 * e);
  const double value = l > 0.0 ? 0.5 * (l + root) : 2.0 * e * e / (root - l);
  return {value, value / root, 2.0 * e * e / root};
}

/// A function of z = (z_N, z_T) in the Jordan algebra of the cone, of its values at z_N - |z_T| and z_N + |z_T|.
/// `way`: z_T / |z_T|. @cite fukushima2002 sec. 4
Vector3 spectral(double at_low, double at_high, const Vector2& way) {
  Vector3 out;
  out << 0.5 * (at_high + at_low), 0.5 * (at_high - at_low) * way;
  return out;
}

Matrix3 spectral_derivative(const Softened& low, const Softened& high, const Vector2& way, double tangential) {
  const double mean = 0.5 * (high.slope + low.slope), half = 0.5 * (high.slope - low.slope);
  const double turn = tangential > 0.0 ? 0.5 * (high.value - low.value) / tangential : mean;
  Matrix3 out;
  out(0, 0) = mean;
  out.block<1, 2>(0, 1) = half * way.transpose();
  out.block<2, 1>(1, 0) = half * way;
  out.block<2, 2>(1, 1) = turn * Eigen::Matrix2d::Identity() + (mean - turn) * way * way.transpose();
  return out;
}

/// A point of the path: r, and t = log of the smoothing in units of `unit`.
struct Point {
  VectorX r;
  double t = 0.0;
};

/// The direction of the path, of length 1 where r counts in units of `unit`.
struct Direction {
  VectorX r;
  double t = 0.0;
  double unit = 1.0;
  double dot(const Direction& other) const { return r.dot(other.r) * other.unit / unit + t * other.t; }
};

template <typename Matrix>
class PathFollower {
 public:
  PathFollower(const Matrix& W, const VectorX& q, const VectorX& mu, double power, int budget)
      : W_(W),
        q_(q),
        mu_(mu),
        power_(power),
        budget_(budget),
        // Of one contact's share of q: everything that has a size is measured by it.
        size_(std::max(q.norm() / std::sqrt(static_cast<double>(mu.size())), std::numeric_limits<double>::min())),
        derivative_(W),
        functions_(static_cast<std::size_t>(mu.size())) {}

  bool begin();
  /// A step along the path; false where it is lost.
  bool advance();
  double smoothing() const { return std::exp(at_.t); }  ///< in units of the share of q
  const VectorX& r() const { return at_.r; }
  int factored() const { return factored_; }

 private:
  double evaluate(const Point& point);
  bool factor();
  bool solve_fixed(Point& point);
  Direction direction(double sign);
  bool correct(const Point& predicted, Point& point, int& corrections);

  const Matrix& W_;
  const VectorX& q_;
  const VectorX& mu_;
  double power_;
  int budget_;  // systems that may be factored
  double size_;
  typename DerivativeOf<Matrix>::Type derivative_;
  std::vector<ContactFunction> functions_;
  VectorX f_, rate_, u_;
  Point at_;
  Direction direction_;
  double length_ = 0.5;  // of the next step
  int factored_ = 0;
};

/// |F| over the smoothing.
template <typename Matrix>
double PathFollower<Matrix>::evaluate(const Point& point) {
  const double e = std::exp(point.t);
  Smoothing smoothing{.cone = size_ * e};
  smoothing.slip = smoothing.cone * std::pow(e / (1.0 + e), power_ - 1.0);
  smoothing.slip_rate = smoothing.slip * (1.0 + (power_ - 1.0) / (1.0 + e));
  smoothing.share = 1.0 / (1.0 + e * e);
  smoothing.share_rate = -2.0 * e * e * smoothing.share * smoothing.share;
  multiply(W_, point.r, u_);
  u_ += q_;
  f_.resize(u_.size());
  rate_.resize(u_.size());
  for (Eigen::Index i = 0; i < mu_.size(); ++i) {
    const SmoothedFunction c = smoothed_coulomb(point.r.segment<3>(3 * i), u_.segment<3>(3 * i), mu_[i], smoothing);
    functions_[static_cast<std::size_t>(i)] = c.function;
    f_.segment<3>(3 * i) = c.function.value;
    rate_.segment<3>(3 * i) = c.rate;
  }
  return f_.norm() / smoothing.cone;
}

template <typename Matrix>
bool PathFollower<Matrix>::factor() {
  poll_interrupt();
  if (factored_ >= budget_) return false;
  ++factored_;
  return derivative_.factor(functions_);
}

constexpr double on_path = 1e-4;  // of the smoothing: |F| of what counts as a point of the path

/// Newton's method with halving at a given smoothing.
template <typename Matrix>
bool PathFollower<Matrix>::solve_fixed(Point& point) {
  constexpr int most = 60;
  double size = evaluate(point);
  for (int k = 0; k < most; ++k) {
    if (size < on_path) return true;
    if (!factor()) return false;
    const VectorX step = derivative_.solve(f_);
    const VectorX from = point.r;
    double t = 1.0;
    for (;; t *= 0.5) {
      point.r = from - t * step;
      const double trial = evaluate(point);
      if (trial <= (1.0 - 1e-4 * t) * size) {
        size = trial;
        break;
      }
      if (t < 1e-4) return false;
    }
  }
  return false;
}

/// With the derivative factored last and the rates evaluated last.
template <typename Matrix>
Direction PathFollower<Matrix>::direction(double sign) {
  constexpr double part = 0.02;  // of |r|: what weighs as much as a factor of e in the smoothing
  Direction out;
  out.unit = std::max(part * at_.r.norm(), std::numeric_limits<double>::min());
  out.r = -derivative_.solve(rate_) / out.unit;
  out.t = 1.0;
  const double norm = std::copysign(std::sqrt(out.r.squaredNorm() + 1.0), sign);
  out.r /= norm;
  out.t /= norm;
  return out;
}

/// From where friction counts for nothing, and there is one solution, down to the size of q as far as halving goes.
template <typename Matrix>
bool PathFollower<Matrix>::begin() {
  constexpr double strongest = 64.0;
  at_.t = std::log(strongest);
  at_.r = VectorX::Zero(q_.size());
  for (Eigen::Index i = 0; i < mu_.size(); ++i) at_.r[3 * i] = size_ * strongest / std::max(mu_[i], 1e-3);
  if (!solve_fixed(at_)) return false;
  while (at_.t > 0.0) {
    Point half{0.5 * at_.r, at_.t - std::log(2.0)};
    if (!solve_fixed(half)) break;
    at_ = half;
  }
  evaluate(at_);
  if (!factor()) return false;
  direction_ = direction(-1.0);
  return true;
}

/// Newton's method across the direction of the path.
template <typename Matrix>
bool PathFollower<Matrix>::correct(const Point& predicted, Point& point, int& corrections) {
  constexpr int most = 6;
  double size = evaluate(point);
  for (corrections = 0;; ++corrections) {
    if (!std::isfinite(size) || !factor()) return false;
    if (size < on_path) return true;
    if (corrections == most) return false;
    const VectorX along = derivative_.solve(rate_), back = derivative_.solve(f_);
    const double slope = direction_.t - direction_.r.dot(along) / direction_.unit;
    const double off =
        direction_.r.dot(point.r - predicted.r) / direction_.unit + direction_.t * (point.t - predicted.t);
    const double dt = (direction_.r.dot(back) / direction_.unit - off) / slope;
    point.r -= back + dt * along;
    point.t += dt;
    if (!(std::abs(point.t - predicted.t) < 2.0)) return false;
    size = evaluate(point);
  }
}

template <typename Matrix>
bool PathFollower<Matrix>::advance() {
  constexpr double shortest = 1e-6, longest = 1.0;
  constexpr double straight = 0.7;  // cosine between the directions of one point and the next
  for (;;) {
    const Point predicted{at_.r + length_ * direction_.unit * direction_.r, at_.t + length_ * direction_.t};
    Point point = predicted;
    int corrections = 0;
    if (correct(predicted, point, corrections)) {
      Direction next = direction(1.0);
      if (next.dot(direction_) < 0.0) {
        next.r = -next.r;
        next.t = -next.t;
      }
      if (next.dot(direction_) > straight) {
        at_ = point;
        direction_ = next;
        if (corrections <= 3) length_ = std::min(1.4 * length_, longest);
        if (corrections > 4) length_ /= 1.4;
        return true;
      }
    }
    length_ *= 0.5;
    if (length_ < shortest) return false;
  }
}

}  // namespace

SmoothedFunction smoothed_coulomb(const Vector3& r, const Vector3& u, double mu, const Smoothing& smoothing) {
  SmoothedFunction out{{r, Matrix3::Identity(), Matrix3::Zero()}, Vector3::Zero()};
  ContactFunction& c = out.function;
  if (mu == 0.0) {
    const Softened p = soften(r[0] - u[0], smoothing.cone);
    c.value[0] = r[0] - p.value;
    c.dr(0, 0) = 1.0 - p.slope;
    c.du(0, 0) = p.slope;
    out.rate[0] = -p.rate;
    return out;
  }
  const double slip = std::hypot(tangential_norm(u), smoothing.slip);
  const Vector3 x(mu * r[0], r[1], r[2]);
  const double shifted = mu * smoothing.share;
  const Vector3 z = x - Vector3(u[0] + shifted * slip, mu * u[1], mu * u[2]);
  const double tangential = tangential_norm(z);
  const Vector2 way = tangential > 0.0 ? Vector2(z.tail<2>() / tangential) : Vector2(1.0, 0.0);
  const Softened low = soften(z[0] - tangential, smoothing.cone), high = soften(z[0] + tangential, smoothing.cone);
  const Matrix3 p = spectral_derivative(low, high, way, tangential);
  Matrix3 dy = Matrix3::Zero();
  dy.diagonal() << 1.0, mu, mu;
  if (slip > 0.0) dy.block<1, 2>(0, 1) = shifted / slip * u.tail<2>().transpose();
  c.value = x - spectral(low.value, high.value, way);
  c.dr -= p;
  c.dr.col(0) *= mu;
  c.du = p * dy;
  out.rate = -spectral(low.rate, high.rate, way);
  double shift_rate = mu * smoothing.share_rate * slip;
  if (slip > 0.0) shift_rate += shifted * smoothing.slip * smoothing.slip_rate / slip;
  out.rate += shift_rate * p.col(0);
  return out;
}

template <typename Matrix>
int follow_path(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r) {
  constexpr double first_try = 1e-3, last_try = 1e-7;  // smoothing, of a contact's share of q, with Newton in between
  constexpr double lost = 1e4;
  constexpr int newton_steps = 40;
  VectorX u;
  const auto error_of = [&](const VectorX& x) {
    multiply(W, x, u);
    u += q;
    return map_norm(Complementarity::alart_curnier, x, u, mu);
  };
  double best = error_of(r);
  int steps = 0;
  const auto try_newton = [&](VectorX x) {
    NewtonSettings inner{.target = settings.target, .max_steps = std::min(newton_steps, settings.max_steps - steps)};
    bool stop = false;
    inner.watch = [&](const VectorX& at, const VectorX& velocity, int done) {
      stop = settings.watch && settings.watch(at, velocity, steps + done);
      return stop;
    };
    steps += controlled_newton(W, q, mu, inner, x);
    const double error = error_of(x);
    if (is_better(error, best)) {
      best = error;
      r = x;
    }
    return stop || best <= settings.target;
  };
  // Slip smoothed less than the cones, as their square, or as much: either path may be the one that arrives.
  for (const double power : {2.0, 1.0}) {
    PathFollower<Matrix> path(W, q, mu, power, settings.max_steps - steps);
    bool good = path.begin();
    int counted = 0;
    double next_try = first_try;
    while (good && steps < settings.max_steps && path.smoothing() > last_try && path.smoothing() < lost) {
      good = path.advance();
      steps += path.factored() - std::exchange(counted, path.factored());
      if (path.smoothing() > next_try && good) continue;
      next_try = 0.1 * std::min(path.smoothing(), next_try);
      if (path.smoothing() <= first_try && try_newton(path.r())) return steps;
    }
    steps += path.factored() - counted;
  }
  return std::min(steps, settings.max_steps);
}

template int follow_path(const MatrixX&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);
template int follow_path(const BlockMatrix&, const VectorX&, const VectorX&, const NewtonSettings&, VectorX&);

}  // namespace tresse::friction::detail
