#include <tresse/friction/local_solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

#include <tresse/friction/coulomb.hpp>

namespace tresse::friction {
namespace {

using Plane = Eigen::Vector2d;

/// [x_0, x_T^T; x_T, x_0 I]: the Jordan product as a matrix.
Matrix3 arrow(const Vector3& x) {
  Matrix3 m = x[0] * Matrix3::Identity();
  m(0, 1) = m(1, 0) = x[1];
  m(0, 2) = m(2, 0) = x[2];
  return m;
}

Vector3 jordan_square(const Vector3& x) { return {x.squaredNorm(), 2.0 * x[0] * x[1], 2.0 * x[0] * x[2]}; }

/// (x^2 + y^2)^(1/2). Its smaller spectral value is the root of a difference; taken as such it would lose half the
/// digits where one of x, y is small. As symmetric 2 x 2 matrices, det(X X^T + Y Y^T) is the sum of the squares of the
/// minors of [X Y], in which nothing cancels that matters.
Vector3 jordan_root_of_squares(const Vector3& x, const Vector3& y) {
  const Vector3 z = jordan_square(x) + jordan_square(y);
  const double length = tangential_norm(z);
  const double high = std::sqrt(std::max(0.0, z[0] + length));
  if (length == 0.0 || high == 0.0) return {high, 0.0, 0.0};
  const Plane column[4] = {{x[0] + x[1], x[2]}, {x[2], x[0] - x[1]}, {y[0] + y[1], y[2]}, {y[2], y[0] - y[1]}};
  double minors = 0.0;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      const double minor = (column[i][0] * column[j][1] - column[i][1] * column[j][0]) / high;
      minors += minor * minor;
    }
  const double low = std::min(high, std::sqrt(minors));
  const double factor = 0.5 * (high - low) / length;
  return {0.5 * (high + low), factor * z[1], factor * z[2]};
}

bool try_enumeration(const PreparedContact& contact, const Vector3& q, Vector3& r) {
  const ContactSolutions all = enumerate_contact(contact.W, q, contact.mu);
  if (all.count == 0) return false;
  const ContactSolution* best = std::min_element(all.begin(), all.end(), [&r](const auto& a, const auto& b) {
    return (a.impulse - r).squaredNorm() < (b.impulse - r).squaredNorm();
  });
  r = best->impulse;
  return true;
}

/// A block with its normal row eliminated, as in PreparedContact.
template <typename Real>
struct Eliminated {
  Real inverse_normal;
  Real row[2], column[2];
  Real schur[4];
};

template <typename Real>
Eliminated<Real> eliminated(const Matrix3& W) {
  const auto w = W.cast<Real>().eval();
  Eliminated<Real> out;
  out.inverse_normal = Real(1) / w(0, 0);
  for (int k = 0; k < 2; ++k) {
    out.row[k] = w(0, k + 1) * out.inverse_normal;
    out.column[k] = w(k + 1, 0) * out.inverse_normal;
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) out.schur[2 * i + j] = w(i + 1, j + 1) - w(i + 1, 0) * out.row[j];
  return out;
}

/// A free velocity with the normal row eliminated.
template <typename Real>
struct Load {
  Real normal;  ///< r_N without friction
  Real b1, b2;
};

template <typename Real>
Load<Real> load(const Eliminated<Real>& c, const Vector3& q) {
  return {-q[0] * c.inverse_normal, q[1] - c.column[0] * q[0], q[2] - c.column[1] * q[0]};
}

/// The root alpha of mu r_N / |r_T| - 1 with (schur + alpha I) r_T = -b and r_N = loaded - row r_T; see solve_secular.
template <typename Real>
bool secular_root(const Eliminated<Real>& c, double mu, const Load<Real>& q, double near, double& alpha, Vector3& r) {
  constexpr Real precision = Real(2) * std::numeric_limits<Real>::epsilon();
  const auto [loaded, b1, b2] = q;
  Real low = 0;
  Real high = std::numeric_limits<Real>::infinity();
  bool sticks_not = false;  // known: alpha = 0 lies outside the cone
  Real a = alpha;
  for (int step = 0; step < 60; ++step) {
    const Real m11 = c.schur[0] + a, m22 = c.schur[3] + a, m12 = c.schur[1], m21 = c.schur[2];
    const Real inverse = Real(1) / (m11 * m22 - m12 * m21);
    const Real r1 = -inverse * (m22 * b1 - m12 * b2);
    const Real r2 = -inverse * (m11 * b2 - m21 * b1);
    const Real rn = loaded - c.row[0] * r1 - c.row[1] * r2;
    const Real square = r1 * r1 + r2 * r2;
    const Real length = std::sqrt(square);
    const Real limit = mu * rn;
    if (length <= limit) {  // inside the cone: alpha is too large, or the contact sticks
      if (a == 0) {
        alpha = 0.0;
        r = {static_cast<double>(rn), static_cast<double>(r1), static_cast<double>(r2)};
        return true;
      }
      high = a;
    } else {
      low = a;
      sticks_not = true;
    }
    // dr_T/dalpha = -(schur + alpha)^-1 r_T.
    const Real d1 = -inverse * (m22 * r1 - m12 * r2);
    const Real d2 = -inverse * (m11 * r2 - m21 * r1);
    const Real dn = -c.row[0] * d1 - c.row[1] * d2;
    // Numerator and denominator times |r_T|: divisions wait for each other no more than they must.
    Real next = a - (limit - length) / (mu * dn - limit * ((r1 * d1 + r2 * d2) / square));
    // Newton may aim below zero from inside the cone: zero decides between stick and slide.
    if (!sticks_not && !(next > 0)) {
      next = 0;
    } else if (!(next > low && next < high)) {
      next = high < std::numeric_limits<Real>::infinity() ? (low + high) / 2 : 2 * low + c.schur[0] + c.schur[3];
    }
    if (std::abs(next - a) < near * a && next > low && next < high) {
      // r to first order at Newton's next alpha, on the cone.
      const Real move = next - a;
      const Real n = rn + move * dn, t1 = r1 + move * d1, t2 = r2 + move * d2;
      const Real exact = mu * n / std::sqrt(t1 * t1 + t2 * t2);
      if (n > 0) {
        alpha = static_cast<double>(next);
        r = {static_cast<double>(n), static_cast<double>(exact * t1), static_cast<double>(exact * t2)};
        return true;
      }
    }
    if (std::abs(limit - length) <= precision * length || next == a || high - low <= precision * low) {
      if (!(rn > 0) || !(length > 0)) return false;
      alpha = static_cast<double>(a);
      const Real exact = limit / length;  // on the cone to the last bit
      r = {static_cast<double>(rn), static_cast<double>(exact * r1), static_cast<double>(exact * r2)};
      return true;
    }
    a = next;
  }
  return false;
}

}  // namespace

