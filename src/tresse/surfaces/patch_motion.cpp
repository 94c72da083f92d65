#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/surfaces/developable_patch.hpp>

// A step of a developable patch: docs/theory/surfaces.md, "The step of a patch".
namespace tresse::surfaces {
namespace {

/// A patch with less curvature than this over its diagonal counts as flat. [-]
constexpr double flat = 1e-9;
constexpr double tolerance = 1e-10;  // on SurfaceStepResult::residual
constexpr double rounding = 1e-14;   // Newton's steps below this share are noise

/// Momenta of a patch: of k and t, and of all of it about a point of the world.
struct Momenta {
  Eigen::Vector2d shape;
  Vector3 linear, angular;
};

PatchVector body_velocity(const PatchState& at) {
  PatchVector out;
  const Matrix3 turn = at.frame.frame.transpose();
  out << at.curvature_rate, at.angle_rate, turn * at.velocity.linear, turn * at.velocity.angular;
  return out;
}

/// Where a patch gets to in `dt` at constant velocities (k', t', and a twist in its own axes).
PatchState moved(const PatchState& from, const PatchVector& v, double dt) {
  PatchState out = from;
  out.curvature += dt * v[0];
  out.angle += dt * v[1];
  const Vector3 linear = dt * v.segment<3>(2), angular = dt * v.tail<3>();
  if (linear.isZero(0.0) && angular.isZero(0.0)) return out;
  out.frame.position += from.frame.frame * (math::rotation_exp_integral(angular) * linear);
  out.frame.frame = math::orthonormalised_once(from.frame.frame * math::rotation_exp(angular));
  return out;
}

/// One implicit step of the unknowns `active` of the eight; the others stay zero.
class PatchSolve {
 public:
  PatchSolve(const DevelopablePatch& patch, const PatchState& start, const SurfaceStep& step, std::vector<int> active)
      : patch_(patch), start_(start), step_(step), active_(std::move(active)) {
    PatchVector v = PatchVector::Zero();
    const PatchVector all = body_velocity(start);
    for (const int i : active_) v[i] = all[i];
    const PatchIntegrals of = patch_.integrals(start.curvature, start.angle, v);
    before_ = momenta(start, of, v);
    stage_ = v;
  }

  SurfaceStepResult run() {
    SurfaceStepResult out;
    constexpr int most = 40;
    double last = std::numeric_limits<double>::infinity();
    PatchVector best = stage_;
    for (out.iterations = 0; out.iterations < most; ++out.iterations) {
      const VectorX r = residual(stage_);
      const double size = r.allFinite() ? relative(r) : std::numeric_limits<double>::infinity();
      if (size < last) best = stage_;
      // Once it is small enough it is improved as long as that halves it.
      if (size <= rounding || (last <= tolerance && size > 0.5 * last)) break;
      if (!std::isfinite(size)) break;
      last = std::min(last, size);
      const VectorX change = slope(stage_).partialPivLu().solve(r);
      for (std::size_t i = 0; i < active_.size(); ++i) stage_[active_[i]] -= change[static_cast<Eigen::Index>(i)];
    }
    stage_ = best;
    const VectorX r = residual(stage_);
    out.residual = r.allFinite() ? relative(r) : std::numeric_limits<double>::infinity();
    out.status = out.residual <= tolerance     ? Status::converged
                 : std::isfinite(out.residual) ? Status::max_iterations
                                               : Status::not_finite;
    out.end = patch_.state_of(end());
    return out;
  }

 private:
  Momenta momenta(const PatchState& at, const PatchIntegrals& of, const PatchVector& v) const {
    const PatchVector p = of.mass * v;
    const Vector3 linear = at.frame.frame * p.segment<3>(2);
    const Vector3 arm = at.frame.position - start_.frame.position;
    return {p.head<2>(), linear, at.frame.frame * p.tail<3>() + arm.cross(linear)};
  }

  /// What changes the momenta, at a stage.
  Momenta forces(const PatchState& at, const PatchIntegrals& of, const PatchVector& v) const {
    const PatchMaterial& m = patch_.material();
    const double area = m.length * m.width, mass = m.area_density * area;
    const Vector3 gravity = at.frame.frame.transpose() * step_.gravity;
    const double k = at.curvature, damping = m.damping_time * m.rigidity * area;
    Momenta out;
    out.shape = of.kinetic_slope - patch_.elastic_slope(k, at.angle) + of.first_moment_slope.transpose() * gravity;
    out.shape[0] -= damping * v[0];
    out.shape[1] -= 2.0 * (1.0 - m.poisson_ratio) * damping * k * k * v[1];
    out.linear = mass * step_.gravity;
    const Vector3 arm = mass * (at.frame.position - start_.frame.position) + at.frame.frame * of.first_moment;
    out.angular = arm.cross(step_.gravity);
    return out;
  }

