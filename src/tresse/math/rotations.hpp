#pragma once

#include <tresse/base/types.hpp>

namespace tresse::math {

/// [v]x, so that [v]x w = v x w. (3, 3)
inline Matrix3 cross_matrix(const Vector3& v) {
  Matrix3 m;
  m << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
  return m;
}

/// exp([v]x): the rotation by |v| about v [rad]. Exact to rounding at any angle.
Matrix3 rotation_exp(const Vector3& v);

/// The rotation vector of smallest angle, |v| <= pi, with rotation_exp(v) = rotation [rad]. At an angle of pi either
/// sign of the axis.
Vector3 rotation_log(const Matrix3& rotation);

/// The rotation of smallest angle that takes the direction of `from` to that of `to`; any of those where they are
/// opposite. Lengths don't matter but must not be zero. Exact to rounding at any angle.
Matrix3 rotation_between(const Vector3& from, const Vector3& to);

/// V(v) = int_0^1 exp(t [v]x) dt = I + c_2 [v]x + c_3 [v]x^2. It is also the left Jacobian: d exp([v]x) = [V(v) dv]x
/// exp([v]x).
Matrix3 rotation_exp_integral(const Vector3& v);

/// The rotation nearest to `matrix`, which must be within about 0.1 of one; a matrix already orthonormal comes back
/// within a rounding.
Matrix3 orthonormalised(const Matrix3& matrix);

/// One Newton step of the same towards orthonormality: squares a small defect |R^T R - I|.
inline Matrix3 orthonormalised_once(const Matrix3& matrix) {
  return matrix * (1.5 * Matrix3::Identity() - 0.5 * matrix.transpose() * matrix);
}

/// Largest entry of |R^T R - I|.
double orthonormality_defect(const Matrix3& matrix);

}  // namespace tresse::math
