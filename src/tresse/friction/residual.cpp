#include <tresse/friction/residual.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tresse::friction {
namespace {

Vector3 alart_curnier_map(const Vector3& r, const Vector3& u, double mu) {
  const double normal = r[0] - std::max(0.0, r[0] - u[0]);
  const double radius = mu * std::max(0.0, r[0]);
  Vector3 tangential(0.0, r[1] - u[1], r[2] - u[2]);
  const double length = tangential_norm(tangential);
  if (length > radius) tangential *= radius / length;
  return {normal, r[1] - tangential[1], r[2] - tangential[2]};
}

/// What vanishes where one contact's (r, u) obeys the law.
using Map = Vector3 (*)(const Vector3& r, const Vector3& u, double mu);

ErrorSums sums(const VectorX& impulse, const VectorX& velocity, const VectorX& free_velocity, const VectorX& mu,
               const VectorX& scales, Map map) {
  return sum_errors(mu.size(), [&](ErrorSums& out, Eigen::Index i) {
    const double s = scales.size() == 0 ? 1.0 : scales[i];
    const Vector3 r = s * impulse.segment<3>(3 * i);
    const Vector3 u = velocity.segment<3>(3 * i) / s;
    out.add(map(r, u, mu[i]), free_velocity.segment<3>(3 * i) / s, r, u);
  });
}

template <typename Problem>
double error(const Problem& problem, const VectorX& impulse, const VectorX& scales, Map map) {
  return sums(impulse, velocity(problem, impulse), problem.q, problem.mu, scales, map).relative();
}

}  // namespace

double ErrorSums::relative() const {
  const double scale = std::max({q, r, u});
  if (!std::isfinite(map + q + r + u)) return std::numeric_limits<double>::quiet_NaN();
  return scale > 0.0 ? std::sqrt(map / scale) : 0.0;
}

ErrorSums natural_map_sums(const VectorX& impulse, const VectorX& velocity, const VectorX& free_velocity,
                           const VectorX& mu, const VectorX& scales) {
  return sums(impulse, velocity, free_velocity, mu, scales, natural_map);
}

VectorX contact_scales(const std::vector<Matrix3>& diagonal) {
  const auto n = static_cast<Eigen::Index>(diagonal.size());
  VectorX mean(n);
  for (Eigen::Index i = 0; i < n; ++i) mean[i] = diagonal[static_cast<std::size_t>(i)].trace() / 3.0;
  const double largest = n > 0 ? std::max(0.0, mean.maxCoeff()) : 0.0;
  constexpr double negligible = 1e-18;
  for (double& w : mean)
    if (!(w > negligible * largest)) w = largest > 0.0 ? largest : 1.0;
  return mean.cwiseSqrt();
}

double natural_map_error(const FrictionProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, {}, natural_map);
}
double natural_map_error(const FactoredProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, {}, natural_map);
}
double scaled_error(const FrictionProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, contact_scales(diagonal_blocks(problem)), natural_map);
}
double scaled_error(const FactoredProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, contact_scales(diagonal_blocks(problem)), natural_map);
}
double alart_curnier_error(const FrictionProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, contact_scales(diagonal_blocks(problem)), alart_curnier_map);
}
double alart_curnier_error(const FactoredProblem& problem, const VectorX& impulse) {
  return error(problem, impulse, contact_scales(diagonal_blocks(problem)), alart_curnier_map);
}

}  // namespace tresse::friction
