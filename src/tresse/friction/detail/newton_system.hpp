#pragma once

#include <vector>

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseLU>

#include <tresse/friction/detail/complementarity.hpp>
#include <tresse/friction/problem.hpp>

/// What Newton's method needs of W, dense or in blocks; W is never taken to be symmetric.
namespace tresse::friction::detail {

/// W r.
void multiply(const MatrixX& W, const VectorX& r, VectorX& out);
void multiply(const BlockMatrix& W, const VectorX& r, VectorX& out);

double frobenius_norm(const MatrixX& W);
double frobenius_norm(const BlockMatrix& W);

/// W + rho I; every diagonal block has to be stored.
void lift_diagonal(const MatrixX& W, double rho, MatrixX& out);
void lift_diagonal(const BlockMatrix& W, double rho, BlockMatrix& out);

enum class LinearSolve { elimination, least_squares };

/// The linear system of one Newton step, d with (A + B (W + lift I)) d = f, A and B block by block. Open contacts
/// (B = 0, A = I) are eliminated from large ones. By LU, dense or sparse; least squares, of least norm, is dense alone.
class DenseNewtonSystem {
 public:
  explicit DenseNewtonSystem(const MatrixX& W) : W_(W) {}
  /// False where a number is not finite.
  bool solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method, VectorX& d);

 private:
  void reduce(const std::vector<ContactFunction>& contacts, const std::vector<int>& active, double lift);
  const MatrixX& W_;
  MatrixX derivative_;
  VectorX f_;
};

class SparseNewtonSystem {
 public:
  explicit SparseNewtonSystem(const BlockMatrix& W) : W_(W) {}
  bool solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method, VectorX& d);

 private:
  const BlockMatrix& W_;
};

template <typename Matrix>
struct NewtonSystemOf;
template <>
struct NewtonSystemOf<MatrixX> {
  using Type = DenseNewtonSystem;
};
template <>
struct NewtonSystemOf<BlockMatrix> {
  using Type = SparseNewtonSystem;
};

/// The derivative A + B W of a smooth function, A and B block by block, factored once for several right sides.
class DenseDerivative {
 public:
  explicit DenseDerivative(const MatrixX& W) : W_(W) {}
  /// False where it is singular, or a number is not finite.
  bool factor(const std::vector<ContactFunction>& contacts);
  VectorX solve(const VectorX& f) const { return lu_.solve(f); }

 private:
  const MatrixX& W_;
  MatrixX derivative_;
  Eigen::PartialPivLU<MatrixX> lu_;
};

class SparseDerivative {
 public:
  explicit SparseDerivative(const BlockMatrix& W) : W_(W) {}
  bool factor(const std::vector<ContactFunction>& contacts);
  VectorX solve(const VectorX& f) const { return lu_.solve(f); }

 private:
  const BlockMatrix& W_;
  Eigen::SparseMatrix<double> derivative_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu_;
};

template <typename Matrix>
struct DerivativeOf;
template <>
struct DerivativeOf<MatrixX> {
  using Type = DenseDerivative;
};
template <>
struct DerivativeOf<BlockMatrix> {
  using Type = SparseDerivative;
};

}  // namespace tresse::friction::detail
