#pragma once

#include <algorithm>
#include <cmath>

#include <tresse/base/types.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction {

/// Coulomb's cone K_mu = { |r_T| <= mu r_N } and what one contact says about it. Vectors are (normal, t1, t2); below
/// also those of other dimensions. @cite bertails2018hdr sec. 3.2

inline double tangential_norm(const Vector3& v) { return std::sqrt(v[1] * v[1] + v[2] * v[2]); }

/// Euclidean projection of x on K_mu. mu = 0: the half line of normal reactions.
inline Vector3 project_on_cone(const Vector3& x, double mu) {
  const double tangential = tangential_norm(x);
  if (mu * tangential <= -x[0]) return Vector3::Zero();  // first: with mu = 0 the other test would let x_N < 0 through
  if (tangential <= mu * x[0]) return x;
  const double normal = (x[0] + mu * tangential) / (1.0 + mu * mu);
  const double factor = mu * normal / tangential;  // 0/0 only at x_T = 0, where one of the tests above holds
  return {normal, tangential > 0.0 ? factor * x[1] : 0.0, tangential > 0.0 ? factor * x[2] : 0.0};
}

/// De Saxce's change of variable u~ = u + mu |u_T| e_N, which turns Coulomb's law into K_mu* > u~ _|_ r in K_mu.
inline Vector3 de_saxce(const Vector3& u, double mu) { return {u[0] + mu * tangential_norm(u), u[1], u[2]}; }

/// r - P_K(r - u~): zero exactly where (u, r) obeys Signorini and Coulomb.
inline Vector3 natural_map(const Vector3& r, const Vector3& u, double mu) {
  return r - project_on_cone(r - de_saxce(u, mu), mu);
}

/// The same in a cone of any dimension: one tangent in the plane, two in space, five for the stress of grains in space.
/// @cite bertails2018hdr sec. 3.3
template <int dimension>
using ConeVector = Eigen::Matrix<double, dimension, 1>;

template <int dimension>
double tangential_norm(const ConeVector<dimension>& v) {
  return v.template tail<dimension - 1>().norm();
}

template <int dimension>
ConeVector<dimension> project_on_cone(const ConeVector<dimension>& x, double mu) {
  const double tangential = tangential_norm<dimension>(x);
  if (mu * tangential <= -x[0]) return ConeVector<dimension>::Zero();
  if (tangential <= mu * x[0]) return x;
  const double normal = (x[0] + mu * tangential) / (1.0 + mu * mu);
  ConeVector<dimension> out = mu * normal / tangential * x;
  out[0] = normal;
  return out;
}

template <int dimension>
ConeVector<dimension> de_saxce(const ConeVector<dimension>& u, double mu) {
  return u + mu * tangential_norm<dimension>(u) * ConeVector<dimension>::Unit(0);
}

template <int dimension>
ConeVector<dimension> natural_map(const ConeVector<dimension>& r, const ConeVector<dimension>& u, double mu) {
  return r - project_on_cone<dimension>(r - de_saxce<dimension>(u, mu), mu);
}

/// Which of the law's three cases a solution (u, r) is in; `tolerance` is relative to r_N. With mu = 0 a loaded contact
/// slides.
inline ContactCase classify(const Vector3& r, double mu, double tolerance = 1e-9) {
  if (!(r[0] > 0.0)) return ContactCase::open;
  const bool on_cone = tangential_norm(r) >= mu * r[0] * (1.0 - tolerance);
  return on_cone ? ContactCase::slide : ContactCase::stick;
}

}  // namespace tresse::friction
