#include <tresse/friction/certificate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/friction/solver.hpp>

namespace tresse::friction {
namespace {

/// W^T (w, 0, 0).
VectorX transposed_product(const BlockMatrix& W, const VectorX& weights) {
  VectorX out = VectorX::Zero(3 * static_cast<Eigen::Index>(W.rows));
  for (int i = 0; i < W.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = W.row_begin[row]; k < W.row_begin[row + 1]; ++k) {
      const auto block = static_cast<std::size_t>(k);
      out.segment<3>(3 * static_cast<Eigen::Index>(W.column[block])) += weights[i] * W.block[block].row(0).transpose();
    }
  }
  return out;
}

}  // namespace

Certificate certificate(const FrictionProblem& problem) {
  validate(problem);
  constexpr double lift = 1e-9;  // of the mean diagonal
  constexpr double ordinary = 1e6;
  const Eigen::Index n = problem.W.rows;
  Certificate out{.weights = VectorX::Zero(n)};
  double mean = 0.0, square = 0.0;
  for (const Matrix3& block : diagonal_blocks(problem)) mean += block.trace() / (3.0 * static_cast<double>(n));
  for (const Matrix3& block : problem.W.block) square += block.squaredNorm();
  if (!(mean > 0.0)) return out;
  FrictionProblem regular{problem.W, problem.q, VectorX::Zero(n)};
  for (int i = 0; i < problem.W.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = regular.W.row_begin[row]; k < regular.W.row_begin[row + 1]; ++k) {
      const auto block = static_cast<std::size_t>(k);
      if (regular.W.column[block] == i) regular.W.block[block].diagonal().array() += lift * mean;
    }
  }
  const SolverOptions options{.tolerance = 1e-12, .max_iterations = 2000, .solver = Solver::automatic};
  const VectorX impulse = solve(regular, VectorX::Zero(3 * n), options).impulse;
  VectorX weights(n);
  for (Eigen::Index i = 0; i < n; ++i) weights[i] = std::max(0.0, impulse[3 * i]);
  const double norm = weights.norm();
  if (!(norm > 0.0) || !std::isfinite(norm)) return out;
  out.weights = weights / norm;
  for (Eigen::Index i = 0; i < n; ++i) out.closing -= out.weights[i] * problem.q[3 * i];
  if (!(out.closing > 0.0)) return {.weights = VectorX::Zero(n)};
  const double rounding = std::numeric_limits<double>::epsilon() * std::sqrt(square);
  out.least_impulse = out.closing / (transposed_product(problem.W, out.weights).norm() + rounding);
  out.proves_none = out.least_impulse > ordinary * problem.q.norm() / mean;
  return out;
}

}  // namespace tresse::friction
