#include <tresse/friction/detail/complementarity.hpp>

#include <cmath>

#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/local_solver.hpp>

namespace tresse::friction::detail {
namespace {

using Vector2 = Eigen::Vector2d;
using Matrix2 = Eigen::Matrix2d;

ContactFunction nodal(const Vector3& velocity, const Vector3& impulse, double mu) {
  if (mu < 0.0) return {impulse, Matrix3::Zero(), Matrix3::Identity()};
  const ContactFunction law = alart_curnier(impulse, velocity, mu);
  return {law.value, law.du, law.dr};
}

}  // namespace

ContactFunction alart_curnier(const Vector3& r, const Vector3& u, double mu) {
  ContactFunction out{Vector3::Zero(), Matrix3::Identity(), Matrix3::Zero()};
  Vector3& f = out.value;
  Matrix3& a = out.dr;
  Matrix3& b = out.du;
  const double normal = r[0] - u[0];
  if (normal <= 0.0) {  // open: F = r
    f = r;
    return out;
  }
  f[0] = u[0];
  a(0, 0) = 0.0;
  b(0, 0) = 1.0;
  const Vector2 p(r[1] - u[1], r[2] - u[2]);
  const double length = p.norm();
  const double radius = mu * normal;
  if (length <= radius) {  // stick: F_T = u_T
    f[1] = u[1];
    f[2] = u[2];
    a(1, 1) = a(2, 2) = 0.0;
    b(1, 1) = b(2, 2) = 1.0;
    return out;
  }
  const Vector2 d = p / length;
  f[1] = r[1] - radius * d[0];
  f[2] = r[2] - radius * d[1];
  const Matrix2 turn = radius / length * (Matrix2::Identity() - d * d.transpose());
  a.block<2, 2>(1, 1) -= turn;
  b.block<2, 2>(1, 1) = turn;
  a.block<2, 1>(1, 0) = -mu * d;
  b.block<2, 1>(1, 0) = mu * d;
  return out;
}

ContactFunction coulomb_fischer_burmeister(const Vector3& r, const Vector3& u, double mu) {
  ContactFunction out{Vector3::Zero(), Matrix3::Zero(), Matrix3::Zero()};
  if (mu == 0.0) {
    const double length = std::hypot(r[0], u[0]);
    out.value = {r[0] + u[0] - length, r[1], r[2]};
    out.dr.setIdentity();
    // At r_N = u_N = 0 the derivative along (1, 1).
    const double at_kink = std::sqrt(0.5);
    out.dr(0, 0) = 1.0 - (length > 0.0 ? r[0] / length : at_kink);
    out.du(0, 0) = 1.0 - (length > 0.0 ? u[0] / length : at_kink);
    return out;
  }
  const Vector3 x(mu * r[0], r[1], r[2]);
  const double slip = tangential_norm(u);
  const Vector3 y(u[0] + mu * slip, mu * u[1], mu * u[2]);
  const FischerBurmeister f = fischer_burmeister(x, y);
  out.value = f.value;
  out.dr = f.dx;
  out.dr.col(0) *= mu;
  Matrix3 dy = Matrix3::Zero();
  dy(0, 0) = 1.0;
  for (int k = 1; k < 3; ++k) {
    dy(k, k) = mu;
    if (slip > 0.0) dy(0, k) = mu * u[k] / slip;
  }
  out.du = f.dy * dy;
  return out;
}

ContactFunction conic_map(const Vector3& r, const Vector3& u, double mu) {
  const Vector3 z = r - u;
  const double tangential = tangential_norm(z);
  ContactFunction out{z, Matrix3::Identity(), Matrix3::Zero()};
  if (tangential <= mu * z[0]) {  // within the cone: F = u
    out.value = u;
    out.dr.setZero();
    out.du.setIdentity();
    return out;
  }
  if (mu * tangential <= -z[0]) {  // within its polar: F = r
    out.value = r;
    return out;
  }
  out.value = r - project_on_cone(z, mu);
  Vector3 ray(1.0, 0.0, 0.0);
  Matrix3 derivative = Matrix3::Zero();
  if (tangential > 0.0) {
    const Vector2 d = z.tail<2>() / tangential;
    ray.tail<2>() = mu * d;
    const double normal = (z[0] + mu * tangential) / (1.0 + mu * mu);
    derivative.block<2, 2>(1, 1) = mu * normal / tangential * (Matrix2::Identity() - d * d.transpose());
  }
  derivative += ray * ray.transpose() / (1.0 + mu * mu);
  out.dr -= derivative;
  out.du = derivative;
  return out;
}

ContactFunction evaluate(Complementarity function, const Vector3& r, const Vector3& u, double mu) {
  switch (function) {
    case Complementarity::fischer_burmeister:
      return coulomb_fischer_burmeister(r, u, mu);
    case Complementarity::conic_map:
      return conic_map(r, u, mu);
    case Complementarity::nodal:
      return nodal(r, u, mu);
    case Complementarity::alart_curnier:
      break;
  }
  return alart_curnier(r, u, mu);
}

Vector3 law_map(Complementarity function, const Vector3& r, const Vector3& u, double mu) {
  if (function == Complementarity::conic_map) return r - project_on_cone(r - u, mu);
  if (function == Complementarity::nodal) return mu < 0.0 ? u : natural_map(u, r, mu);
  return natural_map(r, u, mu);
}

double map_norm(Complementarity function, const VectorX& r, const VectorX& u, const VectorX& mu) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < mu.size(); ++i)
    sum += law_map(function, r.segment<3>(3 * i), u.segment<3>(3 * i), mu[i]).squaredNorm();
  return std::sqrt(sum);
}

}  // namespace tresse::friction::detail
