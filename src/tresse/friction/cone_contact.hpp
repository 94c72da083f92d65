#pragma once

#include <optional>

#include <tresse/friction/coulomb.hpp>

/// One contact in a cone of 2, 3 or 6 dimensions: in the plane, in space, and of grains in space. A contact in space
/// whose block may be singular or nonsymmetric is one for local_solver.hpp and enumerative.hpp.
namespace tresse::friction {

/// A contact's block, its normal row eliminated and what is left diagonalised, for repeated solves.
template <int dimension>
struct PreparedCone {
  static constexpr int tangents = dimension - 1;
  using Tangent = Eigen::Matrix<double, tangents, 1>;
  Eigen::Matrix<double, dimension, dimension> W;
  double mu = 0.0;
  Eigen::Matrix<double, tangents, tangents> axes;  ///< columns: eigenvectors of W_TT - W_TN W_NT / W_NN
  Tangent schur;                                   ///< its eigenvalues
  Tangent row;                                     ///< W_NT / W_NN along the axes
};

template <int dimension>
struct ConeSolution {
  ConeVector<dimension> impulse = ConeVector<dimension>::Zero();   ///< r
  ConeVector<dimension> velocity = ConeVector<dimension>::Zero();  ///< u; what the case sets to zero is exactly zero
  ContactCase state = ContactCase::open;
};

/// W: symmetric. None unless W is positive definite beyond rounding, all is finite and mu >= 0.
template <int dimension>
std::optional<PreparedCone<dimension>> prepare_cone(const Eigen::Matrix<double, dimension, dimension>& W, double mu);

/// A solution of u = W r + q under Coulomb's law, that of the first of its cases that has one. Take-off: q_N >= 0.
/// Stick: -W^-1 q lies in the cone. Slide: u_T = -alpha r_T, so that along the axes
///     r_k = -b_k / (schur_k + alpha), b = q_T - W_TN q_N / W_NN, r_N = -q_N / W_NN - row . r_T.
/// |r_T| - mu r_N is positive at alpha = 0, where the contact doesn't stick, and negative for large alpha: Newton's
/// method on mu r_N / |r_T| - 1, in a bracket, finds an alpha in between. So there always is a solution; where W_NT is
/// large beside W_NN there may be more. With mu = 0 what is loaded slides. @cite daviet2011; bertails2018hdr sec. 3.3
template <int dimension>
ConeSolution<dimension> solve_cone(const PreparedCone<dimension>& contact, const ConeVector<dimension>& q);

}  // namespace tresse::friction
