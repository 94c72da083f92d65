#include <tresse/statics/detail/contact_newton.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <tresse/statics/detail/least_distance.hpp>

namespace tresse::statics::detail {

double ContactNewton::scale() const {
  double squares = 0.0;
  for (const ScaledPotential& potential : model_.potentials()) squares += std::pow(potential.scale(), 2);
  const double contact = (model_.rows() * model_.forces()).norm();
  return std::max({std::sqrt(squares), contact, 1e-300});
}

Balance ContactNewton::balance(double overlap) const {
  const double scale = this->scale();
  Balance out;
  out.force = (model_.gradient() - model_.rows() * model_.forces()).norm() / scale;
  double rounding = 0.0;
  for (const ScaledPotential& potential : model_.potentials()) rounding += std::pow(potential.rounding(), 2);
  out.floor = 100.0 * std::sqrt(rounding) / scale;
  const VectorX gaps = model_.gaps();
  const VectorX forces = model_.forces();
  out.gap = overlap;
  for (Eigen::Index i = 0; i < gaps.size(); ++i) {
    if (forces[i] > 0.0) out.gap = std::max(out.gap, std::abs(gaps[i]));
  }
  out.gap /= model_.longest();
  return out;
}

/// The Hessian made positive definite: first by what does not change a step that keeps the loaded touches closed, their
/// normals' squares, then by taking its eigenvalues for their absolute values.
MatrixX ContactNewton::definite(MatrixX hessian, VectorX& gradient, const MatrixX& rows, const VectorX& gaps) const {
  if (Eigen::LLT<MatrixX>(hessian).info() == Eigen::Success) return hessian;
  const VectorX forces = model_.forces();
  MatrixX normals = MatrixX::Zero(rows.rows(), rows.cols());
  VectorX share = VectorX::Zero(gaps.size());
  for (Eigen::Index i = 0; i < rows.cols(); ++i) {
    const double size = rows.col(i).norm();
    if (forces[i] <= 0.0 || size <= 0.0) continue;
    normals.col(i) = rows.col(i) / size;
    share[i] = gaps[i] / size;
  }
  if (normals.squaredNorm() > 0.0) {
    for (const double weight : {10.0, 1000.0}) {
      MatrixX stiffer = hessian + weight * normals * normals.transpose();
      if (Eigen::LLT<MatrixX>(stiffer).info() != Eigen::Success) continue;
      gradient += weight * normals * share;
      return stiffer;
    }
  }
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(hessian);
  const VectorX sizes = eigen.eigenvalues().cwiseAbs().cwiseMax(1e-8);
  return eigen.eigenvectors() * sizes.asDiagonal() * eigen.eigenvectors().transpose();
}

/// min p.H.p / 2 + g.p with gaps + rows^T p >= 0. Where the linearised touches contradict one another, overlaps may
/// stay.
ContactNewton::Step ContactNewton::quadratic_step(const MatrixX& hessian, const VectorX& gradient, const MatrixX& rows,
                                                  const VectorX& gaps) const {
  VectorX pull = gradient;
  const Eigen::LLT<MatrixX> factor(definite(hessian, pull, rows, gaps));
  const VectorX free = -factor.matrixL().solve(pull);
  if (rows.cols() == 0) return {factor.matrixU().solve(free), VectorX(0), 0.0};
  const MatrixX normals = factor.matrixL().solve(rows);
  const MatrixX G = normals.transpose();
  LeastDistance nearest = least_distance(G, -gaps - G * free);
  if (!nearest.feasible) nearest = least_distance(G, -gaps.cwiseMax(0.0) - G * free);
  Step out;
  if (!nearest.feasible) {  // no step at all keeps every touch as it is: rounding
    out.direction = VectorX::Zero(gradient.size());
    out.force = model_.forces();
    return out;
  }
  out.direction = factor.matrixU().solve(free + nearest.point);
  out.force = nearest.multiplier;
  return out;
}

void ContactNewton::set_forces(const VectorX& force) {
  auto& touches = model_.touches();
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    touches[i].force = k < force.size() ? force[k] : 0.0;
  }
}

/// Whether a step carried axes that are near one another through one another: its energy would be lower beyond.
bool ContactNewton::passed_through(const Origin& origin) const {
  constexpr double share = 0.25;  // of the distance they keep
  for (std::size_t i = 0; i < origin.touches.size(); ++i) {
    const Touch& touch = origin.touches[i];
    const TouchPlace& before = origin.places[i];
    if (touch.plane || before.gap > touch.radii) continue;
    const TouchPlace after = place(model_.kinematics(), touch);
    const double least = share * std::min(touch.radii, touch.radii + before.gap);
    if (before.normal.dot(after.normal) * (after.gap + touch.radii) < least) return true;
  }
  return false;
}

