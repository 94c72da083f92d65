#include <cmath>

#include <tresse/rods/detail/helix_element.hpp>

namespace tresse::rods::detail {

Matrix3 contracted_hessian(double s, const Vector3& w, const Coefficient<double>& a, const Coefficient<double>& b,
                           const Vector3& y, const Vector3& gamma) {
  const double s2 = 2.0 * s * s;  // dx = s2 w . dw
  const Vector3 n = y.cross(gamma);
  Matrix3 form = 0.5 * (gamma * y.transpose() + y * gamma.transpose());
  form.diagonal().array() -= gamma.dot(y);
  const Vector3 form_w = form * w;
  const double linear = n.dot(w);
  const double quadratic = w.dot(form_w);

  const Vector3 mixed = a.slope * s2 * n + 2.0 * b.slope * s2 * form_w;
  Matrix3 hessian = mixed * w.transpose() + w * mixed.transpose();
  hessian += (linear * a.curvature + quadratic * b.curvature) * s2 * s2 * w * w.transpose();
  hessian += 2.0 * b.value * form;
  hessian.diagonal().array() += (linear * a.slope + quadratic * b.slope) * s2;
  return hessian;
}

PreciseNorm precise_norm(const Vector3& w) {
  const long double x = w.x();
  const long double y = w.y();
  const long double z = w.z();
  const long double norm = std::sqrt(x * x + y * y + z * z);
  const double value = static_cast<double>(norm);
  return {value, static_cast<double>(norm - value)};
}

}  // namespace tresse::rods::detail
