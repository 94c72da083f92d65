#pragma once

#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// Why a problem has no solution of ordinary size: weights w >= 0 of the contacts' normals, of norm 1, with
/// q_N . w < 0 and W^T (w, 0, 0) nearly zero. Every r has w . u_N = W^T (w, 0, 0) . r + q_N . w, which the law wants to
/// be
/// >= 0, so that |r| is at least `least_impulse`. (Farkas' lemma, with a margin.)
struct Certificate {
  VectorX weights;             ///< (n), zero where there is nothing to tell
  double closing = 0.0;        ///< -q_N . w [m/s]: how fast the bodies close in where no impulses can keep them apart
  double least_impulse = 0.0;  ///< no impulses of a smaller 2-norm obey the law [N s]; 0: nothing is said
  /// More than 1e6 times |q| over the mean diagonal of W, what an ordinary problem takes: there is no solution.
  bool proves_none = false;
};

/// From the frictionless problem, regularised, whose impulses grow along w. Takes a solve of it, as long as others.
/// Throws InvalidInput as validate().
[[nodiscard]] Certificate certificate(const FrictionProblem& problem);

}  // namespace tresse::friction
