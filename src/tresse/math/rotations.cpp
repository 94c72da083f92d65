#include <cmath>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>
#include <tresse/math/stumpff.hpp>

namespace tresse::math {
namespace {

/// a I + b [v]x + c [v]x^2 with [v]x^2 = v v^T - |v|^2 I.
Matrix3 combination(double a, double b, double c, const Vector3& v) {
  Matrix3 m = c * v * v.transpose();
  m.diagonal().array() += a - c * v.squaredNorm();
  return m + b * cross_matrix(v);
}

}  // namespace

Matrix3 rotation_exp(const Vector3& v) {
  const auto c = stumpff<3>(v.squaredNorm());
  return combination(1.0, c[1], c[2], v);
}

Vector3 rotation_log(const Matrix3& rotation) {
  const Eigen::Quaterniond q(rotation);  // well conditioned at every angle
  const double sine = q.vec().norm();
  if (sine == 0.0) return Vector3::Zero();
  const double half_angle = std::atan2(sine, std::abs(q.w()));
  return q.vec() * (std::copysign(2.0, q.w()) * half_angle / sine);
}

Matrix3 rotation_between(const Vector3& from, const Vector3& to) {
  // The sum of two unit vectors halves the angle between them, and has few rounding errors where it is short.
  const Vector3 a = from.normalized();
  const Vector3 sum = a + to.normalized();
  const double size = sum.norm();
  Eigen::Quaterniond half;
  if (size > 1e-14) {
    half.w() = size / 2.0;
    half.vec() = a.cross(sum) / size;
    half.normalize();
  } else {
    half.w() = 0.0;
    half.vec() = a.unitOrthogonal();
  }
  return half.toRotationMatrix();
}

Matrix3 rotation_exp_integral(const Vector3& v) {
  const auto c = stumpff<4>(v.squaredNorm());
  return combination(1.0, c[2], c[3], v);
}

Matrix3 orthonormalised(const Matrix3& matrix) {
  Matrix3 r = matrix;
  for (int i = 0; i < 6; ++i) r = orthonormalised_once(r);
  return r;
}

double orthonormality_defect(const Matrix3& matrix) {
  return (matrix.transpose() * matrix - Matrix3::Identity()).cwiseAbs().maxCoeff();
}

}  // namespace tresse::math
