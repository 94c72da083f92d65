#pragma once

#include <tresse/friction/detail/newton.hpp>

/// Coulomb's law smoothed, and its zeros followed as the smoothing is let go.
namespace tresse::friction::detail {

/// How far the law is smoothed, both in sqrt(J): `cone` rounds the corner of the cones, `slip` that of |u_T|.
struct Smoothing {
  double cone = 0.0;
  double slip = 0.0;
  double slip_rate = 0.0;   ///< d slip / d log cone
  double share = 1.0;       ///< of mu |u_T| that counts, 0..1: none, and the problem is convex
  double share_rate = 0.0;  ///< d share / d log cone
};

struct SmoothedFunction {
  ContactFunction function;
  Vector3 rate;  ///< d value / d log cone
};

/// x - p(x - y) with x = (mu r_N, r_T), y = (u_N + share mu sqrt(|u_T|^2 + slip^2), mu u_T) and p the projection on the
/// second-order cone with its spectral values l made (l + sqrt(l^2 + 4 cone^2)) / 2. It vanishes where x and y lie
/// within the cone and their Jordan product is cone^2 e: for cone = slip = 0 where Coulomb's law holds. Without
/// friction the same of r_N and u_N, and r_T. @cite fukushima2002 sec. 5
SmoothedFunction smoothed_coulomb(const Vector3& r, const Vector3& u, double mu, const Smoothing& smoothing);

/// Follows the zeros of the smoothed law from a strong smoothing, where there is one, to hardly any, by steps of
/// arc length: where friction makes the path turn back, it is followed through the fold. On the way, and at the end,
/// Newton's method (controlled_newton()) is tried from it. For problems on which all else stalls.
/// `settings.target`, `watch` and `max_steps` count as of newton(); the rest is not read. r: the best iterate by the
/// natural map on return; the path doesn't depend on where it starts. Returns the linear systems factored.
/// @cite allgower1990 ch. 6
template <typename Matrix>
int follow_path(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r);

}  // namespace tresse::friction::detail
