#include <tresse/friction/detail/small_newton.hpp>

#include <tresse/friction/detail/newton.hpp>

namespace tresse::friction::detail {

int small_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double lift, double target, VectorX& r,
                 int max_steps) {
  const LinearSolve linear = lift > 0.0 ? LinearSolve::elimination : LinearSolve::least_squares;
  return newton(W, q, mu, {.lift = lift, .linear = linear, .target = target, .max_steps = max_steps}, r);
}

int proximal_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double target, VectorX& r, int max_steps) {
  return proximal(W, q, mu, {.target = target, .max_steps = max_steps}, r);
}

int weighted_proximal_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double target, VectorX& r) {
  NewtonSettings settings = weighted_settings();
  settings.target = target;
  return proximal(W, q, mu, settings, r);
}

}  // namespace tresse::friction::detail
