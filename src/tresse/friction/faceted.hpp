#pragma once

#include <tresse/friction/solver.hpp>

namespace tresse::friction {

/// The law of many programs that is not Coulomb's, for comparison: his cone is replaced by the pyramid inscribed in it
/// whose `facets` edges stand at the angles 2 pi j / facets from t1, and friction dissipates the most that the pyramid
/// allows. Slip and friction are then not opposite, but where slip is along an edge or across a face.
/// @cite klarbring1987; bertails2018hdr sec. 3.2, fig. 3.6

/// (r_N - P_{>=0}(r_N - u_N), r_T - P_polygon(r_T - u_T)), the polygon being the pyramid's section at max(r_N, 0): zero
/// exactly where (u, r) obeys Signorini and the pyramid's law.
Vector3 faceted_map(const Vector3& r, const Vector3& u, double mu, int facets);

/// One contact, u = W r + q: the first solution of take-off, stick, slip across a face and slip along an edge. False,
/// with r untouched, where no case fits (W is too singular).
bool solve_faceted_contact(const Matrix3& W, const Vector3& q, double mu, int facets, Vector3& r);

/// Gauss-Seidel, contact by contact, from `guess` (3n). Errors of the solution are those of faceted_map(). Options
/// read: facets (>= 3), tolerance, max_iterations, measure, check_every.
[[nodiscard]] FrictionSolution solve_faceted(const FrictionProblem& problem, const VectorX& guess,
                                             const SolverOptions& options);

}  // namespace tresse::friction
