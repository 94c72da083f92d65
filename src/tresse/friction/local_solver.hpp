#pragma once

#include <tresse/friction/enumerative.hpp>

namespace tresse::friction {

/// One contact's block, prepared for repeated solves with changing free velocity by `solve_secular`.
struct PreparedContact {
  Matrix3 W = Matrix3::Zero();
  double mu = 0.0;
  double inverse_normal = 0.0;             ///< 1 / W_NN
  double normal_row[2] = {0.0, 0.0};       ///< W_NT / W_NN
  double normal_column[2] = {0.0, 0.0};    ///< W_TN / W_NN
  double schur[4] = {0.0, 0.0, 0.0, 0.0};  ///< W_TT - W_TN W_NT / W_NN: 11, 12, 21, 22
  bool fast = false;                       ///< the Schur complement is safely positive definite: solve_secular applies
  bool delicate = false;                   ///< so ill conditioned that it must be solved in extended precision
};

PreparedContact prepare_contact(const Matrix3& W, double mu);

/// The fast local solver. With u_T = -alpha r_T, alpha >= 0, and r_N eliminated, |r_T(alpha)| = mu r_N(alpha) is one
/// equation in alpha: bracketed Newton steps on mu r_N / |r_T| - 1, which is nearly linear in alpha. `alpha` is the
/// start, and the solution on return. False where it doesn't apply or didn't converge; r is then untouched.
/// `near`: sweeps, which come back to the contact, stop where Newton's next step changes alpha by no more than this
/// share: its square is left of the error, and the next visit starts from Newton's next alpha. 0: to rounding.
bool solve_secular(const PreparedContact& contact, const Vector3& q, double& alpha, Vector3& r, double near = 0.0);

/// Newton on the Fischer-Burmeister function of the second-order cone, f(x, y) = x + y - (x^2 + y^2)^(1/2) in its
/// Jordan algebra, x = (mu r_N, r_T), y = (u~_N, mu u_T), with backtracking on |f|^2/2. r is the start, and the best
/// iterate on return. True where |f| fell to rounding. mu > 0. @cite fukushima2002; daviet2011
bool solve_fischer_burmeister(const Matrix3& W, const Vector3& q, double mu, Vector3& r, int max_steps = 50);

/// f(x, y) above and its derivatives with respect to x and y (3, 3), for tests and the global Newton.
struct FischerBurmeister {
  Vector3 value;
  Matrix3 dx, dy;
};
FischerBurmeister fischer_burmeister(const Vector3& x, const Vector3& y);

/// What sweeps over a large island read of a contact's block (detail/aligned_lanes.hpp): its eliminated form,
/// symmetric, in those tangential axes where that is diagonal. However thin it is, nothing cancels there.
struct AlignedContact {
  double mu = 0.0;
  double inverse_normal = 0.0;      ///< 0: the block is not fit for this
  double row[2] = {0.0, 0.0};       ///< W_NT / W_NN
  double schur[2] = {0.0, 0.0};     ///< its diagonal, the larger first
  double cosine = 1.0, sine = 0.0;  ///< the first axis: cosine t1 + sine t2
};

AlignedContact aligned(const PreparedContact& contact);

enum class LocalSolver { hybrid, fischer_burmeister, enumerative };

/// One contact's solution nearest to `r`, by the fast solvers and, where they fail, by enumeration; false, with r
/// untouched, where none exists. `near` as above.
bool solve_contact(const PreparedContact& contact, const Vector3& q, LocalSolver solver, double& alpha, Vector3& r,
                   double near = 0.0);

}  // namespace tresse::friction
