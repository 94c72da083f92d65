#pragma once

#include <vector>

#include <tresse/friction/solver.hpp>

namespace tresse::friction {

/// Blocks of 3 by 3, compressed by rows, in as many columns as they are used with.
struct BlockRows {
  std::vector<int> row_begin{0};  ///< (rows + 1) index of each row's first block
  std::vector<int> column;        ///< of each block, increasing in a row
  std::vector<Matrix3> block;
  int rows() const { return static_cast<int>(row_begin.size()) - 1; }
};

/// The frictional contact problem with velocities as unknowns:
///     M v = f + H^T r,  u = H v + offset,  (r_i, u_i) in C_mu_i.
/// M ties nodes to each other, as that of a cloth or of what grains flow in; it is as sparse as it was, and its
/// inverse, which is dense, is not wanted. A row of H has a block for every node that moves the contact; it may have
/// none.
/// @cite bertails2018hdr eq. (3.14); daviet2015
struct PrimalProblem {
  BlockMatrix M;   ///< symmetric positive definite (3N, 3N) [kg]
  VectorX f;       ///< (3N) [N s]
  BlockRows H;     ///< (3n, 3N) [-]
  VectorX mu;      ///< (n), >= 0 [-]
  VectorX offset;  ///< (3n), (normal, t1, t2) each: of a moving obstacle, say [m/s]
};

/// Throws InvalidInput, one line, unless sizes agree, indices are in range and ascending, numbers are finite, mu >= 0,
/// and M is symmetric and has a mass at each node.
void validate(const PrimalProblem& problem);

/// u = H v + offset (3n) for v (3N).
VectorX contact_velocity(const PrimalProblem& problem, const VectorX& velocity);

/// How far v and r are from a solution: the norm of M v - f - H^T r and of the natural map at contacts, over the
/// largest of |f|, (|M v|^2 + |r|^2)^1/2 and |u|. Impulses divided and velocities multiplied by sqrt(tr M_ii / 3), so
/// that all have the unit sqrt(J); at a contact by the mass that its nodes, alone, set against it.
double primal_error(const PrimalProblem& problem, const VectorX& velocity, const VectorX& impulse);

/// The same problem in impulses: W = H M^-1 H^T, q = H M^-1 f + offset. By a sparse factor of M; M^-1 is never formed,
/// but W is full where M ties all contacts together. Throws as validate(), and where M is not positive definite.
FrictionProblem condensed(const PrimalProblem& problem);

struct PrimalSolution {
  VectorX velocity;          ///< v (3N) [m/s]
  VectorX impulse;           ///< r (3n), (normal, t1, t2) each [N s]
  VectorX contact_velocity;  ///< u (3n) [m/s]
  Status status = Status::max_iterations;
  int iterations = 0;  ///< as FrictionSolution::iterations; of solve_nodal() Newton's steps
  double error = 0.0;  ///< primal_error() of `velocity` and `impulse`
};

/// By the condensed form and solve(), so that its cost is that of W; the status and the tolerance are those of that
/// form. `guess` (3n): impulses. For contacts with a node of their own solve_nodal() needs no W. Throws as condensed()
/// and solve().
[[nodiscard]] PrimalSolution solve_primal(const PrimalProblem& problem, const VectorX& guess,
                                          const SolverOptions& options);

}  // namespace tresse::friction