/// Moves by length * step and says whether that is better: lower merit, or where it drowns in rounding, a better
/// balance.
bool ContactNewton::accept(const Origin& origin, const Step& step, double length) {
  model_.set_states(origin.states);
  const double merit = model_.value() + weight_ * origin.overlap;
  const double rounding = model_.rounding_of_value() + weight_ * 1e-15 * model_.longest();
  model_.touches() = origin.touches;
  set_forces(step.force);
  model_.move(length * step.direction);
  const double value = model_.value();
  if (!std::isfinite(value) || passed_through(origin)) return false;
  const double now = model_.find(no_reach());
  if (model_.sides_lost() && now > origin.overlap) return false;
  const double change = length * step.slope;
  if (value + weight_ * now <= merit + 1e-4 * change && std::abs(change) > rounding) return true;
  return std::abs(change) < 100.0 * rounding && balance(now).residual() < origin.residual;
}

bool ContactNewton::line_search(const MatrixX& hessian, double overlap, const VectorX& reach) {
  Origin origin{model_.states(), model_.touches(), {}, overlap, balance(overlap).residual()};
  for (const Touch& touch : origin.touches) origin.places.push_back(place(model_.kinematics(), touch));
  const VectorX gradient = model_.gradient();
  Step step = quadratic_step(hessian, gradient, model_.rows(), model_.gaps());
  weight_ = std::max(weight_, 2.0 * step.force.sum());
  step.slope = gradient.dot(step.direction) - weight_ * overlap;
  const VectorX moves = model_.displacements(step.direction);
  double longest = 1.0;
  for (Eigen::Index f = 0; f < reach.size(); ++f) {
    if (longest * moves[f] > reach[f]) longest = reach[f] / moves[f];
  }
  if (accept(origin, step, longest)) return true;
  if (longest == 1.0) {  // once more for the bend of what was linearised
    const VectorX there = model_.gaps();
    Origin again = origin;
    again.touches = model_.touches();
    model_.set_states(origin.states);
    again.places.clear();
    for (const Touch& touch : again.touches) again.places.push_back(place(model_.kinematics(), touch));
    const MatrixX rows = model_.rows();
    Step second = quadratic_step(hessian, gradient, rows, there - rows.transpose() * step.direction);
    second.slope = gradient.dot(second.direction) - weight_ * overlap;
    const VectorX further = model_.displacements(second.direction);
    if ((further.array() <= 1.5 * reach.array()).all() && accept(again, second, 1.0)) return true;
  }
  for (double length = 0.5 * longest; length > 1e-10 * longest; length *= 0.5) {
    if (accept(origin, step, length)) return true;
  }
  model_.set_states(origin.states);
  model_.touches() = origin.touches;
  return false;
}

/// How far the fibres go where nothing holds them, at most a tenth of their length.
VectorX ContactNewton::free_reach(const MatrixX& hessian, const VectorX& gradient) const {
  VectorX pull = gradient;
  const MatrixX rows = model_.rows();
  const VectorX step = -Eigen::LLT<MatrixX>(definite(hessian, pull, rows, model_.gaps())).solve(pull);
  const VectorX moves = model_.displacements(step);
  VectorX out(moves.size());
  for (Eigen::Index f = 0; f < moves.size(); ++f) {
    const double length = model_.kinematics().rod(static_cast<int>(f)).length();
    out[f] = std::min(1.2 * moves[f] + margin_, 0.1 * length);
  }
  return out;
}

/// Forgets touches that nothing leant on for a while.
void ContactNewton::tidy() {
  constexpr int patience = 4;
  for (Touch& touch : model_.touches()) touch.idle = touch.force > 0.0 ? 0 : touch.idle + 1;
  std::erase_if(model_.touches(), [](const Touch& touch) { return touch.idle > patience; });
}

ContactNewtonResult ContactNewton::minimise() {
  ContactNewtonResult out;
  weight_ = 0.0;
  for (;; ++out.iterations) {
    const VectorX gradient = model_.gradient();
    if (!gradient.allFinite()) return {Status::not_finite, out.iterations, out.overlap};
    const ContactCurvature contact = model_.contact_curvature(false);
    const MatrixX hessian = model_.hessian() - contact.fixed + contact.sliding;
    const VectorX reach = free_reach(hessian, gradient);
    out.overlap = model_.find(reach);
    const Balance now = balance(out.overlap);
    if (now.force <= std::max(options_.tolerance, now.floor) && now.gap <= options_.tolerance) {
      out.status = Status::converged;
      return out;
    }
    if (out.iterations == options_.max_iterations) return out;
    if (!line_search(hessian, out.overlap, reach)) {
      out.status = Status::stalled;
      return out;
    }
    tidy();
  }
}

}  // namespace tresse::statics::detail
