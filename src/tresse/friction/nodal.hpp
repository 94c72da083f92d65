#pragma once

#include <vector>

#include <tresse/friction/solver.hpp>

namespace tresse::friction {

/// A point of a cloth that touches something whose motion is known.
struct NodalContact {
  int node = 0;                      ///< no other contact is at it
  Matrix3 frame;                     ///< columns (normal away from what is touched, t1, t2) (3, 3) [-]
  double mu = 0.0;                   ///< >= 0
  Vector3 offset = Vector3::Zero();  ///< w of u = frame^T v + w, (normal, t1, t2): of a moving obstacle (3) [m/s]
};

/// The frictional contact problem of a system of points whose implicit mass matrix ties all of them together, as that
/// of a cloth: M v = f + sum frame r, (u_i, r_i) in C_mu. In the contacts' frames the velocities v themselves are the
/// unknowns, M is as sparse as it was, and its inverse, which is dense, is not wanted: the primal form.
/// @cite bertails2018hdr eq. (3.14); daviet2015
struct NodalProblem {
  BlockMatrix M;  ///< symmetric positive definite (3N, 3N) [kg]
  VectorX f;      ///< (3N) [N s]
  std::vector<NodalContact> contacts;
};

struct NodalOptions {
  double tolerance = 1e-10;  ///< on NodalSolution::error, dimensionless; > 0
  int max_iterations = 200;  ///< Newton's steps; >= 1
};

struct NodalSolution {
  VectorX velocity;          ///< v (3N) [m/s]
  VectorX impulse;           ///< r (3n), (normal, t1, t2) each [N s]
  VectorX contact_velocity;  ///< u (3n) [m/s]
  Status status = Status::max_iterations;
  int iterations = 0;  ///< Newton's steps
  double error = 0.0;  ///< nodal_error() of `velocity`
};

/// Throws InvalidInput, one line, unless sizes agree, indices are in range, frames are rotations, numbers are finite
/// and mu >= 0.
void validate(const NodalProblem& problem);

/// How far v is from a solution: the norm of the natural map at contacts and of M v - f at all other points, over the
/// largest of |f|, |M v| and |u|; impulses divided and velocities multiplied by sqrt(tr M_ii / 3), so that both have
/// the unit sqrt(J).
double nodal_error(const NodalProblem& problem, const VectorX& velocity);

/// Newton's method on Alart and Curnier's function of (r, u), r = M v - f, with line search and a lift where the
/// derivative is near singular: what sticks or is open falls out of the sparse system of a step. Then proximal steps,
/// where Newton's method alone is stuck. `guess` (3N): where it starts. Not converged: the best iterate found. Unlike
/// the problem in impulses, this one is regular with any number of contacts. Throws as validate().
[[nodiscard]] NodalSolution solve_nodal(const NodalProblem& problem, const VectorX& guess,
                                        const NodalOptions& options = {});

/// The same problem in impulses, W = H M^-1 H^T assembled (dense), to compare with: for small ones.
FrictionProblem reduced(const NodalProblem& problem);

}  // namespace tresse::friction
