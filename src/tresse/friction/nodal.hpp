#pragma once

#include <memory>
#include <vector>

#include <tresse/friction/primal.hpp>

namespace tresse::friction {
namespace detail {
class BlockCholesky;
}

/// A point of a cloth that touches something whose motion is known.
struct NodalContact {
  int node = 0;                      ///< no other contact is at it
  Matrix3 frame;                     ///< columns (normal away from what is touched, t1, t2) (3, 3) [-]
  double mu = 0.0;                   ///< >= 0
  Vector3 offset = Vector3::Zero();  ///< w of u = frame^T v + w, (normal, t1, t2): of a moving obstacle (3) [m/s]
};

/// Such contacts on points with that M and f. Not checked.
PrimalProblem nodal_problem(BlockMatrix M, VectorX f, const std::vector<NodalContact>& contacts);

struct NodalOptions {
  double tolerance = 1e-10;  ///< on PrimalSolution::error, dimensionless; > 0
  int max_iterations = 200;  ///< Newton's steps; >= 1
};

/// What solve_nodal() keeps from one problem to the next: where the blocks of M are at the same places, the order in
/// which it eliminates is found once. Results are the same bits with and without.
class NodalMemory {
 public:
  /// For matrices with their blocks at those places.
  const std::shared_ptr<detail::BlockCholesky>& factor(const BlockMatrix& matrix);

 private:
  std::vector<int> row_begin_, column_;
  std::shared_ptr<detail::BlockCholesky> factor_;
};

/// Solves a problem whose contacts are each at a node of their own, without W: a block of H is a frame, and in the
/// frames the velocities themselves are the unknowns. Newton's method on Alart and Curnier's function of (r, u),
/// r = M v - f: what sticks or is open falls out of the sparse system of a step. Where the plain method is stuck it
/// goes on with line search and a lift where the derivative is near singular, then with proximal steps. `guess` (3N):
/// velocities to start from. Not converged: the best iterate found. Unlike the problem in impulses, this one is regular
/// with any number of contacts. Throws as validate(), and unless every contact has one block, a frame's transpose, at a
/// node of its own.
[[nodiscard]] PrimalSolution solve_nodal(const PrimalProblem& problem, const VectorX& guess,
                                         const NodalOptions& options = {}, NodalMemory* memory = nullptr);

}  // namespace tresse::friction
