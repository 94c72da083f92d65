#include <array>
#include <map>
#include <utility>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <tresse/problem_files/detail/friction_blocks.hpp>

namespace tresse::problem_files::detail {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// M^-1 applied to H and f: Cholesky, else LU for a mass matrix that is not symmetric.
bool eliminate(const Sparse& M, const Sparse& H, const VectorX& f, Sparse& inverse_h, VectorX& inverse_f) {
  if (M.rows() == 0) {  // Eigen takes no norm of it
    inverse_h = H;
    inverse_f = f;
    return true;
  }
  const Sparse difference = M - Sparse(M.transpose());
  if (difference.norm() <= 1e-14 * M.norm()) {
    const Eigen::SimplicialLDLT<Sparse> cholesky(M);
    if (cholesky.info() == Eigen::Success && cholesky.vectorD().minCoeff() > 0.0) {
      inverse_h = cholesky.solve(H);
      inverse_f = cholesky.solve(f);
      return true;
    }
  }
  Eigen::SparseLU<Sparse> lu(M);
  if (lu.info() != Eigen::Success) return false;
  inverse_h = lu.solve(H);
  inverse_f = lu.solve(f);
  return true;
}

}  // namespace

friction::BlockMatrix blocks_of(const Eigen::SparseMatrix<double>& W, int contacts, int dimension) {
  std::map<std::pair<int, int>, std::array<double, 9>> blocks;
  for (int j = 0; j < W.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator entry(W, j); entry; ++entry) {
      const auto i = static_cast<int>(entry.row());
      blocks[{i / dimension, j / dimension}][static_cast<std::size_t>(i % dimension + dimension * (j % dimension))] =
          entry.value();
    }
  return block_matrix(std::move(blocks), contacts, dimension);
}

std::optional<FrictionFile> reduced(const GlobalFrictionProblem& global) {
  Sparse inverse_h;
  VectorX inverse_f;
  if (!eliminate(global.M, global.H, global.f, inverse_h, inverse_f)) return std::nullopt;
  const Sparse W = global.H.transpose() * inverse_h;
  const VectorX q = global.H.transpose() * inverse_f + global.w;
  if (!q.allFinite()) return std::nullopt;
  FrictionFile out;
  out.dimension = global.dimension;
  out.problem.W = blocks_of(W, static_cast<int>(global.mu.size()), out.dimension);
  out.problem.q = embedded_vector({q.data(), q.data() + q.size()}, out.dimension);
  out.problem.mu = global.mu;
  return out;
}

}  // namespace tresse::problem_files::detail
