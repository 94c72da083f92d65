#pragma once

#include <vector>

#include <tresse/friction/problem.hpp>

namespace tresse::inverse {

/// The symmetric matrix A = B + X^T D X over the unknowns of all fibres: B block diagonal, a block for each fibre, X
/// the rows of contacts, D a symmetric block of 3 for each contact. Solved by conjugate gradients, preconditioned by
/// the blocks of single fibres.
class FibreSystem {
 public:
  /// `rows`: their q and mu are not read. `blocks`: B by fibre, (dof, dof); empty: the identity. Both must outlive it.
  FibreSystem(const friction::FactoredProblem& rows, const std::vector<MatrixX>& blocks);

  /// Takes D, a block for each contact, and factors the preconditioner. False where the block of a fibre is not
  /// positive definite: neither is A then.
  [[nodiscard]] bool factor(const std::vector<Matrix3>& weights);

  struct Solve {
    VectorX x;
    bool positive = true;  ///< no direction of the search had x.A x <= 0
    int iterations = 0;
  };
  /// A x = b to `tolerance` times |b|, both in the norm of the preconditioner's inverse.
  Solve solve(const VectorX& b, double tolerance, int max_iterations) const;

  VectorX rows_times(const VectorX& x) const;        ///< X x, (3 contacts)
  VectorX transposed_times(const VectorX& r) const;  ///< X^T r

 private:
  struct Side {
    int contact = 0;
    friction::ContactRows rows;
  };
  VectorX times(const VectorX& x) const;
  VectorX preconditioned(const VectorX& x) const;
  template <typename Visit>
  void for_each_fibre(const Visit& visit) const;

  const friction::FactoredProblem& rows_;
  const std::vector<MatrixX>& blocks_;
  std::vector<std::vector<Side>> sides_;  ///< by fibre
  std::vector<Matrix3> weights_;
  std::vector<Eigen::LLT<MatrixX>> factors_;  ///< by fibre; of size zero where A has the identity there
};

}  // namespace tresse::inverse
