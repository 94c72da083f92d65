#pragma once

#include <memory>

#include <tresse/friction/detail/block_cholesky.hpp>
#include <tresse/friction/detail/newton_system.hpp>

namespace tresse::friction::detail {

/// The matrix of a system of points, in whose problem velocities are the unknowns: Newton's method takes it to be
/// symmetric, and positive definite.
struct NodalMatrix : BlockMatrix {
  std::shared_ptr<BlockCholesky> factor;  ///< for matrices with their blocks at the same places
};

/// The linear system of a Newton step on Complementarity::nodal. What sticks is known, and so is the normal part of
/// what slides. The rest of the derivative is symmetric but for what ties the friction of what slides to its normal
/// impulse: the symmetric part is factored, and the whole solved by GMRES with that factor.
class NodalNewtonSystem {
 public:
  explicit NodalNewtonSystem(const NodalMatrix& M)
      : M_(M), factor_(*M.factor), matrix_(static_cast<const BlockMatrix&>(M)) {}
  /// False where the symmetric part is not positive definite, or a number is not finite.
  bool solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method, VectorX& d);

 private:
  const BlockMatrix& M_;
  BlockCholesky& factor_;
  BlockMatrix matrix_;  ///< the symmetric part
};

template <>
struct NewtonSystemOf<NodalMatrix> {
  using Type = NodalNewtonSystem;
};

}  // namespace tresse::friction::detail