  /// Momenta at the stage less what they should be, in the axes of the frame there: those of the active unknowns.
  VectorX residual(const PatchVector& v) {
    const double h = step_.theta * step_.dt;
    const PatchState at = moved(start_, v, h);
    const PatchIntegrals of = patch_.integrals(at.curvature, at.angle, v);
    const Momenta there = momenta(at, of, v);
    stage_forces_ = forces(at, of, v);
    const PatchVector all = in_frame(at, {there.shape - before_.shape - h * stage_forces_.shape,
                                          there.linear - before_.linear - h * stage_forces_.linear,
                                          there.angular - before_.angular - h * stage_forces_.angular});
    mass_ = of.mass;
    const PatchVector force = in_frame(at, stage_forces_);
    VectorX pushes(static_cast<Eigen::Index>(active_.size()));
    for (std::size_t i = 0; i < active_.size(); ++i) pushes[static_cast<Eigen::Index>(i)] = h * force[active_[i]];
    scale_ = std::sqrt(v.dot(of.mass * v)) + std::sqrt(std::max(0.0, pushes.dot(whitened(pushes))));
    return picked(all);
  }

  PatchVector in_frame(const PatchState& at, const Momenta& p) const {
    PatchVector out;
    const Vector3 arm = at.frame.position - start_.frame.position;
    const Matrix3 turn = at.frame.frame.transpose();
    out << p.shape, turn * p.linear, turn * (p.angular - arm.cross(p.linear));
    return out;
  }

  VectorX picked(const PatchVector& all) const {
    VectorX out(static_cast<Eigen::Index>(active_.size()));
    for (std::size_t i = 0; i < active_.size(); ++i) out[static_cast<Eigen::Index>(i)] = all[active_[i]];
    return out;
  }
  VectorX whitened(const VectorX& r) const { return MatrixX(mass_(active_, active_)).ldlt().solve(r); }
  /// In the norm of the inverse mass, over momentum and impulse.
  double relative(const VectorX& r) const {
    const double size = std::sqrt(std::max(0.0, r.dot(whitened(r))));
    return size == 0.0 ? 0.0 : size / scale_;
  }

  /// By central differences, good to about 1e-10: Newton's method needs no more.
  MatrixX slope(const PatchVector& v) {
    const double d = patch_.diagonal(), h = step_.theta * step_.dt;
    constexpr double little = 1e-5;
    const auto n = static_cast<Eigen::Index>(active_.size());
    MatrixX out(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const int i = active_[static_cast<std::size_t>(j)];
      const double unit = i == 0 ? 1.0 / d : i >= 2 && i < 5 ? d : 1.0;
      const double step = little * unit / h;
      PatchVector up = v, down = v;
      up[i] += step;
      down[i] -= step;
      const VectorX above = residual(up);
      out.col(j) = (above - residual(down)) / (2.0 * step);
    }
    return out;
  }

  /// The state that the stage leads to.
  PatchState end() {
    static_cast<void>(residual(stage_));
    const double dt = step_.dt;
    PatchState out = moved(start_, stage_, dt);
    const PatchIntegrals of = patch_.integrals(out.curvature, out.angle, stage_);
    const VectorX p =
        picked(in_frame(out, {before_.shape + dt * stage_forces_.shape, before_.linear + dt * stage_forces_.linear,
                              before_.angular + dt * stage_forces_.angular}));
    const VectorX found = MatrixX(of.mass(active_, active_)).ldlt().solve(p);
    PatchVector v = PatchVector::Zero();
    for (std::size_t i = 0; i < active_.size(); ++i) v[active_[i]] = found[static_cast<Eigen::Index>(i)];
    out.curvature_rate = v[0];
    out.angle_rate = v[1];
    out.velocity = {out.frame.frame * v.segment<3>(2), out.frame.frame * v.tail<3>()};
    return out;
  }

