#include <tresse/friction/faceted.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include <Eigen/LU>

#include <tresse/base/best.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/friction/residual.hpp>

namespace tresse::friction {
namespace {

using Vector2 = Eigen::Vector2d;
using Matrix2 = Eigen::Matrix2d;

/// A regular polygon of unit radius.
struct Polygon {
  explicit Polygon(int sides)
      : count(sides),
        half_angle(std::numbers::pi / sides),
        inner(std::cos(half_angle)),
        half_side(std::sin(half_angle)) {}

  int count;
  double half_angle;
  double inner;      ///< distance of a side from the middle
  double half_side;  ///< of its length

  Vector2 normal(int side) const { return direction((2 * side + 1) * half_angle); }
  Vector2 corner(int j) const { return direction(2 * j * half_angle); }

  /// The point nearest to p of the polygon of radius `radius`.
  Vector2 nearest(const Vector2& p, double radius) const {
    const double angle = std::atan2(p.y(), p.x());
    const Vector2 n = normal(static_cast<int>(std::floor(angle / (2.0 * half_angle))));
    const Vector2 along(-n.y(), n.x());
    if (p.dot(n) <= radius * inner) return p;
    return radius * inner * n + std::clamp(p.dot(along), -radius * half_side, radius * half_side) * along;
  }

 private:
  static Vector2 direction(double angle) { return {std::cos(angle), std::sin(angle)}; }
};

Vector3 map_of(const Vector3& r, const Vector3& u, double mu, const Polygon& polygon) {
  const Vector2 tangential = r.tail<2>() - polygon.nearest(r.tail<2>() - u.tail<2>(), mu * std::max(r[0], 0.0));
  return {r[0] - std::max(r[0] - u[0], 0.0), tangential.x(), tangential.y()};
}

/// Slip across a face: friction anywhere on a side of the section, slip along the side's normal.
bool slip_across(const Matrix3& W, const Vector3& q, double mu, const Polygon& polygon, int side, Vector3& r) {
  const Vector2 n = polygon.normal(side);
  const Vector3 along(0.0, -n.y(), n.x());
  const Vector3 load(1.0, mu * polygon.inner * n.x(), mu * polygon.inner * n.y());
  // r = a load + b along, with u_N = 0 and no slip along the side
  Matrix2 of;
  of << W.row(0).dot(load), W.row(0).dot(along), along.dot(W * load), along.dot(W * along);
  const double determinant = of.determinant();
  if (!(std::abs(determinant) > 0.0)) return false;
  const Vector2 x = of.inverse() * Vector2(-q[0], -along.dot(q));
  r = x[0] * load + x[1] * along;
  return r.allFinite();
}

/// Slip along an edge, or thereabouts: friction is at the corner.
bool slip_along(const Matrix3& W, const Vector3& q, double mu, const Polygon& polygon, int corner, Vector3& r) {
  const Vector2 d = polygon.corner(corner);
  const Vector3 load(1.0, mu * d.x(), mu * d.y());
  r = -q[0] / W.row(0).dot(load) * load;
  return r.allFinite();
}

/// Of the candidates the one with the least map decides, so that none is lost to the rounding of a boundary.
class Candidates {
 public:
  Candidates(const Matrix3& W, const Vector3& q, double mu, const Polygon& polygon)
      : W_(W), q_(q), mu_(mu), polygon_(polygon), scale_(std::sqrt(W.trace() / 3.0)) {}

  /// True once one fits to rounding.
  bool offer(const Vector3& r) {
    const double error = map_of(r * scale_, (W_ * r + q_) / scale_, mu_, polygon_).norm() / size();
    best_.offer(error, r);
    constexpr double rounding = 1e-15;
    return best_.error() < rounding;
  }
  bool fits() const {
    constexpr double enough = 1e-9;
    return best_.error() < enough;
  }
  const Vector3& best() const { return best_.candidate(); }

