#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <tresse/base/hot.hpp>
#include <tresse/base/lanes.hpp>
#include <tresse/base/types.hpp>

namespace tresse {

/// Three components, each a number, a pack of them (base/lanes.hpp), or an Eigen array of several: vectors side by
/// side.
template <typename Scalar>
struct Triple {
  std::array<Scalar, 3> components;

  TRESSE_HOT Scalar& operator[](std::size_t k) { return components[k]; }
  TRESSE_HOT const Scalar& operator[](std::size_t k) const { return components[k]; }
};

/// A matrix (3, 3) as its columns.
template <typename Scalar>
using Columns = std::array<Triple<Scalar>, 3>;

template <typename Scalar>
TRESSE_HOT Triple<Scalar> operator+(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <typename Scalar>
TRESSE_HOT void operator+=(Triple<Scalar>& a, const Triple<Scalar>& b) {
  for (std::size_t k = 0; k < 3; ++k) a[k] += b[k];
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> operator-(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> operator*(const std::type_identity_t<Scalar>& factor, const Triple<Scalar>& a) {
  return {factor * a[0], factor * a[1], factor * a[2]};
}
template <typename Scalar>
TRESSE_HOT Scalar dot(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <typename Scalar>
TRESSE_HOT Triple<Scalar> cross(const Triple<Scalar>& a, const Triple<Scalar>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// m v
template <typename Entry, typename Scalar>
TRESSE_HOT Triple<Scalar> times(const Columns<Entry>& m, const Triple<Scalar>& v) {
  return {m[0][0] * v[0] + m[1][0] * v[1] + m[2][0] * v[2], m[0][1] * v[0] + m[1][1] * v[1] + m[2][1] * v[2],
          m[0][2] * v[0] + m[1][2] * v[1] + m[2][2] * v[2]};
}
/// m^T v
template <typename Scalar>
TRESSE_HOT Triple<Scalar> transposed_times(const Columns<Scalar>& m, const Triple<Scalar>& v) {
  return {dot(m[0], v), dot(m[1], v), dot(m[2], v)};
}

inline Triple<double> triple(const Vector3& v) { return {v.x(), v.y(), v.z()}; }
inline Columns<double> columns(const Matrix3& m) { return {triple(m.col(0)), triple(m.col(1)), triple(m.col(2))}; }
inline Vector3 vector(const Triple<double>& v) { return {v[0], v[1], v[2]}; }
inline Matrix3 matrix(const Columns<double>& m) {
  Matrix3 out;
  out << m[0][0], m[1][0], m[2][0], m[0][1], m[1][1], m[2][1], m[0][2], m[1][2], m[2][2];
  return out;
}

namespace lanes {

TRESSE_HOT Triple<Doubles> spread(const Vector3& v) { return {spread(v[0]), spread(v[1]), spread(v[2])}; }
/// The vector of one lane.
TRESSE_HOT Vector3 lane_of(const Triple<Doubles>& v, int lane) { return {v[0][lane], v[1][lane], v[2][lane]}; }

}  // namespace lanes
}  // namespace tresse
