#pragma once

#include <array>

#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// One solution of a one-contact problem.
struct ContactSolution {
  Vector3 impulse = Vector3::Zero();   ///< r
  Vector3 velocity = Vector3::Zero();  ///< u = W r + q; the components that the case sets to zero are exactly zero
  ContactCase state = ContactCase::open;
};

/// The solutions of u = W r + q, (r, u) in C_mu, found by enumeration: at most one take-off, one stick (a
/// representative where W is singular), four slides. `count` = 0 is the proof that none exists, see below.
struct ContactSolutions {
  std::array<ContactSolution, 6> solution{};
  int count = 0;
  bool proved = true;  ///< false: the data hold numbers that are not finite
  const ContactSolution* begin() const { return solution.data(); }
  const ContactSolution* end() const { return solution.data() + count; }
};

/// Tries the three cases of the law one after the other, in extended precision. Take-off: q_N >= 0. Stick: r of least
/// norm (else a boundary point) of { W r = -q } within K_mu; singular values below 1e-13 of the largest count as zero.
/// Slide: with u_T = a d, a >= 0, |d| = 1, r_T = -mu r_N d, u_N = 0 gives r_N = -q_N / (W_NN - mu W_NT d), and
/// u_T || d is h(d) = d x ((W_TN - mu W_TT d)(-q_N) + q_T (W_NN - mu W_NT d)) = 0: a trigonometric polynomial of degree
/// two, a quartic in the tangent of the half angle. Nothing is inverted, so W may be semidefinite and nonsymmetric.
/// W, q: one contact's block and free velocity (what it would have with r = 0); mu >= 0.
/// Since every solution is of one of the three cases, none is missed (up to the two rank thresholds): no solution found
/// means that there is none. @cite daviet2011 (enumerative solver); bertails2018hdr sec. 3.2.4
ContactSolutions enumerate_contact(const Matrix3& W, const Vector3& q, double mu);

}  // namespace tresse::friction
