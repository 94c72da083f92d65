#pragma once

#include <array>
#include <cmath>
#include <complex>

#include <Eigen/Geometry>

#include <tresse/base/triple.hpp>
#include <tresse/base/types.hpp>
#include <tresse/math/stumpff.hpp>

/// Closed forms inside one element of constant curvature w, in the frame of its start, by scalar type: double, complex
/// (complex step), or an array of doubles (several arc lengths at once). With e = e_x and c_m the Stumpff functions of
/// x = s^2 |w|^2:
///   p(s) = s e + a u + b z,   a = s^2 c_2,  b = s^3 c_3,  u = w x e,  z = w x (w x e).
namespace tresse::rods::detail {

/// A coefficient s^m c_m and its first and second derivatives with respect to x = s^2 |w|^2.
template <typename Scalar>
struct Coefficient {
  Scalar value;
  Scalar slope;
  Scalar curvature;
};

/// Value and slope of s^M c_M: dc_m/dx = (m c_{m+2} - c_{m+1}) / 2.
template <int M, typename Scalar, std::size_t Count>
Scalar stumpff_slope(const std::array<Scalar, Count>& c) {
  static_assert(M + 2 < static_cast<int>(Count));
  return (c[M + 2] * double(M) - c[M + 1]) * 0.5;
}
template <int M, typename Scalar, std::size_t Count>
Scalar stumpff_second(const std::array<Scalar, Count>& c) {
  return (stumpff_slope<M + 2>(c) * double(M) - stumpff_slope<M + 1>(c)) * 0.5;
}

/// p(s) and its gradient P = dp/dw, row major.
template <typename Scalar>
struct HelixPoint {
  Triple<Scalar> p;                        ///< [m]
  std::array<std::array<Scalar, 3>, 3> P;  ///< P[row][k] = dp_row/dw_k [m^2]
};

/// From s, w and c_0 .. c_{M+3} at least. M = 2: p(s) itself; M = 3: its integral from 0 to s, as that of s^m c_m is
/// s^{m+1} c_{m+1}.
template <int M = 2, typename Scalar, typename Curvature, std::size_t Count>
HelixPoint<Scalar> helix_point(const Scalar& s, const Triple<Curvature>& w, const std::array<Scalar, Count>& c) {
  static_assert(M == 2 || M == 3);
  const Scalar s2 = s * s;
  const Scalar before = M == 2 ? s : Scalar(s2);  // s^{M-1}
  const Scalar power = before * s;
  const Scalar a = power * c[M];
  const Scalar b = power * s * c[M + 1];
  const Scalar a_x = power * s2 * stumpff_slope<M>(c) * 2.0;  // da = a_x (w . dw)
  const Scalar b_x = power * s2 * s * stumpff_slope<M + 1>(c) * 2.0;
  const Curvature z0 = -(w[1] * w[1] + w[2] * w[2]);
  const Curvature z1 = w[0] * w[1];
  const Curvature z2 = w[0] * w[2];

  HelixPoint<Scalar> point;
  point.p[0] = before * c[M - 1] + b * (w[0] * w[0]);  // s^{M-1} / (M-1)! + b z0 without its cancellation at many turns
  point.p[1] = a * w[2] + b * z1;
  point.p[2] = b * z2 - a * w[1];
  const Scalar row0 = b_x * z0;
  const Scalar row1 = a_x * w[2] + b_x * z1;
  const Scalar row2 = b_x * z2 - a_x * w[1];
  point.P[0][0] = row0 * w[0];
  point.P[0][1] = row0 * w[1] - b * (2.0 * w[1]);
  point.P[0][2] = row0 * w[2] - b * (2.0 * w[2]);
  point.P[1][0] = row1 * w[0] + b * w[1];
  point.P[1][1] = row1 * w[1] + b * w[0];
  point.P[1][2] = row1 * w[2] + a;
  point.P[2][0] = row2 * w[0] + b * w[2];
  point.P[2][1] = row2 * w[1] - a;
  point.P[2][2] = row2 * w[2] + b * w[0];
  return point;
}

inline Matrix3 gradient_matrix(const HelixPoint<double>& h) {
  Matrix3 m;
  m << h.P[0][0], h.P[0][1], h.P[0][2], h.P[1][0], h.P[1][1], h.P[1][2], h.P[2][0], h.P[2][1], h.P[2][2];
  return m;
}

/// Second derivative of p along the constant direction d: d^T (d2p/dw2) d. From c_0 .. c_7.
template <typename Scalar, typename Curvature, std::size_t Count>
Triple<Scalar> helix_second(const Scalar& s, const Triple<Curvature>& w, const Triple<Curvature>& d,
                            const std::array<Scalar, Count>& c) {
  const Curvature wd2 = (w[0] * d[0] + w[1] * d[1] + w[2] * d[2]) * 2.0;
  const Curvature dd2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * 2.0;
  const Scalar s2 = s * s;
  const Scalar x1 = s2 * wd2;  // first and second derivative of x
  const Scalar x2 = s2 * dd2;
  const Scalar a1 = s2 * stumpff_slope<2>(c) * x1 * 2.0;
  const Scalar a2 = s2 * (stumpff_second<2>(c) * x1 * x1 + stumpff_slope<2>(c) * x2);
  const Scalar s3 = s2 * s;
  const Scalar b0 = s3 * c[3] * 2.0;
  const Scalar b1 = s3 * stumpff_slope<3>(c) * x1 * 2.0;
  const Scalar b2 = s3 * (stumpff_second<3>(c) * x1 * x1 + stumpff_slope<3>(c) * x2);
  Triple<Scalar> second;
  second[0] = b2 * (-(w[1] * w[1] + w[2] * w[2])) + b1 * (-2.0 * (w[1] * d[1] + w[2] * d[2])) +
              b0 * (-(d[1] * d[1] + d[2] * d[2]));
  second[1] = a2 * w[2] + a1 * d[2] + b2 * (w[0] * w[1]) + b1 * (d[0] * w[1] + w[0] * d[1]) + b0 * (d[0] * d[1]);
  second[2] = b2 * (w[0] * w[2]) + b1 * (d[0] * w[2] + w[0] * d[2]) + b0 * (d[0] * d[2]) - a2 * w[1] - a1 * d[1];
  return second;
}

/// d/dt of T(s, w) d at the constant rate d of w, where dtheta = T dw, T = s (I + s c_2 [w]x + s^2 c_3 [w]x^2). From
/// c_0 .. c_5.
template <typename Scalar, std::size_t Count>
Triple<Scalar> helix_angular_rate(const Scalar& s, const Triple<Scalar>& w, const Triple<Scalar>& d,
                                  const std::array<Scalar, Count>& c) {
  const Scalar s2 = s * s;
  const Scalar x1 = s2 * dot(w, d) * 2.0;
  const Triple<Scalar> turned = cross(w, d);
  const Triple<Scalar> by_2 = stumpff_slope<2>(c) * x1 * turned;
  const Triple<Scalar> by_3 = c[3] * cross(d, turned) + stumpff_slope<3>(c) * x1 * cross(w, turned);
  return s2 * (by_2 + s * by_3);
}

/// Hessian with respect to w of gamma . (a(x) w x y + b(x) w x (w x y)), x = s^2 |w|^2: with n = y x gamma and
/// S = sym(gamma y^T) - (gamma . y) I it is that of a n.w + b w^T S w. (3, 3)
Matrix3 contracted_hessian(double s, const Vector3& w, const Coefficient<double>& a, const Coefficient<double>& b,
                           const Vector3& y, const Vector3& gamma);

/// |w| as value + correction, the correction being what rounding took.
struct PreciseNorm {
  double value = 0.0;
  double correction = 0.0;
};
PreciseNorm precise_norm(const Vector3& w);

/// c_0 .. c_{Count-1} at arc length s of an element of curvature w, the phase kept at many turns.
template <int Count>
std::array<double, Count> helix_stumpff(double s, const Vector3& w) {
  const double x = s * s * w.squaredNorm();
  if (x <= 1.0) {
    std::array<double, Count> c;
    math::stumpff_series<Count, double, 8>(x, c);
    return c;
  }
  if (x <= math::stumpff_switch) return math::stumpff<Count>(x);
  const PreciseNorm norm = precise_norm(w);
  const double angle = s * norm.value;
  return math::stumpff_of_angle<Count>(angle, std::fma(s, norm.value, -angle) + s * norm.correction);
}

}  // namespace tresse::rods::detail
