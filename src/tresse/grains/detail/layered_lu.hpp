#pragma once

#include <vector>

#include <Eigen/LU>

#include <tresse/base/types.hpp>

namespace tresse::grains::detail {

/// The factors of a matrix whose unknowns lie in layers that only neighbours tie together, as those of a regular grid:
/// a dense block a layer and two between neighbours, eliminated layer by layer with pivots inside a layer. For a plane
/// grid that is little more work than the best order of a sparse matrix, and all of it is in products of dense blocks.
class LayeredLU {
 public:
  /// `sizes`: unknowns of each layer, first to last.
  explicit LayeredLU(const std::vector<int>& sizes);

  int size() const { return first_.back(); }
  void set_zero();
  /// Adds to an entry of two unknowns of the same layer or of neighbours.
  void add(int row, int column, double value) {
    const int i = layer_[static_cast<std::size_t>(row)], j = layer_[static_cast<std::size_t>(column)];
    block(i, j)(row - first_[static_cast<std::size_t>(i)], column - first_[static_cast<std::size_t>(j)]) += value;
  }
  void factor();
  /// False where a number is not finite.
  bool solve(VectorX& x) const;

 private:
  MatrixX& block(int i, int j) {
    if (i == j) return diagonal_[static_cast<std::size_t>(i)];
    return i < j ? above_[static_cast<std::size_t>(i)] : below_[static_cast<std::size_t>(j)];
  }

  std::vector<int> first_;  ///< (layers + 1) first unknown of each
  std::vector<int> layer_;  ///< of each unknown
  std::vector<MatrixX> diagonal_, above_, below_;
  std::vector<Eigen::PartialPivLU<MatrixX>> factors_;
};

}  // namespace tresse::grains::detail