 private:
  double size() const { return std::max(q_.norm() / scale_, 1e-300); }
  const Matrix3& W_;
  const Vector3& q_;
  double mu_;
  const Polygon& polygon_;
  double scale_;
  Best<Vector3> best_;
};

bool solve_contact_of(const Matrix3& W, const Vector3& q, double mu, const Polygon& polygon, Vector3& r) {
  if (q[0] >= 0.0) {
    r.setZero();
    return true;
  }
  if (!(W.trace() > 0.0)) return false;
  Candidates candidates(W, q, mu, polygon);
  const auto all = [&] {
    Vector3 at = W.fullPivLu().solve(-q);
    if (at.allFinite() && candidates.offer(at)) return;
    for (int j = 0; j < polygon.count; ++j) {
      if (slip_along(W, q, mu, polygon, j, at) && candidates.offer(at)) return;
      if (slip_across(W, q, mu, polygon, j, at) && candidates.offer(at)) return;
    }
  };
  all();
  if (!candidates.fits()) return false;
  r = candidates.best();
  return true;
}

/// The law's error, relative, after r_i -> r_i s_i, u_i -> u_i / s_i.
double error_of(const FrictionProblem& problem, const VectorX& r, const VectorX& u, const VectorX& scales,
                const Polygon& polygon) {
  const auto add = [&](ErrorSums& to, Eigen::Index i) {
    const Vector3 impulse = scales[i] * r.segment<3>(3 * i);
    const Vector3 slip = u.segment<3>(3 * i) / scales[i];
    to.add(map_of(impulse, slip, problem.mu[i], polygon), problem.q.segment<3>(3 * i) / scales[i], impulse, slip);
  };
  return sum_errors(problem.mu.size(), add).relative();
}

}  // namespace

Vector3 faceted_map(const Vector3& r, const Vector3& u, double mu, int facets) {
  return map_of(r, u, mu, Polygon(facets));
}

bool solve_faceted_contact(const Matrix3& W, const Vector3& q, double mu, int facets, Vector3& r) {
  require(facets >= 3, "faceted cone: needs 3 facets or more");
  return solve_contact_of(W, q, mu, Polygon(facets), r);
}

FrictionSolution solve_faceted(const FrictionProblem& problem, const VectorX& guess, const SolverOptions& options) {
  validate(problem);
  validate(options);
  require(options.facets >= 3, "faceted cone: needs 3 facets or more");
  require(guess.size() == problem.q.size() && guess.allFinite(), "faceted cone: the guess must match q and be finite");
  const auto start = std::chrono::steady_clock::now();
  const Polygon polygon(options.facets);
  const std::vector<Matrix3> diagonal = diagonal_blocks(problem);
  const VectorX scales = contact_scales(diagonal);
  const VectorX raw = VectorX::Ones(problem.mu.size());
  const VectorX& measure = options.measure == SolverOptions::Measure::scaled ? scales : raw;
  FrictionSolution out;
  out.islands = problem.mu.size() > 0 ? 1 : 0;
  out.impulse = guess;
  VectorX& r = out.impulse;
  const auto check = [&] {
    out.velocity = velocity(problem, r);
    const double error = error_of(problem, r, out.velocity, measure, polygon);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    out.history.push_back({out.iterations, error, seconds.count()});
    if (!std::isfinite(error)) out.status = Status::not_finite;
    if (error <= options.tolerance) out.status = Status::converged;
    return out.status != Status::max_iterations;
  };
  while (!check() && out.iterations < options.max_iterations) {
    const int until = std::min(out.iterations + options.check_every, options.max_iterations);
    for (; out.iterations < until; ++out.iterations) {
      poll_interrupt();
      out.unsolvable.clear();
      for (int i = 0; i < problem.W.rows; ++i) {
        Vector3 q = problem.q.segment<3>(3 * i) - diagonal[static_cast<std::size_t>(i)] * r.segment<3>(3 * i);
        for (int k = problem.W.row_begin[static_cast<std::size_t>(i)];
             k < problem.W.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
          q += problem.W.block[static_cast<std::size_t>(k)] *
               r.segment<3>(3 * problem.W.column[static_cast<std::size_t>(k)]);
        Vector3 own = r.segment<3>(3 * i);
        if (!solve_contact_of(diagonal[static_cast<std::size_t>(i)], q, problem.mu[i], polygon, own))
          out.unsolvable.push_back(i);
        r.segment<3>(3 * i) = own;
      }
    }
  }
  out.scaled_error = error_of(problem, r, out.velocity, scales, polygon);
  out.natural_map_error = error_of(problem, r, out.velocity, raw, polygon);
  return out;
}

}  // namespace tresse::friction
