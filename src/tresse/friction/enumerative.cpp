#include <tresse/friction/enumerative.hpp>

#include <cmath>
#include <optional>

#include <Eigen/SVD>

#include <tresse/math/polynomial.hpp>

namespace tresse::friction {
namespace {

using Real = long double;  // one-contact blocks reach a condition of 1e8 and more; the case needs the digits
using RealVector = Eigen::Matrix<Real, 3, 1>;
using RealMatrix = Eigen::Matrix<Real, 3, 3>;
using RealPlane = Eigen::Matrix<Real, 2, 1>;

constexpr Real rank_threshold = 1e-13L;      // of singular values: W's entries are doubles, rounded at 1e-16
constexpr Real range_threshold = 1e-12L;     // of |W r + q| / |q|: -q lies in W's range
constexpr Real boundary_threshold = 1e-15L;  // of comparisons between computed values: rounding of the data

struct Problem {
  RealMatrix W;
  RealVector q;
  Real mu = 0;
  Real size = 0;  // largest |W_ij|
};

bool in_cone(const RealVector& r, Real mu) {
  return r[0] >= 0 && r.tail<2>().norm() <= mu * r[0] + boundary_threshold * r.norm();
}

/// A point of the line r + z n in the cone, that of smallest |z|.
std::optional<RealVector> line_in_cone(const RealVector& r, RealVector n, Real mu) {
  if (in_cone(r, mu)) return r;
  // |r_T + z n_T|^2 = mu^2 (r_N + z n_N)^2 at the boundary.
  const Real m2 = mu * mu;
  const Real a = n.tail<2>().squaredNorm() - m2 * n[0] * n[0];
  const Real b = r.tail<2>().dot(n.tail<2>()) - m2 * r[0] * n[0];
  const Real c = r.tail<2>().squaredNorm() - m2 * r[0] * r[0];
  const math::RealRoots<Real> roots = math::real_roots<Real>({c, 2 * b, a, 0, 0});
  std::optional<RealVector> best;
  Real best_length = 0;
  for (const Real z : roots) {
    const RealVector point = r + z * n;
    const bool inside = point[0] >= 0 && point.tail<2>().norm() <= mu * point[0] + 1e-13L * point.norm();
    if (inside && (!best || std::abs(z) < best_length)) {
      best = point;
      best_length = std::abs(z);
    }
  }
  return best;
}

/// A point of the plane { w . r = c } in the cone, |w| = 1.
std::optional<RealVector> plane_in_cone(const RealVector& w, Real c, Real mu) {
  const RealVector nearest = c * w;
  if (in_cone(nearest, mu)) return nearest;
  // The cone's rays of largest and smallest w . ray.
  const Real tangential = w.tail<2>().norm();
  RealVector ray(1, 0, 0);
  if (tangential > 0) ray.tail<2>() = (c > 0 ? mu : -mu) * w.tail<2>() / tangential;
  const Real reach = w.dot(ray);
  if (!(reach * c > 0) || std::abs(reach) <= rank_threshold) return std::nullopt;
  return RealVector(ray * (c / reach));
}

std::optional<RealVector> stick_impulse(const Problem& p) {
  if (!(p.size > 0)) return p.q.isZero(0) ? std::optional<RealVector>(RealVector::Zero()) : std::nullopt;
  const Eigen::JacobiSVD<RealMatrix> svd(p.W, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const RealVector& sigma = svd.singularValues();
  const RealVector target = -(svd.matrixU().transpose() * p.q);
  RealVector z = RealVector::Zero();
  int rank = 0;
  for (int k = 0; k < 3 && sigma[k] > rank_threshold * sigma[0]; ++k, ++rank) z[k] = target[k] / sigma[k];
  if (target.tail(3 - rank).norm() > range_threshold * p.q.norm()) return std::nullopt;
  const RealVector r = svd.matrixV() * z;
  if (rank == 3) return in_cone(r, p.mu) ? std::optional<RealVector>(r) : std::nullopt;
  if (rank == 2) return line_in_cone(r, svd.matrixV().col(2), p.mu);
  return plane_in_cone(svd.matrixV().col(0), z[0], p.mu);
}

/// h(theta) = c0 + c1 cos + s1 sin + c2 cos 2 + s2 sin 2 and what a direction of sliding needs.
struct Sliding {
  RealPlane constant;  // V(d) = constant - linear d is parallel to u_T
  Eigen::Matrix<Real, 2, 2> linear;
  Real c0 = 0, c1 = 0, s1 = 0, c2 = 0, s2 = 0;

  explicit Sliding(const Problem& p) {
    const Real qn = -p.q[0];
    const RealPlane qt = p.q.tail<2>();
    constant = p.W.block<2, 1>(1, 0) * qn + qt * p.W(0, 0);
    linear = p.mu * (p.W.block<2, 2>(1, 1) * qn + qt * p.W.block<1, 2>(0, 1));
    c0 = -(linear(1, 0) - linear(0, 1)) / 2;
    c1 = constant[1];
    s1 = -constant[0];
    c2 = -(linear(1, 0) + linear(0, 1)) / 2;
    s2 = -(linear(1, 1) - linear(0, 0)) / 2;
  }
  Real scale() const { return constant.norm() + linear.norm(); }
  Real value(Real cos, Real sin) const {
    return c0 + c1 * cos + s1 * sin + c2 * (cos - sin) * (cos + sin) + s2 * 2 * sin * cos;
  }
  Real slope(Real cos, Real sin) const {
    return -c1 * sin + s1 * cos - 4 * c2 * sin * cos + 2 * s2 * (cos - sin) * (cos + sin);
  }
  /// d . V(d), which has the sign of a.
  Real along(const RealPlane& d) const { return d.dot(constant - linear * d); }
};

/// Roots of h by the half angle from the direction where |h| is largest, so that no root is near infinity.
int sliding_angles(const Sliding& s, std::array<Real, 4>& angle) {
  constexpr Real pi = 3.14159265358979323846264338327950288L;
  constexpr Real root = 0.70710678118654752440084436210484904L;
  constexpr Real cosine[8] = {1, root, 0, -root, -1, -root, 0, root};
  const auto sine = [&](int k) { return cosine[(k + 6) % 8]; };
  int far = 0;
  Real largest = 0;
  for (int k = 0; k < 8; ++k) {
    const Real size = std::abs(s.value(cosine[k], sine(k)));
    if (size > largest) {
      largest = size;
      far = k;
    }
  }
  // Turned so that `far` is at infinity of t = tan(phi / 2): theta = phi + shift.
  const Real shift = (far - 4) * pi / 4;
  const Real c = -cosine[far], n = -sine(far), cc = (c - n) * (c + n), nn = 2 * n * c;
  const Real c1 = s.c1 * c + s.s1 * n, s1 = s.s1 * c - s.c1 * n;
  const Real c2 = s.c2 * cc + s.s2 * nn, s2 = s.s2 * cc - s.c2 * nn;
  const auto roots =
      math::real_roots<Real>({s.c0 + c1 + c2, 2 * s1 + 4 * s2, 2 * s.c0 - 6 * c2, 2 * s1 - 4 * s2, s.c0 - c1 + c2});
  int count = 0;
  for (const Real t : roots) {
    Real theta = 2 * std::atan(t) + shift;
    for (int step = 0; step < 3; ++step) {  // polish where h is simple; a touching root stays
      const Real cos = std::cos(theta), sin = std::sin(theta);
      const Real change = s.value(cos, sin) / s.slope(cos, sin);
      if (!(std::abs(change) < 1e-6L)) break;
      theta -= change;
    }
    angle[static_cast<std::size_t>(count++)] = theta;
  }
  return count;
}

void add(ContactSolutions& out, const RealVector& r, const RealVector& u, ContactCase state) {
  if (out.count == 6 || !r.allFinite() || !u.allFinite()) return;
  auto& solution = out.solution[static_cast<std::size_t>(out.count++)];
  solution = {r.cast<double>(), u.cast<double>(), state};
}

bool add_sliding(ContactSolutions& out, const Problem& p, const Sliding& s, Real theta) {
  const RealPlane d(std::cos(theta), std::sin(theta));
  const RealPlane w = p.W.block<1, 2>(0, 1).transpose();
  const Real denominator = p.W(0, 0) - p.mu * w.dot(d);
  const Real rounding = rank_threshold * (std::abs(p.W(0, 0)) + p.mu * w.norm()) + boundary_threshold * p.size;
  // r_N > 0, and a = d . V / denominator >= 0.
  const Real sign = p.q[0] < 0 ? 1 : -1;
  if (sign * denominator <= rounding || sign * s.along(d) < -boundary_threshold * s.scale()) return false;
  RealVector r;
  r[0] = -p.q[0] / denominator;
  r.tail<2>() = -p.mu * r[0] * d;
  RealVector u = p.W * r + p.q;
  u[0] = 0;
  add(out, r, u, ContactCase::slide);
  return true;
}

/// h vanishes for every direction (an isotropic block): any direction with a >= 0 will do.
void add_any_sliding(ContactSolutions& out, const Problem& p, const Sliding& s) {
  constexpr int directions = 64;
  if (add_sliding(out, p, s, std::atan2(p.q[2], p.q[1]))) return;
  for (int k = 0; k < directions; ++k)
    if (add_sliding(out, p, s, 2 * 3.14159265358979323846L * k / directions)) return;
}

void add_frictionless(ContactSolutions& out, const Problem& p) {
  if (p.W(0, 0) <= boundary_threshold * p.size || !(p.W(0, 0) > 0)) return;
  const RealVector r(-p.q[0] / p.W(0, 0), 0, 0);
  RealVector u = p.W * r + p.q;
  u[0] = 0;
  add(out, r, u, ContactCase::slide);
}

}  // namespace

ContactSolutions enumerate_contact(const Matrix3& W, const Vector3& q, double mu) {
  ContactSolutions out;
  if (!W.allFinite() || !q.allFinite() || !std::isfinite(mu)) {
    out.proved = false;
    return out;
  }
  const Problem p{W.cast<Real>(), q.cast<Real>(), mu, static_cast<Real>(W.cwiseAbs().maxCoeff())};
  if (q[0] >= 0.0) add(out, RealVector::Zero(), p.q, ContactCase::open);
  if (q[0] < 0.0 && mu == 0.0) {
    add_frictionless(out, p);
  } else if (mu > 0.0) {
    if (const auto r = stick_impulse(p)) add(out, *r, RealVector::Zero(), ContactCase::stick);
    if (q[0] != 0.0) {
      const Sliding s(p);
      const Real size = std::abs(s.c0) + std::abs(s.c1) + std::abs(s.s1) + std::abs(s.c2) + std::abs(s.s2);
      if (size <= boundary_threshold * s.scale()) {
        add_any_sliding(out, p, s);
      } else {
        std::array<Real, 4> angle{};
        const int count = sliding_angles(s, angle);
        for (int k = 0; k < count; ++k) add_sliding(out, p, s, angle[static_cast<std::size_t>(k)]);
      }
    }
  }
  // A free velocity that penetrates by a rounding and nothing else: take-off to within rounding.
  if (out.count == 0 && q[0] < 0.0 && -p.q[0] <= boundary_threshold * p.q.norm())
    add(out, RealVector::Zero(), RealVector(0, p.q[1], p.q[2]), ContactCase::open);
  return out;
}

}  // namespace tresse::friction