PreparedContact prepare_contact(const Matrix3& W, double mu) {
  PreparedContact out;
  out.W = W;
  out.mu = mu;
  const double size = W.cwiseAbs().maxCoeff();
  constexpr double negligible = 1e-12;  // below, rounding decides: enumeration is left to say what is zero
  if (!(W(0, 0) > negligible * size)) return out;
  const Eliminated<double> parts = eliminated<double>(W);
  out.inverse_normal = parts.inverse_normal;
  std::copy_n(parts.row, 2, out.normal_row);
  std::copy_n(parts.column, 2, out.normal_column);
  std::copy_n(parts.schur, 4, out.schur);
  const double symmetric = 0.5 * (out.schur[1] + out.schur[2]);
  const double determinant = out.schur[0] * out.schur[3] - symmetric * symmetric;
  const double trace = out.schur[0] + out.schur[3];
  const double tangential = W(1, 1) + W(2, 2);
  out.fast = mu == 0.0 || (trace > negligible * tangential && determinant > 1e-10 * trace * trace);
  // Elimination loses the digits that cancel.
  out.delicate = determinant < 1e-3 * trace * trace || trace < 1e-3 * tangential;
  return out;
}

bool solve_secular(const PreparedContact& c, const Vector3& q, double& alpha, Vector3& r, double near) {
  if (q[0] >= 0.0) {
    r.setZero();
    return true;
  }
  if (!c.fast) return false;
  if (c.mu == 0.0) {
    r = {-q[0] * c.inverse_normal, 0.0, 0.0};
    return true;
  }
  if (c.delicate) {
    const auto exact = eliminated<long double>(c.W);
    return secular_root(exact, c.mu, load(exact, q), near, alpha, r);
  }
  const Eliminated<double> parts{c.inverse_normal,
                                 {c.normal_row[0], c.normal_row[1]},
                                 {c.normal_column[0], c.normal_column[1]},
                                 {c.schur[0], c.schur[1], c.schur[2], c.schur[3]}};
  return secular_root(parts, c.mu, load(parts, q), near, alpha, r);
}

AlignedContact aligned(const PreparedContact& contact) {
  AlignedContact out;
  out.mu = contact.mu;
  if (!contact.fast || contact.mu == 0.0) return out;
  const auto parts = eliminated<long double>(contact.W);  // elimination loses the digits that cancel
  const long double off = 0.5L * (parts.schur[1] + parts.schur[2]);
  long double first = parts.schur[0], second = parts.schur[3];
  long double cosine = 1.0L, sine = 0.0L;
  if (off != 0.0L) {
    const long double ratio = (second - first) / (2.0L * off);
    const long double tangent = std::copysign(1.0L, ratio) / (std::abs(ratio) + std::hypot(1.0L, ratio));
    first -= tangent * off;
    second += tangent * off;
    cosine = 1.0L / std::hypot(1.0L, tangent);
    sine = -tangent * cosine;
  }
  if (!(first > 0.0L && second > 0.0L)) return out;
  out.inverse_normal = static_cast<double>(parts.inverse_normal);
  out.cosine = static_cast<double>(cosine);
  out.sine = static_cast<double>(sine);
  out.schur[0] = static_cast<double>(first);
  out.schur[1] = static_cast<double>(second);
  out.row[0] = static_cast<double>(cosine * parts.row[0] + sine * parts.row[1]);
  out.row[1] = static_cast<double>(cosine * parts.row[1] - sine * parts.row[0]);
  return out;
}

