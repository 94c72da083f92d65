#pragma once

#include <tresse/base/types.hpp>

namespace tresse::friction::detail {

/// Semismooth Newton on Alart and Curnier's function for a small dense problem u = W r + q, W (3n, 3n) scaled to mean
/// diagonal 1. r is the start, and the best iterate by the natural map on return, never worse than the start. The
/// derivative may be singular (redundant contacts): steps are of least norm. Returns the steps taken.
/// @cite alart1991; bertails2011 sec. 4
int small_newton(const MatrixX& W, const VectorX& q, const VectorX& mu, VectorX& r, int max_steps = 30);

}  // namespace tresse::friction::detail
