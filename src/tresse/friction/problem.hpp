#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::friction {

/// Symmetric-pattern block-sparse matrix with 3x3 blocks, compressed by rows; blocks stored column-major. W need not be
/// symmetric.
struct BlockMatrix {
  int rows = 0;                ///< block rows = block columns = n
  std::vector<int> row_begin;  ///< (n + 1) index of each row's first block
  std::vector<int> column;     ///< block column of each block, increasing in a row
  std::vector<Matrix3> block;  ///< the blocks
};

/// Discrete frictional contact problem u = W r + q, (r_i, u_i) in C_mu_i, one (normal, t1, t2) triple per contact,
/// assembled form.
/// @cite bertails2018hdr eq. (3.6)
struct FrictionProblem {
  BlockMatrix W;  ///< Delassus operator (3n, 3n) [1/kg]
  VectorX q;      ///< free relative velocity (3n) [m/s]
  VectorX mu;     ///< friction coefficients (n), >= 0 [-]
};

/// One body's part of a contact: rows of X = E^T J U^-T, where M_hat = U U^T is the body's implicit mass matrix
/// (reverse Cholesky, U upper triangular), so that W = X X^T. A contact on element e of a rod touches the first 3 (e +
/// 1) entries only.
struct ContactRows {
  int body = -1;              ///< index of the body, -1: none (obstacle or prescribed)
  int columns = 0;            ///< leading entries of the body's velocity that are touched
  std::ptrdiff_t offset = 0;  ///< of the first row in `FactoredProblem::rows`; row-major, 3 x columns
};

/// The same problem in factored form: W is never assembled. y_body = sum X^T r; u = X y + q.
struct FactoredProblem {
  std::vector<int> body_begin;                       ///< (bodies + 1) first entry of each body in the stacked y
  std::vector<std::array<ContactRows, 2>> contacts;  ///< (n) both sides; a self-contact has one side with summed rows
  std::vector<double> rows;                          ///< the X blocks
  VectorX q;                                         ///< (3n) [m/s]
  VectorX mu;                                        ///< (n) [-]
};

/// Gives the rows of every side that has a body their place, one after the other; how many entries all of them take.
std::ptrdiff_t lay_out_rows(std::vector<std::array<ContactRows, 2>>& contacts);

using SideRows = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>>;
/// The rows of one side that has a body, (3, columns).
inline SideRows rows_of(const FactoredProblem& problem, const ContactRows& side) {
  return {problem.rows.data() + side.offset, 3, side.columns};
}

enum class ContactCase { open, stick, slide };

/// Throws InvalidInput, one line, unless sizes agree, indices are in range and ascending, numbers are finite and mu >=
/// 0.
void validate(const FrictionProblem& problem);
void validate(const FactoredProblem& problem);

/// The same of a block matrix by itself; `name` in the messages.
void validate(const BlockMatrix& matrix, const char* name);

/// u = W r + q for r (3n).
VectorX velocity(const FrictionProblem& problem, const VectorX& impulse);
VectorX velocity(const FactoredProblem& problem, const VectorX& impulse);

/// The diagonal blocks W_ii (n); zero where the matrix has none.
std::vector<Matrix3> diagonal_blocks(const FrictionProblem& problem);
std::vector<Matrix3> diagonal_blocks(const FactoredProblem& problem);

/// The block matrix of a dense one (3n, 3n); blocks that are exactly zero are left out, but for the diagonal.
BlockMatrix block_matrix(const MatrixX& dense);

/// W = X X^T assembled, by blocks of contacts that share a body: for files, small problems and tests.
FrictionProblem assembled(const FactoredProblem& problem);

/// The problem without the contacts where `left_out` (n) is not zero, and after the rest those of `more`, on the same
/// bodies.
FactoredProblem replaced(FactoredProblem problem, const std::vector<char>& left_out, const FactoredProblem& more);

/// Connected components of the contacts (which share a body, or a nonzero block of W), each ascending, ordered by their
/// first contact.
std::vector<std::vector<int>> islands(const FrictionProblem& problem);
std::vector<std::vector<int>> islands(const FactoredProblem& problem);

}  // namespace tresse::friction
