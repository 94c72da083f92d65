#pragma once

#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// The residuals: one function each, for every solver. All recompute u = W r + q. Where r, u and q all vanish they
/// are 0; where a number is not finite they are NaN.

/// The field's common measure: ||r - P_K(r - (u + mu |u_T| e_N))||_2 / max(||q||, ||r||, ||u||), raw units. It mixes
/// impulses and velocities: compare programs with it, don't trust it alone. @cite acary2018
double natural_map_error(const FrictionProblem& problem, const VectorX& impulse);
double natural_map_error(const FactoredProblem& problem, const VectorX& impulse);

/// The same after r_i -> r_i s_i, u_i -> u_i / s_i, s_i = contact_scales(problem)[i]: both then have the unit sqrt(J).
double scaled_error(const FrictionProblem& problem, const VectorX& impulse);
double scaled_error(const FactoredProblem& problem, const VectorX& impulse);

/// Alart and Curnier's residual after the same scaling (rho = 1), same normalisation:
/// r_N - P_{>=0}(r_N - u_N) and r_T - P_{B(mu P_{>=0}(r_N))}(r_T - u_T). @cite alart1991; bertails2011 sec. 3
double alart_curnier_error(const FrictionProblem& problem, const VectorX& impulse);
double alart_curnier_error(const FactoredProblem& problem, const VectorX& impulse);

/// s_i = sqrt(tr W_ii / 3) (n) [kg^-1/2]. A contact that nothing can move (tr W_ii = 0, or below 1e-18 of the largest)
/// takes the largest of the others; 1 where all vanish.
VectorX contact_scales(const std::vector<Matrix3>& diagonal);

/// The sums behind an error, for callers that hold r and u already; scales empty: all 1.
struct ErrorSums {
  double map = 0.0;                  ///< sum of |natural map|^2
  double q = 0.0, r = 0.0, u = 0.0;  ///< sums of squares
  double relative() const;           ///< sqrt(map / max(q, r, u)); 0 where all vanish

  /// One contact's share.
  void add(const Vector3& its_map, const Vector3& its_q, const Vector3& its_r, const Vector3& its_u) {
    map += its_map.squaredNorm();
    q += its_q.squaredNorm();
    r += its_r.squaredNorm();
    u += its_u.squaredNorm();
  }
  ErrorSums& operator+=(const ErrorSums& other) {
    map += other.map;
    q += other.q;
    r += other.r;
    u += other.u;
    return *this;
  }
};

/// The sums of contacts 0 to n, `add(sums, i)` adding the share of one; on all threads, the same for any number of
/// them.
template <typename Add>
ErrorSums sum_errors(Eigen::Index n, const Add& add) {
  constexpr Eigen::Index block = 1024;
  std::vector<ErrorSums> parts(static_cast<std::size_t>((n + block - 1) / block));
  for_blocks(n, block, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index i = begin; i < end; ++i) add(parts[static_cast<std::size_t>(k)], i);
  });
  ErrorSums out;
  for (const ErrorSums& part : parts) out += part;
  return out;
}

ErrorSums natural_map_sums(const VectorX& impulse, const VectorX& velocity, const VectorX& free_velocity,
                           const VectorX& mu, const VectorX& scales);

}  // namespace tresse::friction
