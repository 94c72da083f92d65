#include <tresse/rods/detail/bend_stencil.hpp>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>

namespace tresse::rods::detail {
namespace {

// Offsets in (e, theta^e, f, theta^f).
constexpr int at_e = 0;
constexpr int at_theta_e = 3;
constexpr int at_f = 4;
constexpr int at_theta_f = 7;

/// A bend strain's directors on e and f, and what they become by a quarter turn about their edge (their derivatives
/// over theta).
struct Directors {
  Vector3 e, f, e_turned, f_turned;
};

Directors directors(const BendStencil& s, int k) {
  if (k == 1) return {s.e.director_1, s.f.director_1, s.e.director_2, s.f.director_2};
  return {s.e.director_2, s.f.director_2, -s.e.director_1, -s.f.director_1};
}

Vector8 bend_gradient(const BendStencil& s, const Directors& d, double strain) {
  const Vector3 mean = (d.e + d.f) / s.chi;
  Vector8 out;
  out.segment<3>(at_e) = (s.f.tangent.cross(mean) - strain * s.tilted) / s.e.length;
  out.segment<3>(at_f) = (-s.e.tangent.cross(mean) - strain * s.tilted) / s.f.length;
  out[at_theta_e] = 0.5 * s.binormal.dot(d.e_turned);
  out[at_theta_f] = 0.5 * s.binormal.dot(d.f_turned);
  return out;
}

Matrix3 twice_symmetric(const Vector3& a, const Vector3& b) { return a * b.transpose() + b * a.transpose(); }

Matrix3 across(const Vector3& t) { return Matrix3::Identity() - t * t.transpose(); }

/// Adds weight * d2 c, upper blocks only.
void add_bend_hessian(const BendStencil& s, const Directors& d, double strain, double weight, Matrix8& out) {
  const Vector3 &t = s.e.tangent, &u = s.f.tangent;
  const double e = s.e.length, f = s.f.length;
  const Vector3 mean = (d.e + d.f) / s.chi;
  const Vector3 by_e = u.cross(mean), by_f = -t.cross(mean);
  const Matrix3 square = 2.0 * strain * s.tilted * s.tilted.transpose();
  out.block<3, 3>(at_e, at_e) +=
      weight / (e * e) *
      (square - twice_symmetric(by_e, s.tilted) - strain / s.chi * across(t) + 0.25 * twice_symmetric(s.binormal, d.e));
  out.block<3, 3>(at_f, at_f) +=
      weight / (f * f) *
      (square - twice_symmetric(by_f, s.tilted) - strain / s.chi * across(u) + 0.25 * twice_symmetric(s.binormal, d.f));
  out.block<3, 3>(at_e, at_f) +=
      weight / (e * f) *
      (square - by_e * s.tilted.transpose() - s.tilted * by_f.transpose() -
       strain / s.chi * (Matrix3::Identity() + t * u.transpose()) - math::cross_matrix(mean));
  const auto add_angle = [&](int angle, const Vector3& turned) {
    const double slope = 0.5 * s.binormal.dot(turned);
    const Vector3 on_e = weight / e * (u.cross(turned) / s.chi - slope * s.tilted);
    const Vector3 on_f = weight / f * (-t.cross(turned) / s.chi - slope * s.tilted);
    out.block<3, 1>(at_e, angle) += on_e;
    if (angle == at_theta_e) {
      out.block<1, 3>(angle, at_f) += on_f.transpose();
    } else {
      out.block<3, 1>(at_f, angle) += on_f;
    }
  };
  add_angle(at_theta_e, d.e_turned);
  add_angle(at_theta_f, d.f_turned);
  out(at_theta_e, at_theta_e) -= weight * 0.5 * s.binormal.dot(d.e);
  out(at_theta_f, at_theta_f) -= weight * 0.5 * s.binormal.dot(d.f);
}

void add_twist_hessian(const BendStencil& s, double weight, Matrix8& out) {
  const double e = s.e.length, f = s.f.length;
  out.block<3, 3>(at_e, at_e) -= weight / (4.0 * e * e) * twice_symmetric(s.binormal, s.e.tangent + s.tilted);
  out.block<3, 3>(at_f, at_f) -= weight / (4.0 * f * f) * twice_symmetric(s.binormal, s.f.tangent + s.tilted);
  out.block<3, 3>(at_e, at_f) +=
      weight / (2.0 * e * f) * (2.0 / s.chi * math::cross_matrix(s.e.tangent) - s.binormal * s.tilted.transpose());
}

}  // namespace

BendStencil make_bend_stencil(const EdgeFrame& e, const EdgeFrame& f, double twist) {
  BendStencil s;
  s.e = e;
  s.f = f;
  s.chi = 1.0 + e.tangent.dot(f.tangent);
  s.binormal = 2.0 / s.chi * e.tangent.cross(f.tangent);
  s.tilted = (e.tangent + f.tangent) / s.chi;
  s.strain[0] = twist;
  s.gradient.setZero();
  s.gradient.block<1, 3>(0, at_e) = 0.5 / e.length * s.binormal.transpose();
  s.gradient.block<1, 3>(0, at_f) = 0.5 / f.length * s.binormal.transpose();
  s.gradient(0, at_theta_e) = -1.0;
  s.gradient(0, at_theta_f) = 1.0;
  for (int k = 1; k <= 2; ++k) {
    const Directors d = directors(s, k);
    s.strain[k] = 0.5 * s.binormal.dot(d.e + d.f);
    s.gradient.row(k) = bend_gradient(s, d, s.strain[k]).transpose();
  }
  return s;
}

Matrix8 weighted_hessian(const BendStencil& s, const Vector3& weight) {
  Matrix8 out = Matrix8::Zero();
  add_twist_hessian(s, weight[0], out);
  for (int k = 1; k <= 2; ++k) add_bend_hessian(s, directors(s, k), s.strain[k], weight[k], out);
  out.triangularView<Eigen::StrictlyLower>() = out.transpose();
  return out;
}

}  // namespace tresse::rods::detail
