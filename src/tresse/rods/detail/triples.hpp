#pragma once

#include <array>

#include <tresse/base/hot.hpp>
#include <tresse/base/types.hpp>

/// Vectors and matrices of three by scalar type: double, or four elements side by side (lanes::Doubles).
namespace tresse::rods::detail {

template <typename Scalar>
using Triple = std::array<Scalar, 3>;

/// A matrix (3, 3) as its columns.
template <typename Scalar>
using Columns = std::array<Triple<Scalar>, 3>;

inline Triple<double> triple(const Vector3& v) { return {v.x(), v.y(), v.z()}; }
inline Columns<double> columns(const Matrix3& m) { return {triple(m.col(0)), triple(m.col(1)), triple(m.col(2))}; }
inline Vector3 vector(const Triple<double>& v) { return {v[0], v[1], v[2]}; }
inline Matrix3 matrix(const Columns<double>& m) {
  Matrix3 out;
  out << m[0][0], m[1][0], m[2][0], m[0][1], m[1][1], m[2][1], m[0][2], m[1][2], m[2][2];
  return out;
}

template <typename Scalar>
TRESSE_HOT Scalar dot(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> cross(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> plus(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> minus(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> scaled(const Scalar& factor, const Triple<Scalar>& a) {
  return {factor * a[0], factor * a[1], factor * a[2]};
}
/// m v
template <typename Scalar>
TRESSE_HOT Triple<Scalar> times(const Columns<Scalar>& m, const Triple<Scalar>& v) {
  return {m[0][0] * v[0] + m[1][0] * v[1] + m[2][0] * v[2], m[0][1] * v[0] + m[1][1] * v[1] + m[2][1] * v[2],
          m[0][2] * v[0] + m[1][2] * v[1] + m[2][2] * v[2]};
}
/// m^T v
template <typename Scalar>
TRESSE_HOT Triple<Scalar> transposed_times(const Columns<Scalar>& m, const Triple<Scalar>& v) {
  return {dot(m[0], v), dot(m[1], v), dot(m[2], v)};
}

}  // namespace tresse::rods::detail
