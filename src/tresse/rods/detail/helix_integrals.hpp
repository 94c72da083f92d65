#pragma once

#include <array>

#include <tresse/base/triple.hpp>
#include <tresse/rods/detail/element_integrals.hpp>

namespace tresse::rods::detail {

/// ElementMoments of an element, but for its length.
template <typename Scalar>
struct HelixMoments {
  Triple<Scalar> p;           ///< int p
  Columns<Scalar> p_p;        ///< int p p^T
  Columns<Scalar> P;          ///< int P
  Columns<Scalar> p_cross_P;  ///< int [p]x P
  Columns<Scalar> P_P;        ///< int P^T P
};

/// ElementForce.
template <typename Scalar>
struct HelixForce {
  Triple<Scalar> resultant;    ///< int f
  Triple<Scalar> torque;       ///< int p x f
  Triple<Scalar> generalised;  ///< int P^T f
};

/// Integrals over an element of constant curvature without quadrature, up to a turn of 3 rad; of one element (double),
/// or of four side by side (lanes::Doubles). In units of its length, with w its curvature (so that |w| is its turn), X
/// = |w|^2, e = e_x, u = w x e, z = w x u and the Stumpff functions c_m(s^2 X), position, gradient and second
/// derivative along a direction d are
///   p      = s e + a u + b z,                          a = s^2 c_2,  b = s^3 c_3
///   P d    = a d x e + b z_d + (w . d) (a1 u + b1 z),   z_d = d x u + w x (d x e)
///   d P' d = 2 b d x (d x e) + 2 (w . d) (a1 d x e + b1 z_d) + (w . d)^2 (a2 u + b2 z) + d . d (a1 u + b1 z)
/// with a1 = 2 da/dX, a2 = 2 da1/dX, alike of b. Everything depends on s by seven profiles 1, s, a .. b2 alone, and
/// integrals of their products are entire functions of X: power series of one sign, made when compiling. Where X is at
/// most 9 their terms cancel by two digits at most.
template <typename Scalar>
class HelixIntegrals {
 public:
  static constexpr double largest_turn = 3.0;  ///< [rad]

  /// For a turn of at most largest_turn.
  void set(const Scalar& length, const Triple<Scalar>& w);
  /// The same, but for first_moments() alone.
  void set_first(const Scalar& length, const Triple<Scalar>& w);
  void moments(HelixMoments<Scalar>& out) const;
  /// int p and int P.
  void first_moments(Triple<Scalar>& p, Columns<Scalar>& P) const;
  /// At the given rates of the curvature.
  void force(const LineForce<Scalar>& line, const Triple<Scalar>& rate, HelixForce<Scalar>& out) const;

  /// Integrals of a profile, and of products of two.
  static constexpr int entries = 32;
  /// Of these the first, which set_first() makes.
  static constexpr int first_entries = 8;

 private:
  Scalar length_{};
  Triple<Scalar> w_{};                                  ///< times the length [rad]
  alignas(32) std::array<Scalar, entries> products_{};  ///< [-]
};

extern template class HelixIntegrals<double>;
extern template class HelixIntegrals<lanes::Doubles>;

}  // namespace tresse::rods::detail
