#include <tresse/friction/nodal.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Cholesky>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/newton.hpp>

namespace tresse::friction {
namespace {

/// M and f in the contacts' frames, u = frame^T v + offset for unknowns, each point scaled to unit mass: r = M u + q.
struct RotatedProblem {
  explicit RotatedProblem(const NodalProblem& problem)
      : turn(static_cast<std::size_t>(problem.M.rows), Matrix3::Identity()),
        scale(problem.M.rows),
        offset(VectorX::Zero(problem.f.size())),
        mu(VectorX::Constant(problem.M.rows, -1.0)),
        M(problem.M) {
    for (const NodalContact& contact : problem.contacts) {
      turn[static_cast<std::size_t>(contact.node)] = contact.frame;
      offset.segment<3>(3 * contact.node) = contact.offset;
      mu[contact.node] = contact.mu;
    }
    for (int i = 0; i < M.rows; ++i) scale[i] = std::sqrt(diagonal(problem.M, i).trace() / 3.0);
    q.resize(problem.f.size());
    for (int i = 0; i < M.rows; ++i) {
      Vector3 sum = turn_of(i).transpose() * problem.f.segment<3>(3 * i);
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
  double size(const VectorX& u, const VectorX& r) const {
    double contact = 0.0;
    for (int i = 0; i < M.rows; ++i)
      if (mu[i] >= 0.0) contact += u.segment<3>(3 * i).squaredNorm();
    return std::sqrt(std::max({q.squaredNorm(), (r - q).squaredNorm(), contact}));
  }
  double error(const VectorX& u) const {
    const VectorX r = impulse(u);
    const double map = detail::map_norm(detail::Complementarity::nodal, u, r, mu);
    return map > 0.0 ? map / size(u, r) : 0.0;
  }

  std::vector<Matrix3> turn;  ///< (N)
  VectorX scale;              ///< (N) [kg^1/2]
  VectorX offset;             ///< (3N) [m/s]
  VectorX mu;                 ///< (N), -1 where nothing touches
  BlockMatrix M;
  VectorX q;
};

Status status_of(double error, int steps, const NodalOptions& options) {
  if (!std::isfinite(error)) return Status::not_finite;
  if (error <= options.tolerance) return Status::converged;
  return steps < options.max_iterations ? Status::stalled : Status::max_iterations;
}

}  // namespace

void validate(const NodalProblem& problem) {
  validate(problem.M, "nodal problem: M");
  require(problem.f.size() == 3 * static_cast<Eigen::Index>(problem.M.rows) && problem.f.allFinite(),
          "nodal problem: f must have three finite entries a point");
  std::vector<bool> taken(static_cast<std::size_t>(problem.M.rows));
  for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
    const NodalContact& contact = problem.contacts[k];
    const auto demand = [&](bool holds, const char* what) {
      require(holds, [&] { return "nodal problem: contact " + std::to_string(k) + ": " + what; });
    };
    demand(contact.node >= 0 && contact.node < problem.M.rows, "the node is not in M");
    demand(!taken[static_cast<std::size_t>(contact.node)], "its node has another contact; expected one a node");
    demand(contact.mu >= 0.0 && std::isfinite(contact.mu), "mu must be >= 0 and finite");
    demand(contact.offset.allFinite(), "the offset holds a number that is not finite");
    constexpr double rounding = 1e-9;
    demand((contact.frame.transpose() * contact.frame - Matrix3::Identity()).norm() < rounding,
           "the frame's columns are not orthonormal");
    taken[static_cast<std::size_t>(contact.node)] = true;
  }
  for (int i = 0; i < problem.M.rows; ++i) {
    require(RotatedProblem::diagonal(problem.M, i).trace() > 0.0,
            [&] { return "nodal problem: node " + std::to_string(i) + " has no mass"; });
  }
}

double nodal_error(const NodalProblem& problem, const VectorX& velocity) {
  validate(problem);
  require(velocity.size() == problem.f.size(), "nodal problem: the velocity must match f");
  const RotatedProblem rotated(problem);
  return rotated.error(rotated.rotated(velocity));
}

NodalSolution solve_nodal(const NodalProblem& problem, const VectorX& guess, const NodalOptions& options) {
  validate(problem);
  require(guess.size() == problem.f.size() && guess.allFinite(), "nodal problem: the guess must match f and be finite");
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "nodal problem: tolerance must be > 0");
  require(options.max_iterations >= 1, "nodal problem: max_iterations must be >= 1");
  const RotatedProblem rotated(problem);
  VectorX u = rotated.rotated(guess);
  NodalSolution out;
  // Newton's frame knows the map's norm alone; its divisor is that of the iterate, or where that is larger |q|.
  detail::NewtonSettings settings{
      .function = detail::Complementarity::nodal,
      .max_steps = options.max_iterations,
      .watch = [&](const VectorX& at, const VectorX&, int) { return rotated.error(at) <= options.tolerance; }};
  out.iterations = detail::controlled_newton(rotated.M, rotated.q, rotated.mu, settings, u);
  if (!(rotated.error(u) <= options.tolerance) && out.iterations < options.max_iterations) {
    settings.max_steps = options.max_iterations - out.iterations;
    out.iterations += detail::proximal(rotated.M, rotated.q, rotated.mu, settings, u);
  }
  out.error = rotated.error(u);
  out.status = status_of(out.error, out.iterations, options);
  out.velocity = rotated.turned_back(u);
  const VectorX r = rotated.impulse(u);
  const auto n = static_cast<Eigen::Index>(problem.contacts.size());
  out.impulse.resize(3 * n);
  out.contact_velocity.resize(3 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = problem.contacts[static_cast<std::size_t>(k)].node;
    out.impulse.segment<3>(3 * k) = rotated.scale[i] * r.segment<3>(3 * i);
    out.contact_velocity.segment<3>(3 * k) = u.segment<3>(3 * i) / rotated.scale[i];
  }
  return out;
}

FrictionProblem reduced(const NodalProblem& problem) {
  validate(problem);
  const Eigen::Index points = problem.f.size();
  const auto n = static_cast<Eigen::Index>(problem.contacts.size());
  MatrixX M = MatrixX::Zero(points, points);
  for (int i = 0; i < problem.M.rows; ++i) {
    for (int k = problem.M.row_begin[static_cast<std::size_t>(i)];
         k < problem.M.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      M.block<3, 3>(3 * i, 3 * problem.M.column[static_cast<std::size_t>(k)]) =
          problem.M.block[static_cast<std::size_t>(k)];
  }
  MatrixX H = MatrixX::Zero(3 * n, points);
  FrictionProblem out;
  out.q.resize(3 * n);
  out.mu.resize(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const NodalContact& contact = problem.contacts[static_cast<std::size_t>(k)];
    H.block<3, 3>(3 * k, 3 * contact.node) = contact.frame.transpose();
    out.q.segment<3>(3 * k) = contact.offset;
    out.mu[k] = contact.mu;
  }
  const Eigen::LLT<MatrixX> factor(M);
  require(factor.info() == Eigen::Success, "nodal problem: M is not positive definite");
  out.W = block_matrix(H * factor.solve(H.transpose()));
  out.q += H * factor.solve(problem.f);
  return out;
}

}  // namespace tresse::friction
