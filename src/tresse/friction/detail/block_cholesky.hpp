#pragma once

#include <utility>
#include <vector>

#include <tresse/friction/problem.hpp>

namespace tresse::friction::detail {

/// L L^T of symmetric positive definite matrices in blocks of 3 by 3 that all have their blocks at the same places: the
/// order of elimination and the places of L are found once. Multifrontal: columns of L whose blocks stand in the same
/// rows are eliminated together, in one dense matrix, the front, to which those that come before add what they leave
/// (Davis, Direct methods for sparse linear systems, 2006, chapter 4; Liu, SIAM Review 34, 1992). Fronts that do not
/// depend on each other are worked on side by side; same bits for any number of threads.
class BlockCholesky {
 public:
  /// Every diagonal block has to be stored.
  explicit BlockCholesky(const BlockMatrix& pattern);

  /// False where the matrix is not positive definite, or a number is not finite.
  bool factor(const BlockMatrix& matrix);
  /// x = A^-1 x (3n), after factor() returned true.
  void solve(VectorX& x) const;
  std::size_t block_count() const;  ///< of L below its diagonal, those included that are zero for being in a front

 private:
  /// A block of the matrix, and where it is in its front.
  struct Entry {
    int block = 0;            ///< its transpose is meant
    int row = 0, column = 0;  ///< among the front's
  };
  struct Front {
    int first = 0, columns = 0;    ///< places in the elimination
    std::vector<int> rows;         ///< places below the columns, ascending
    int parent = -1;               ///< front, -1: a root
    std::vector<int> children;     ///< ascending
    std::vector<int> into_parent;  ///< (rows) where each is among the parent's columns and rows
    std::vector<Entry> entries;
    double work = 0.0;  ///< of this front and all that it depends on [multiplications]
    MatrixX panel;      ///< (3 (columns + rows), 3 columns) of L
    MatrixX left;       ///< (3 rows, 3 rows), lower part: for the parent, empty between uses
  };

  void make_fronts(const std::vector<std::vector<int>>& below);
  void place_entries(const BlockMatrix& pattern);
  void share_out();
  bool eliminate(Front& front, const BlockMatrix& matrix);

  int n_ = 0;
  std::vector<int> old_;                    ///< (n) by the place in the elimination
  std::vector<Front> fronts_;               ///< each right after those that it depends on
  std::vector<std::pair<int, int>> apart_;  ///< ranges of fronts that do not depend on each other
  std::vector<int> joining_;                ///< the fronts that come after these, ascending
};

}  // namespace tresse::friction::detail