  const DevelopablePatch& patch_;
  PatchState start_;
  const SurfaceStep& step_;
  std::vector<int> active_;
  Momenta before_;
  Momenta stage_forces_;
  PatchVector stage_;  ///< velocities of the stage, in its frame
  PatchMatrix mass_;
  double scale_ = 1.0;
};

std::vector<int> unknowns(const DevelopablePatch& patch, bool with_angle) {
  std::vector<int> out{0};
  if (with_angle) out.push_back(1);
  if (!patch.material().clamped) out.insert(out.end(), {2, 3, 4, 5, 6, 7});
  return out;
}

/// Momenta that a flat patch would have if its points moved at their own velocities, seen along the direction t: of
/// J(t)^T w, and of the step's forces.
struct OutOfFlat {
  VectorX momentum, push;
  MatrixX mass;
};

OutOfFlat out_of_flat(const DevelopablePatch& patch, const PatchState& from, const SurfaceStep& step, double t) {
  const PatchMaterial& m = patch.material();
  const std::vector<int> active = unknowns(patch, false);
  const PatchVector before = body_velocity(from);
  const Vector3 gravity = from.frame.frame.transpose() * step.gravity;
  const math::GaussRule& rule = math::gauss_legendre(8);  // polynomials of degree 8
  PatchVector momentum = PatchVector::Zero(), push = PatchVector::Zero();
  PatchMatrix mass = PatchMatrix::Zero();
  Eigen::Matrix<double, 3, 8> moves, old;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    for (std::size_t j = 0; j < rule.nodes.size(); ++j) {
      const double a = m.length * rule.nodes[i], b = m.width * rule.nodes[j];
      const double weight = m.area_density * m.length * m.width * rule.weights[i] * rule.weights[j];
      const PatchPoint p = patch_point(a, b, 0.0, t), q = patch_point(a, b, 0.0, from.angle);
      moves << p.x_k, p.x_t, Matrix3::Identity(), -math::cross_matrix(p.x);
      old << q.x_k, q.x_t, Matrix3::Identity(), -math::cross_matrix(q.x);
      momentum += weight * moves.transpose() * (old * before);
      push += weight * moves.transpose() * gravity;
      mass += weight * moves.transpose() * moves;
    }
  }
  push[0] -= patch.elastic_slope(0.0, t)[0];
  OutOfFlat out;
  out.momentum = momentum(active);
  out.push = step.dt * push(active);
  out.mass = mass(active, active);
  return out;
}

/// A flat patch, bent along the best direction, with the velocities nearest to those of its points.
PatchState turned(const DevelopablePatch& patch, const PatchState& from, const SurfaceStep& step) {
  PatchState out = from;
  out.curvature = 0.0;
  out.angle = patch.angle_out_of_flat(from, step);
  const OutOfFlat at = out_of_flat(patch, from, step, out.angle);
  const VectorX v = at.mass.ldlt().solve(at.momentum);
  out.curvature_rate = v[0];
  out.angle_rate = 0.0;
  if (v.size() > 1) out.velocity = {from.frame.frame * v.segment<3>(1), from.frame.frame * v.segment<3>(4)};
  return out;
}

bool crosses(const PatchState& from, const SurfaceState& to) { return from.curvature * to.position[0] < 0.0; }

/// Of a step at a fixed angle: when it is flat, and its state then.
double time_of_flat(const DevelopablePatch& patch, const PatchState& from, SurfaceStep step, SurfaceState& there) {
  double low = 0.0, high = step.dt;
  double at_low = from.curvature, at_high = 0.0;
  constexpr int most = 100;
  for (int i = 0; i < most; ++i) {
    step.dt = i == 0 ? high
                     : std::clamp(low + (high - low) * at_low / (at_low - at_high), low + 1e-3 * (high - low),
                                  high - 1e-3 * (high - low));
    there = PatchSolve(patch, from, step, unknowns(patch, false)).run().end;
    const double k = there.position[0];
    if (std::abs(k) * patch.diagonal() <= 1e-3 * flat || high - low <= rounding * high) break;
    (k * from.curvature > 0.0 ? low : high) = step.dt;
    (k * from.curvature > 0.0 ? at_low : at_high) = k;
  }
  return step.dt;
}

}  // namespace

double DevelopablePatch::angle_out_of_flat(const PatchState& from, const SurfaceStep& step) const {
  const auto value = [&](double t) {
    const OutOfFlat at = out_of_flat(*this, from, step, t);
    const VectorX p = at.momentum + at.push;
    return p.dot(at.mass.ldlt().solve(p));
  };
  constexpr int directions = 90;
  constexpr double clearly = 1e-10;
  const double apart = std::numbers::pi / directions;
  double best = from.angle, most = value(best);
  for (int i = 1; i < directions; ++i) {
    const double t = from.angle + (i <= directions / 2 ? i : i - directions) * apart;
    if (const double here = value(t); here > (1.0 + clearly) * most) {
      best = t;
      most = here;
    }
  }
  // Golden section; what is flat to rounding leaves the direction as it is.
  double low = best - apart, high = best + apart;
  const double share = 0.5 * (std::sqrt(5.0) - 1.0);
  for (int i = 0; i < 60; ++i) {
    const double left = high - share * (high - low), right = low + share * (high - low);
    if (value(left) >= value(right))
      high = right;
    else
      low = left;
  }
  const double found = 0.5 * (low + high);
  return value(found) > (1.0 + rounding) * most ? found : best;
}

