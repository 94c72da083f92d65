#include <tresse/dynamics/detail/implicit_motion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tresse::dynamics {
namespace {

class FreeMotion {
 public:
  FreeMotion(rods::Rod& rod, rods::StepMatrix& matrix, const FreeStep& step)
      : rod_(rod), matrix_(matrix), step_(step), start_(rods::generalised_velocity(rod, step.start)) {
    force_.resize(rod.dof());
    elastic_.resize(rod.dof());
  }

  const VectorX& start_velocity() const { return start_; }

  void go_to(const VectorX& v) {
    rod_.update(rod_.advanced(step_.start, v, step_.dt, step_.next_root, step_.start.root_velocity));
  }

  /// Factors the matrix at v, where the rod is, and finds the Newton step. False when there is none.
  bool linearise(const VectorX& v) {
    const double dt = step_.dt;
    if (!matrix_.factor(rod_, {dt * dt, dt, dt * step_.drag}, v - start_, gradient_)) return false;
    rod_.elastic_force(elastic_);
    add_other_forces(v, gradient_);
    newton_ = dt * elastic_ - gradient_;
    VectorX& p = newton_;
    matrix_.solve(p);
    size_ = matrix_.squared_norm(p);
    gradient_slope_ = p.dot(gradient_);
    slope_ = gradient_slope_ - dt * p.dot(elastic_);
    energy_ = rod_.elastic_energy();
    return p.allFinite();
  }

  const VectorX& newton_step() const { return newton_; }
  double squared_step() const { return size_; }

  /// Of the velocity or its change, whichever is more.
  double squared_velocity(const VectorX& v) const {
    return std::max(matrix_.squared_norm(v), matrix_.squared_norm(v - start_));
  }

  /// What one rounding of every coordinate, of irregular signs, changes of the velocity.
  double squared_rounding() const {
    const VectorX& q = rod_.state().coordinates;
    VectorX rounding(q.size());
    std::uint32_t bits = 1;
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      bits = 1664525U * bits + 1013904223U;
      rounding[i] = ((bits >> 31) != 0 ? 1.0 : -1.0) * std::numeric_limits<double>::epsilon() * q[i] / step_.dt;
    }
    return matrix_.squared_norm(rounding);
  }

  /// Backtracks from the full step to sufficient decrease, moves v there and leaves the rod there. False when no length
  /// will do.
  bool search(VectorX& v) {
    constexpr double shortest = 1e-6;
    const double dt = step_.dt;
    const double rounding = 1e-13 * (std::abs(energy_) + std::abs(gradient_slope_));
    for (double length = 1.0; length > shortest; length *= 0.5) {
      if (length < 1.0) go_to(v);
      change_ = rod_.curved_displacement(dt * length * newton_) / dt;
      force_.setZero();
      rod_.add_stiffness_times(dt * dt, change_, force_);
      const double others = change_.dot(gradient_) + 0.5 * (matrix_.squared_norm(change_) - change_.dot(force_));
      go_to(v + change_);
      if (others + rod_.elastic_energy() - energy_ <= 1e-4 * length * slope_ + rounding) {
        v += change_;
        return true;
      }
    }
    go_to(v);
    return false;
  }

 private:
  /// All but inertia and elasticity.
  void add_other_forces(const VectorX& v, VectorX& into) {
    rod_.inertial_and_external_force(step_.loads, force_);
    into -= step_.dt * force_;
    rod_.resistance(step_.drag, v, force_);
    into -= step_.dt * force_;
    if (step_.force) into -= step_.dt * *step_.force;
  }

  rods::Rod& rod_;
  rods::StepMatrix& matrix_;
  const FreeStep& step_;
  VectorX start_;
  VectorX gradient_;  ///< of the incremental potential but for its elastic part
  VectorX elastic_, force_, newton_, change_;
  double size_ = 0.0;            ///< of the Newton step, squared
  double gradient_slope_ = 0.0;  ///< along the step, of what gradient_ is of
  double slope_ = 0.0;           ///< of the whole
  double energy_ = 0.0;          ///< elastic, here
};

}  // namespace

FreeMotionResult solve_free_motion(rods::Rod& rod, rods::StepMatrix& matrix, const FreeStep& step, double tolerance,
                                   int max_iterations, VectorX& v) {
  FreeMotion motion(rod, matrix, step);
  v = motion.start_velocity();
  motion.go_to(v);
  FreeMotionResult out;
  for (;;) {
    if (!motion.linearise(v)) {
      v.setConstant(std::nan(""));
      out.status = Status::not_finite;
      return out;
    }
    constexpr double roundings = 1e4;  // squared: 100 of them, as measured
    const double enough = std::max(tolerance * tolerance * motion.squared_velocity(v + motion.newton_step()),
                                   roundings * motion.squared_rounding());
    if (motion.squared_step() <= enough) {
      out.status = Status::converged;
      break;
    }
    if (out.iterations == max_iterations) break;
    ++out.iterations;
    // Close to the end a step is taken whole: what it changes of the potential drowns in rounding.
    constexpr double close = 1e-8;
    if (motion.squared_step() <= close * motion.squared_velocity(v)) {
      v += motion.newton_step();
      motion.go_to(v);
    } else if (!motion.search(v)) {
      out.status = Status::stalled;
      break;
    }
  }
  // What the search gave up may lead anywhere.
  if (out.status != Status::stalled) v += motion.newton_step();
  return out;
}

}  // namespace tresse::dynamics
