#pragma once

#include <tresse/base/types.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {

/// Semismooth Newton on Alart and Curnier's function for a small dense problem u = W r + q, W (3n, 3n) scaled to mean
/// diagonal 1. r is the start, and the best iterate by the natural map on return, never worse than the start. The
/// derivative is singular where contacts are redundant: `lift` is added to W's diagonal in the derivative alone, which
/// decides between nearly redundant contacts whose velocities differ (the two active equations contradict each other;
/// a small lift lets the wrong one open); 0: least squares of least norm. Stops once the map's norm is at most
/// `target`. Returns the steps taken. @cite alart1991; bertails2011 sec. 4
int small_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double lift, double target, VectorX& r,
                 int max_steps = sweep_policy.small.steps);

/// Proximal-point iteration for problems with redundant contacts, where Newton's method alone and sweeps stall: each
/// step solves the regular problem (W + rho I) r + (q - rho r_k) by Newton's method from r_k, with a rho that falls
/// while that succeeds. The limit solves the problem itself. Arguments and return value as small_newton().
/// @cite rockafellar1976
int proximal_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double target, VectorX& r,
                    int max_steps = newton_policy.proximal.steps);

/// The same from near the solution, with weighted_settings().
int weighted_proximal_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, double target, VectorX& r);

}  // namespace tresse::friction::detail