/// Near the flat state a part of the step is cut in halves, so that a patch which swings round it is followed there.
/// One that still goes through keeps its angle until it is flat.
SurfaceStepResult DevelopablePatch::advance(const SurfaceState& start, const SurfaceStep& step) const {
  constexpr int halvings = 10, most = 10'000;
  constexpr double most_turn = 0.02;  // in a part [rad]
  PatchState at = patch_state(start);
  SurfaceStep part = step;
  SurfaceStepResult out{.end = start, .status = Status::converged};
  double left = step.dt;
  for (int i = 0; i < most && left > rounding * step.dt && out.status == Status::converged; ++i) {
    part.dt = std::min(part.dt, left);
    const bool is_flat = std::abs(at.curvature) * diagonal() <= flat;
    if (is_flat) at = turned(*this, at, part);
    SurfaceStepResult next = PatchSolve(*this, at, part, unknowns(*this, !is_flat)).run();
    out.iterations += next.iterations;
    const bool lost = !is_flat && (next.status != Status::converged || crosses(at, next.end));
    const bool far = !is_flat && !(std::abs(next.end.position[1] - at.angle) <= most_turn);
    if ((lost || far) && part.dt > std::ldexp(step.dt, -halvings)) {
      part.dt *= 0.5;
      continue;
    }
    double taken = part.dt;
    if (lost) {
      next = PatchSolve(*this, at, part, unknowns(*this, false)).run();
      if (next.status == Status::converged && crosses(at, next.end)) {
        taken = time_of_flat(*this, at, part, next.end);
        next.end.position[0] = 0.0;
      }
    }
    out.residual = std::max(out.residual, next.residual);
    out.status = next.status;
    out.end = std::move(next.end);
    at = patch_state(out.end);
    left -= taken;
    part.dt *= 2.0;
  }
  return out;
}

PatchRest DevelopablePatch::rest(const PatchState& from, const Vector3& gravity) const {
  PatchRest out{.state = from};
  PatchState& at = out.state;
  at.curvature_rate = at.angle_rate = 0.0;
  at.velocity = {};
  const double d = diagonal(), area = material_.length * material_.width;
  const double scale = material_.rigidity * area / (d * d) + material_.area_density * area * gravity.norm() * d;
  const Vector3 down = at.frame.frame.transpose() * gravity;
  using Pair = Eigen::Vector2d;
  const auto potential = [&](const Pair& y) {  // y: (k d, t)
    return elastic_energy(y[0] / d, y[1]) - down.dot(integrals(y[0] / d, y[1], PatchVector::Zero()).first_moment);
  };
  const auto gradient = [&](const Pair& y) -> Pair {
    Pair g = elastic_slope(y[0] / d, y[1]) -
             integrals(y[0] / d, y[1], PatchVector::Zero()).first_moment_slope.transpose() * down;
    g[0] /= d;
    return g;
  };
  const auto curvature = [&](const Pair& y) {
    constexpr double little = 1e-5;
    Eigen::Matrix2d slopes;
    for (int i = 0; i < 2; ++i)
      slopes.col(i) = (gradient(y + little * Pair::Unit(i)) - gradient(y - little * Pair::Unit(i))) / (2.0 * little);
    return Eigen::Matrix2d(0.5 * (slopes + slopes.transpose()));
  };
  if (std::abs(at.curvature) * d <= flat) {
    at.angle = angle_out_of_flat(at, {.dt = 1.0, .gravity = gravity});
    const double slope = gradient({0.0, at.angle})[0];
    constexpr double first = 1e-3;
    at.curvature = slope == 0.0 ? 0.0 : -std::copysign(first, slope) / d;
  }
  Pair y(at.curvature * d, at.angle);
  constexpr int most = 200;
  double size = gradient(y).norm() / scale;
  for (; out.iterations < most && size > rounding; ++out.iterations) {
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen(curvature(y));
    const Pair g = gradient(y), bent = eigen.eigenvalues().cwiseAbs().cwiseMax(1e-9 * scale);
    Pair change = -eigen.eigenvectors() * (eigen.eigenvectors().transpose() * g).cwiseQuotient(bent);
    constexpr double longest = 0.5;  // [rad]
    if (change.norm() > longest) change *= longest / change.norm();
    const double here = potential(y);
    double share = 1.0;
    while (share > 1e-6 && !(potential(y + share * change) < here)) share *= 0.5;
    // Where potentials no longer tell them apart, forces do.
    if (share <= 1e-6) share = gradient(y + change).norm() < g.norm() ? 1.0 : 0.0;
    if (share == 0.0) break;
    y += share * change;
    size = gradient(y).norm() / scale;
  }
  out.residual = size;
  out.status = size <= tolerance ? Status::converged : Status::stalled;
  at.curvature = y[0] / d;
  at.angle = y[1];
  out.smallest_eigenvalue = Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(curvature(y)).eigenvalues()[0];
  return out;
}

}  // namespace tresse::surfaces
