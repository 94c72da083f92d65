#include <tresse/friction/primal.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/SparseCholesky>

#include <tresse/base/errors.hpp>
#include <tresse/friction/detail/newton_system.hpp>
#include <tresse/friction/detail/validate_blocks.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction {
namespace {

using Index = Eigen::Index;

/// visit(column, block) of a row of either kind of matrix.
template <typename Blocks, typename Visit>
void for_row(const Blocks& blocks, Index i, const Visit& visit) {
  const auto row = static_cast<std::size_t>(i);
  for (int k = blocks.row_begin[row]; k < blocks.row_begin[row + 1]; ++k)
    visit(blocks.column[static_cast<std::size_t>(k)], blocks.block[static_cast<std::size_t>(k)]);
}

Matrix3 block_at(const BlockMatrix& M, int i, int j) {
  Matrix3 out = Matrix3::Zero();
  for_row(M, i, [&](int column, const Matrix3& block) {
    if (column == j) out = block;
  });
  return out;
}

VectorX masses(const BlockMatrix& M) {
  VectorX out(M.rows);
  for (int i = 0; i < M.rows; ++i) out[i] = block_at(M, i, i).trace() / 3.0;
  return out;
}

VectorX times(const BlockRows& H, const VectorX& v) {
  VectorX out = VectorX::Zero(3 * static_cast<Index>(H.rows()));
  for (Index k = 0; k < H.rows(); ++k)
    for_row(H, k, [&](int i, const Matrix3& block) { out.segment<3>(3 * k) += block * v.segment<3>(3 * i); });
  return out;
}

/// f + H^T r.
VectorX load(const PrimalProblem& problem, const VectorX& r) {
  VectorX out = problem.f;
  for (Index k = 0; k < problem.H.rows(); ++k)
    for_row(problem.H, k,
            [&](int i, const Matrix3& block) { out.segment<3>(3 * i) += block.transpose() * r.segment<3>(3 * k); });
  return out;
}

/// M = L D L^T.
class Factor {
 public:
  explicit Factor(const BlockMatrix& M) {
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(9 * M.block.size());
    for (int i = 0; i < M.rows; ++i)
      for_row(M, i, [&](int j, const Matrix3& block) {
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) entries.emplace_back(3 * i + a, 3 * j + b, block(a, b));
      });
    Eigen::SparseMatrix<double> matrix(3 * static_cast<Index>(M.rows), 3 * static_cast<Index>(M.rows));
    matrix.setFromTriplets(entries.begin(), entries.end());
    factor_.compute(matrix);
    require(factor_.info() == Eigen::Success && (M.rows == 0 || factor_.vectorD().minCoeff() > 0.0),
            "primal problem: M is not positive definite");
  }
  template <typename Right>
  auto solve(const Right& right) const {
    return factor_.solve(right);
  }

 private:
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor_;
};

/// A row of W after the other: three columns of M^-1 H^T, and what H makes of them.
FrictionProblem condensed(const PrimalProblem& problem, const Factor& factor) {
  const BlockRows& H = problem.H;
  FrictionProblem out;
  out.mu = problem.mu;
  out.q = contact_velocity(problem, factor.solve(problem.f));
  out.W.rows = H.rows();
  out.W.row_begin = {0};
  Eigen::Matrix<double, Eigen::Dynamic, 3> right(problem.f.size(), 3);
  for (Index k = 0; k < H.rows(); ++k) {
    right.setZero();
    for_row(H, k, [&](int i, const Matrix3& block) { right.middleRows<3>(3 * i) = block.transpose(); });
    const Eigen::Matrix<double, Eigen::Dynamic, 3> moved = factor.solve(right);
    for (int j = 0; j < H.rows(); ++j) {
      Matrix3 block = Matrix3::Zero();
      for_row(H, j,
              [&](int i, const Matrix3& of_j) { block += moved.middleRows<3>(3 * i).transpose() * of_j.transpose(); });
      if (j != k && block.isZero(0.0)) continue;
      out.W.column.push_back(j);
      out.W.block.push_back(block);
    }
    out.W.row_begin.push_back(static_cast<int>(out.W.column.size()));
  }
  return out;
}