FischerBurmeister fischer_burmeister(const Vector3& x, const Vector3& y) {
  FischerBurmeister out;
  const Vector3 root = jordan_root_of_squares(x, y);
  out.value = x + y - root;
  const double length = tangential_norm(root);
  if (root[0] - length > 1e-12 * root[0]) {
    const auto lu = arrow(root).partialPivLu();
    out.dx = Matrix3::Identity() - lu.solve(arrow(x));
    out.dy = Matrix3::Identity() - lu.solve(arrow(y));
    return out;
  }
  // z on the cone's boundary: an element of the generalised derivative. @cite pan2009 for the cases
  if (root[0] <= 0.0 || length <= 0.0) {
    const double share = 1.0 - 1.0 / std::sqrt(2.0);
    out.dx = out.dy = share * Matrix3::Identity();
    return out;
  }
  const Plane t(root[1] / length, root[2] / length);
  Matrix3 inverse;  // of the arrow matrix, the vanishing spectral value's part left out
  inverse << 1.0, t[0], t[1], t[0], 4.0 - 3.0 * t[0] * t[0], -3.0 * t[0] * t[1], t[1], -3.0 * t[0] * t[1],
      4.0 - 3.0 * t[1] * t[1];
  inverse /= 4.0 * root[0];
  out.dx = Matrix3::Identity() - inverse * arrow(x);
  out.dy = Matrix3::Identity() - inverse * arrow(y);
  return out;
}

bool solve_fischer_burmeister(const Matrix3& W, const Vector3& q, double mu, Vector3& r, int max_steps) {
  // Impulses in the unit of velocities, so that f adds like to like.
  const double unit = W.trace() / 3.0;
  if (!(unit > 0.0) || !(mu > 0.0)) return false;
  const Matrix3 scaled = W / unit;
  const double size = std::max(q.norm(), std::numeric_limits<double>::min());
  Vector3 p = unit * r;
  const auto arguments = [&](const Vector3& impulse, Vector3& x, Vector3& y) {
    Vector3 u = scaled * impulse + q;
    x = {mu * impulse[0], impulse[1], impulse[2]};
    y = {u[0] + mu * tangential_norm(u), mu * u[1], mu * u[2]};
    return u;
  };
  Vector3 x, y;
  Vector3 u = arguments(p, x, y);
  FischerBurmeister f = fischer_burmeister(x, y);
  const double tolerance = 1e-14 * size * std::max(1.0, mu);
  for (int step = 0; step < max_steps; ++step) {
    if (f.value.norm() <= tolerance) break;
    Matrix3 dy = scaled;
    const double slip = tangential_norm(u);
    if (slip > 0.0) dy.row(0) += mu / slip * (u[1] * scaled.row(1) + u[2] * scaled.row(2));
    dy.bottomRows<2>() *= mu;
    const Matrix3 derivative = f.dx * Eigen::DiagonalMatrix<double, 3>(mu, 1.0, 1.0) + f.dy * dy;
    const Vector3 direction = -derivative.fullPivLu().solve(f.value);
    if (!direction.allFinite()) break;
    bool lower = false;
    for (double length = 1.0; length > 1e-6; length *= 0.5) {
      const Vector3 trial = p + length * direction;
      Vector3 tx, ty;
      const Vector3 trial_u = arguments(trial, tx, ty);
      const FischerBurmeister trial_f = fischer_burmeister(tx, ty);
      if (!(trial_f.value.squaredNorm() < (1.0 - 1e-4 * length) * f.value.squaredNorm())) continue;
      p = trial;
      u = trial_u;
      f = trial_f;
      lower = true;
      break;
    }
    if (!lower) break;
  }
  if (!(f.value.norm() <= 100.0 * tolerance)) return false;
  r = project_on_cone(p, mu) / unit;
  return true;
}

bool solve_contact(const PreparedContact& contact, const Vector3& q, LocalSolver solver, double& alpha, Vector3& r,
                   double near) {
  if (solver == LocalSolver::hybrid && solve_secular(contact, q, alpha, r, near)) return true;
  if (q[0] >= 0.0) {
    r.setZero();
    return true;
  }
  if (solver != LocalSolver::enumerative && solve_fischer_burmeister(contact.W, q, contact.mu, r)) return true;
  return try_enumeration(contact, q, r);
}

}  // namespace tresse::friction
