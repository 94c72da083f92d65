#pragma once

#include <array>

#include <tresse/rods/detail/element_integrals.hpp>

namespace tresse::rods::detail {

/// Integrals over an element of constant curvature without quadrature, up to a turn of 3 rad. In units of its length,
/// with w its curvature (so that |w| is its turn), X = |w|^2, e = e_x, u = w x e, z = w x u and the Stumpff functions
/// c_m(s^2 X), position, gradient and second derivative along a direction d are
///   p      = s e + a u + b z,                          a = s^2 c_2,  b = s^3 c_3
///   P d    = a d x e + b z_d + (w . d) (a1 u + b1 z),   z_d = d x u + w x (d x e)
///   d P' d = 2 b d x (d x e) + 2 (w . d) (a1 d x e + b1 z_d) + (w . d)^2 (a2 u + b2 z) + d . d (a1 u + b1 z)
/// with a1 = 2 da/dX, a2 = 2 da1/dX, alike of b. Everything depends on s by seven profiles 1, s, a .. b2 alone, and
/// integrals of their products are entire functions of X: power series of one sign, made when compiling. Where X is at
/// most 9 their terms cancel by two digits at most.
class HelixIntegrals {
 public:
  static constexpr double largest_turn = 3.0;  ///< [rad]

  /// For a turn of at most largest_turn.
  void set(double length, const Vector3& w);
  ElementMoments<3> moments() const;
  /// At the given rates of the curvature.
  ElementForce<3> force(const LineForce& line, const Vector3& rate) const;

  /// Integrals of a profile, and of products of two.
  static constexpr int entries = 32;

 private:
  double length_ = 0.0;
  Vector3 w_ = Vector3::Zero();                         ///< times the length [rad]
  alignas(32) std::array<double, entries> products_{};  ///< [-]
};

}  // namespace tresse::rods::detail
