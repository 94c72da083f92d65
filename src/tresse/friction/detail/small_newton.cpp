#include <tresse/friction/detail/small_newton.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>
#include <Eigen/QR>

#include <tresse/friction/coulomb.hpp>

namespace tresse::friction::detail {
namespace {

double map_norm(const VectorX& r, const VectorX& u, const VectorX& mu) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < mu.size(); ++i)
    sum += natural_map(r.segment<3>(3 * i), u.segment<3>(3 * i), mu[i]).squaredNorm();
  return std::sqrt(sum);
}

/// F and the matrices A, B of dF = A dr + B du, per contact.
void alart_curnier(const Vector3& r, const Vector3& u, double mu, Vector3& f, Matrix3& a, Matrix3& b) {
  a.setIdentity();
  b.setZero();
  const double normal = r[0] - u[0];
  if (normal <= 0.0) {  // open: F = r
    f = r;
    return;
  }
  f[0] = u[0];
  a(0, 0) = 0.0;
  b(0, 0) = 1.0;
  const Eigen::Vector2d p(r[1] - u[1], r[2] - u[2]);
  const double length = p.norm();
  const double radius = mu * normal;
  if (length <= radius) {  // stick: F_T = u_T
    f[1] = u[1];
    f[2] = u[2];
    a(1, 1) = a(2, 2) = 0.0;
    b(1, 1) = b(2, 2) = 1.0;
    return;
  }
  const Eigen::Vector2d d = p / length;
  f[1] = r[1] - radius * d[0];
  f[2] = r[2] - radius * d[1];
  const Eigen::Matrix2d turn = radius / length * (Eigen::Matrix2d::Identity() - d * d.transpose());
  a.block<2, 2>(1, 1) -= turn;
  b.block<2, 2>(1, 1) = turn;
  a.block<2, 1>(1, 0) = -mu * d;
  b.block<2, 1>(1, 0) = mu * d;
}

/// One Newton run; `lift` < 0: W is safely regular. With `backtrack` steps are halved until |F| falls.
int newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double lift, bool backtrack, double target,
           VectorX& r, int max_steps) {
  const Eigen::Index n = mu.size();
  VectorX x = r;
  VectorX u = W * x + q;
  double best = map_norm(x, u, mu);
  MatrixX derivative(3 * n, 3 * n);
  VectorX f(3 * n);
  const auto evaluate = [&](const VectorX& at, const VectorX& velocity, bool derive) {
    Matrix3 a, b;
    Vector3 value;
    for (Eigen::Index i = 0; i < n; ++i) {
      alart_curnier(at.segment<3>(3 * i), velocity.segment<3>(3 * i), mu[i], value, a, b);
      f.segment<3>(3 * i) = value;
      if (!derive) continue;
      derivative.middleRows<3>(3 * i).noalias() = b * W.middleRows<3>(3 * i);
      derivative.block<3, 3>(3 * i, 3 * i) += lift > 0.0 ? Matrix3(a + lift * b) : a;
    }
    return f.norm();
  };
  int worse = 0;
  for (int step = 0; step < max_steps; ++step) {
    if (best <= target) return step;
    const double size = evaluate(x, u, true);
    const VectorX change = lift == 0.0 ? VectorX(derivative.completeOrthogonalDecomposition().solve(f))
                                       : VectorX(derivative.partialPivLu().solve(f));
    if (!change.allFinite()) return step;
    const VectorX from = x;
    for (double t = 1.0;; t *= 0.5) {
      x = from - t * change;
      u.noalias() = W * x;
      u += q;
      if (!backtrack || evaluate(x, u, false) <= (1.0 - 1e-4 * t) * size) break;
      if (t < 1e-3) return step + 1;
    }
    const double error = map_norm(x, u, mu);
    if (error < best) {
      best = error;
      r = x;
      worse = 0;
    } else if (++worse > 8) {
      return step + 1;
    }
  }
  return max_steps;
}

}  // namespace

int small_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double lift, double target, VectorX& r,
                 int max_steps) {
  return newton(W, q, mu, lift, false, target, r, max_steps);
}

int proximal_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double target, VectorX& r, int max_steps) {
  constexpr double regular = -1.0;
  constexpr double solved = 1e-10;  // of |q|: good enough for the next point
  constexpr double least_rho = 1e-13;
  constexpr int run = 30;
  int steps = 0;
  double rho = 0.1;
  VectorX at = r;
  double best = map_norm(r, W * r + q, mu);
  MatrixX lifted = W;
  for (int k = 0; k < 200 && steps < max_steps && best > target; ++k) {
    lifted.diagonal() = W.diagonal().array() + rho;
    const VectorX shifted = q - rho * at;
    // Nothing finer than the rounding of W r can be asked for: a point refused for it stops the descent of rho.
    const double rounding = std::numeric_limits<double>::epsilon() * (W.norm() * at.norm() + q.norm());
    const double finest = std::max(0.1 * target, rounding);
    const double enough = std::max(solved * q.norm() * std::min(1.0, rho), finest);
    const auto error = [&](const VectorX& x) { return map_norm(x, lifted * x + shifted, mu); };
    VectorX next = at;
    steps += newton(lifted, shifted, mu, regular, false, finest, next, run);
    if (error(next) > enough) {
      VectorX other = at;
      steps += newton(lifted, shifted, mu, regular, true, finest, other, run);
      if (error(other) < error(next)) next = other;
    }
    const bool done = error(next) <= enough;
    const double reached = map_norm(next, W * next + q, mu);
    if (done || reached < best) at = next;
    if (reached < best) {
      best = reached;
      r = next;
    }
    rho = done ? std::max(0.1 * rho, least_rho) : std::min(5.0 * rho, 1.0);
  }
  return steps;
}

}  // namespace tresse::friction::detail