void validate_mass(const BlockMatrix& M) {
  constexpr double rounding = 1e-9;
  const VectorX mass = masses(M);
  for (int i = 0; i < M.rows; ++i) {
    require(mass[i] > 0.0, [&] { return "primal problem: node " + std::to_string(i) + " has no mass"; });
    for_row(M, i, [&](int j, const Matrix3& block) {
      require((block - block_at(M, j, i).transpose()).norm() <= rounding * std::sqrt(mass[i] * std::max(0.0, mass[j])),
              [&] {
                return "primal problem: M is not symmetric at nodes " + std::to_string(i) + " and " + std::to_string(j);
              });
    });
  }
}

}  // namespace

void validate(const PrimalProblem& problem) {
  validate(problem.M, "primal problem: M");
  require(problem.f.size() == 3 * static_cast<Index>(problem.M.rows) && problem.f.allFinite(),
          "primal problem: f must have three finite entries a node");
  const Index n = problem.mu.size();
  detail::validate_blocks(problem.H, static_cast<int>(n), problem.M.rows, "primal problem: H");
  require(problem.offset.size() == 3 * n && problem.offset.allFinite(),
          "primal problem: the offset must have three finite entries a contact");
  for (Index k = 0; k < n; ++k) {
    require(problem.mu[k] >= 0.0 && std::isfinite(problem.mu[k]),
            [&] { return "primal problem: contact " + std::to_string(k) + ": mu must be >= 0 and finite"; });
  }
  validate_mass(problem.M);
}

VectorX contact_velocity(const PrimalProblem& problem, const VectorX& velocity) {
  return times(problem.H, velocity) + problem.offset;
}

double primal_error(const PrimalProblem& problem, const VectorX& velocity, const VectorX& impulse) {
  validate(problem);
  require(velocity.size() == problem.f.size(), "primal problem: the velocity must match f");
  require(impulse.size() == problem.offset.size(), "primal problem: the impulse must match the offset");
  const VectorX mass = masses(problem.M);
  std::vector<Matrix3> mobility(static_cast<std::size_t>(problem.mu.size()), Matrix3::Zero());
  for (Index k = 0; k < problem.mu.size(); ++k)
    for_row(problem.H, k, [&](int i, const Matrix3& block) {
      mobility[static_cast<std::size_t>(k)] += block * block.transpose() / mass[i];
    });
  ErrorSums sums = natural_map_sums(impulse, contact_velocity(problem, velocity), VectorX::Zero(impulse.size()),
                                    problem.mu, contact_scales(mobility));
  VectorX momentum;
  detail::multiply(problem.M, velocity, momentum);
  const VectorX rest = momentum - load(problem, impulse);
  for (Index i = 0; i < mass.size(); ++i) {
    const double unit = 1.0 / std::sqrt(mass[i]);
    sums.add(unit * rest.segment<3>(3 * i), unit * problem.f.segment<3>(3 * i), unit * momentum.segment<3>(3 * i),
             Vector3::Zero());
  }
  return sums.relative();
}

FrictionProblem condensed(const PrimalProblem& problem) {
  validate(problem);
  return condensed(problem, Factor(problem.M));
}

PrimalSolution solve_primal(const PrimalProblem& problem, const VectorX& guess, const SolverOptions& options) {
  validate(problem);
  const Factor factor(problem.M);
  FrictionSolution found = solve(condensed(problem, factor), guess, options);
  PrimalSolution out;
  out.velocity = factor.solve(load(problem, found.impulse));
  out.contact_velocity = contact_velocity(problem, out.velocity);
  out.impulse = std::move(found.impulse);
  out.status = found.status;
  out.iterations = found.iterations;
  out.error = primal_error(problem, out.velocity, out.impulse);
  return out;
}

}  // namespace tresse::friction
