#pragma once

#include <vector>

#include <tresse/friction/problem.hpp>

namespace tresse::friction::detail {

/// L D L^T of symmetric positive definite matrices in blocks of 3 by 3 that all have their blocks at the same places:
/// the order of elimination and the places of L are found once. Row by row, as in Davis, Direct methods for sparse
/// linear systems, 2006, chapter 4.
class BlockCholesky {
 public:
  /// Every diagonal block has to be stored.
  explicit BlockCholesky(const BlockMatrix& pattern);

  /// False where the matrix is not positive definite, or a number is not finite.
  bool factor(const BlockMatrix& matrix);
  /// x = A^-1 x (3n), after factor() returned true.
  void solve(VectorX& x) const;
  std::size_t block_count() const { return row_.size(); }  ///< of L below its diagonal

 private:
  void order(const BlockMatrix& pattern);
  /// Columns of row `k` of L that are not empty, so that each stands before those that hang on it.
  int reach(int k);

  int n_ = 0;
  std::vector<int> old_;                      ///< (n) by the place in the elimination
  std::vector<int> parent_;                   ///< (n) in the tree of elimination, -1: a root
  std::vector<int> above_begin_;              ///< (n + 1) of each column's blocks above the diagonal
  std::vector<int> above_row_, above_block_;  ///< their row, and the block of the matrix that is their transpose
  std::vector<int> diagonal_;                 ///< (n) block of the matrix
  std::vector<int> begin_, end_;              ///< (n + 1), (n) of each column of L, the part that is filled
  std::vector<int> row_;                      ///< of each block of L
  std::vector<Matrix3> block_, inverse_;      ///< of L; of D, inverted (n)
  std::vector<Matrix3> work_;                 ///< (n) zero between uses
  std::vector<int> mark_, path_;              ///< (n) of reach()
};

}  // namespace tresse::friction::detail
