#pragma once

#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::math {

/// Factors of dense matrices by Householder's reflections. They stand here, compiled once: Eigen's templates for them
/// take seconds in every source that uses one.

/// Columns = q r, with q of orthonormal columns.
struct ThinQr {
  MatrixX q;  ///< (rows, columns)
  MatrixX r;  ///< (columns, columns), upper triangular; what is below its diagonal has no meaning
};

/// Columns (rows, columns), of full rank; not more columns than rows.
ThinQr thin_qr(const MatrixX& columns);

/// Of the columns those that say something new, most telling first: columns[order] = q r.
struct PivotedQr {
  MatrixX q;               ///< (rows, rank) orthonormal columns
  MatrixX r;               ///< (rank, rank) upper triangular
  std::vector<int> order;  ///< (rank) of the columns
};

/// A column counts as new where what it adds is more than `threshold` times the largest column.
PivotedQr pivoted_qr(const MatrixX& columns, double threshold);

/// Orthonormal columns (rows, rows - rank) that are orthogonal to all of `columns`, with the threshold of pivoted_qr.
MatrixX orthogonal_complement(const MatrixX& columns, double threshold);

/// The x of least size among those of least |a x - b|; a may lack rank. a (m, n), b (m), x (n).
VectorX least_squares(const MatrixX& a, const VectorX& b);

}  // namespace tresse::math
