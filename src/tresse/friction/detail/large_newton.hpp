#pragma once

#include <tresse/friction/detail/newton.hpp>

namespace tresse::friction::detail {

/// Proximal Newton on Alart and Curnier's function for an island of some hundred contacts, in the form of W (3n, 3n)
/// that is quicker to factor: in blocks where most are zero, as in a stack of chains, else dense.
class LargeNewton {
 public:
  explicit LargeNewton(const MatrixX& W);

  /// proximal() for this W.
  int with_proximal_terms(const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r) const;

 private:
  BlockMatrix blocks_;  // rows = 0: dense
  MatrixX dense_;
};

}  // namespace tresse::friction::detail
