#include <tresse/friction/nodal.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/newton.hpp>
#include <tresse/friction/detail/nodal_system.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction {
namespace {

/// M and f in the contacts' frames, u = frame^T v + offset for unknowns, each point scaled to unit mass: r = M u + q.
struct RotatedProblem {
  RotatedProblem(const PrimalProblem& problem, std::shared_ptr<detail::BlockCholesky> factor)
      : turn(static_cast<std::size_t>(problem.M.rows), Matrix3::Identity()),
        scale(problem.M.rows),
        offset(VectorX::Zero(problem.f.size())),
        mu(VectorX::Constant(problem.M.rows, -1.0)),
        M{problem.M, std::move(factor)} {
    for (int k = 0; k < problem.H.rows(); ++k) {
      const int node = problem.H.column[index(k)];
      turn[index(node)] = problem.H.block[index(k)].transpose();
      offset.segment<3>(3 * node) = problem.offset.segment<3>(3 * k);
      mu[node] = problem.mu[k];
    }
    for (int i = 0; i < M.rows; ++i) scale[i] = std::sqrt(diagonal(problem.M, i).trace() / 3.0);
    f.resize(problem.f.size());
    q.resize(problem.f.size());
    for (int i = 0; i < M.rows; ++i) {
      Vector3 sum = turn_of(i).transpose() * problem.f.segment<3>(3 * i);
      f.segment<3>(3 * i) = sum / scale[i];
      for (int k = M.row_begin[index(i)]; k < M.row_begin[index(i + 1)]; ++k) {
        const int j = M.column[index(k)];
        const Matrix3 block = turn_of(i).transpose() * problem.M.block[index(k)] * turn_of(j);
        sum += block * offset.segment<3>(3 * j);
        M.block[index(k)] = block / (scale[i] * scale[j]);
      }
      q.segment<3>(3 * i) = -sum / scale[i];
    }
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static Matrix3 diagonal(const BlockMatrix& matrix, int i) {
    for (int k = matrix.row_begin[index(i)]; k < matrix.row_begin[index(i + 1)]; ++k)
      if (matrix.column[index(k)] == i) return matrix.block[index(k)];
    return Matrix3::Zero();
  }
  const Matrix3& turn_of(int i) const { return turn[index(i)]; }

  VectorX rotated(const VectorX& v) const {
    VectorX out(v.size());
    for (int i = 0; i < M.rows; ++i)
      out.segment<3>(3 * i) = scale[i] * (turn_of(i).transpose() * v.segment<3>(3 * i) + offset.segment<3>(3 * i));
    return out;
  }
  VectorX turned_back(const VectorX& u) const {
    VectorX out(u.size());
    for (int i = 0; i < M.rows; ++i)
      out.segment<3>(3 * i) = turn_of(i) * (u.segment<3>(3 * i) / scale[i] - offset.segment<3>(3 * i));
    return out;
  }
  VectorX impulse(const VectorX& u) const {
    VectorX out;
    detail::multiply(M, u, out);
    return out + q;
  }
  /// primal_error(), where the impulses are those that v asks for.
  double error(const VectorX& u) const {
    const VectorX r = impulse(u);
    ErrorSums sums;
    for (int i = 0; i < M.rows; ++i) {
      const Vector3 its_u = u.segment<3>(3 * i), its_r = r.segment<3>(3 * i), its_f = f.segment<3>(3 * i);
      const bool touches = mu[i] >= 0.0;
      sums.add(detail::law_map(detail::Complementarity::nodal, its_u, its_r, mu[i]), its_f, its_r + its_f,
               touches ? its_u : Vector3::Zero());
      if (touches) sums.r += its_r.squaredNorm();
    }
    return sums.relative();
  }

  std::vector<Matrix3> turn;  ///< (N)
  VectorX scale;              ///< (N) [kg^1/2]
  VectorX offset;             ///< (3N) [m/s]
  VectorX mu;                 ///< (N), -1 where nothing touches
  detail::NodalMatrix M;
  VectorX f, q;
};

Status status_of(double error, int steps, const NodalOptions& options) {
  if (!std::isfinite(error)) return Status::not_finite;
  if (error <= options.tolerance) return Status::converged;
  return steps < options.max_iterations ? Status::stalled : Status::max_iterations;
}

void validate_nodes(const PrimalProblem& problem) {
  std::vector<bool> taken(static_cast<std::size_t>(problem.M.rows));
  for (int k = 0; k < problem.H.rows(); ++k) {
    const auto row = static_cast<std::size_t>(k);
    const auto demand = [&](bool holds, const char* what) {
      require(holds, [&] { return "nodal problem: contact " + std::to_string(k) + ": " + what; });
    };
    demand(problem.H.row_begin[row] == k && problem.H.row_begin[row + 1] == k + 1, "expected one node");
    const auto node = static_cast<std::size_t>(problem.H.column[row]);
    demand(!taken[node], "its node has another contact; expected one a node");
    constexpr double rounding = 1e-9;
    demand((problem.H.block[row] * problem.H.block[row].transpose() - Matrix3::Identity()).norm() < rounding,
           "its axes are not orthonormal");
    taken[node] = true;
  }
}

}  // namespace

PrimalProblem nodal_problem(BlockMatrix M, VectorX f, const std::vector<NodalContact>& contacts) {
  const auto n = static_cast<Eigen::Index>(contacts.size());
  PrimalProblem out{std::move(M), std::move(f), {}, VectorX(n), VectorX(3 * n)};
  for (Eigen::Index k = 0; k < n; ++k) {
    const NodalContact& contact = contacts[static_cast<std::size_t>(k)];
    out.H.column.push_back(contact.node);
    out.H.block.emplace_back(contact.frame.transpose());
    out.H.row_begin.push_back(static_cast<int>(out.H.column.size()));
    out.mu[k] = contact.mu;
    out.offset.segment<3>(3 * k) = contact.offset;
  }
  return out;
}

const std::shared_ptr<detail::BlockCholesky>& NodalMemory::factor(const BlockMatrix& matrix) {
  if (!factor_ || row_begin_ != matrix.row_begin || column_ != matrix.column) {
    row_begin_ = matrix.row_begin;
    column_ = matrix.column;
    factor_ = std::make_shared<detail::BlockCholesky>(matrix);
  }
  return factor_;
}

PrimalSolution solve_nodal(const PrimalProblem& problem, const VectorX& guess, const NodalOptions& options,
                           NodalMemory* memory) {
  validate(problem);
  validate_nodes(problem);
  require(guess.size() == problem.f.size() && guess.allFinite(), "nodal problem: the guess must match f and be finite");
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "nodal problem: tolerance must be > 0");
  require(options.max_iterations >= 1, "nodal problem: max_iterations must be >= 1");
  NodalMemory own;
  const RotatedProblem rotated(problem, (memory != nullptr ? *memory : own).factor(problem.M));
  VectorX u = rotated.rotated(guess);
  PrimalSolution out;
  // Newton's frame knows the map's norm alone; its divisor is that of the iterate, or where that is larger |q|.
  detail::NewtonSettings settings{
      .function = detail::Complementarity::nodal,
      .max_steps = options.max_iterations,
      .watch = [&](const VectorX& at, const VectorX&, int) { return rotated.error(at) <= options.tolerance; }};
  // Mostly the plain method is done in a few steps: the guess knows what touches, sticks and slides. Else it often goes
  // round in a circle.
  constexpr int plain = 12;
  constexpr int patience = 2;
  double milestone = std::numeric_limits<double>::infinity();
  int since = 0;
  const auto watch_progress = [&](const VectorX& at, const VectorX&, int) {
    const double error = rotated.error(at);
    if (error < 0.5 * milestone) {
      milestone = error;
      since = 0;
    } else {
      ++since;
    }
    return error <= options.tolerance || since > patience;
  };
  const auto unsolved = [&] {
    return !(rotated.error(u) <= options.tolerance) && out.iterations < options.max_iterations;
  };
  if (unsolved()) {
    detail::NewtonSettings plainly = settings;
    plainly.max_steps = std::min(plain, options.max_iterations);
    plainly.watch = watch_progress;
    out.iterations = detail::newton(rotated.M, rotated.q, rotated.mu, plainly, u);
  }
  if (unsolved()) {
    settings.max_steps = options.max_iterations - out.iterations;
    out.iterations += detail::controlled_newton(rotated.M, rotated.q, rotated.mu, settings, u);
  }
  if (unsolved()) {
    settings.max_steps = options.max_iterations - out.iterations;
    out.iterations += detail::proximal(rotated.M, rotated.q, rotated.mu, settings, u);
  }
  out.error = rotated.error(u);
  out.status = status_of(out.error, out.iterations, options);
  out.velocity = rotated.turned_back(u);
  const VectorX r = rotated.impulse(u);
  out.impulse.resize(problem.offset.size());
  out.contact_velocity.resize(problem.offset.size());
  for (int k = 0; k < problem.H.rows(); ++k) {
    const int i = problem.H.column[static_cast<std::size_t>(k)];
    out.impulse.segment<3>(3 * k) = rotated.scale[i] * r.segment<3>(3 * i);
    out.contact_velocity.segment<3>(3 * k) = u.segment<3>(3 * i) / rotated.scale[i];
  }
  return out;
}

}  // namespace tresse::friction
