#include <tresse/rods/detail/curve_fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Cholesky>

#include <tresse/geometry/curves.hpp>
#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::rods::detail {
namespace {

constexpr int pose_unknowns = 6;  ///< three of the position, two of the tangent, the length
constexpr double first_damping = 1e-4;
constexpr double least_damping = 1e-15;
constexpr double rounding = 1e-16;  ///< of lengths near one
constexpr double least_mu = 1e-30;
constexpr double most_mu = 1e6;
constexpr double straight = 1e-10;  ///< square of a turn that nothing tells from none [rad^2]

/// What a change of an element's triplets turns, and moves at the origin: sums over u of R(u) w(u) and
/// r(u) x R(u) w(u), w the share of the element's curvature at u that each triplet has.
struct ElementTwist {
  Matrix3X angular, linear;  ///< (3, 3) or (3, 6)
};

/// Adds the stretch from `walk` to x, in one element; walks there.
void integrate(CurveWalk& walk, double x, bool affine, ElementTwist& out) {
  const math::GaussRule& rule = math::gauss_legendre(5);
  constexpr double most_turn = 2.0;  // five nodes keep eight digits: the steps need no more
  const double from = walk.x(), turn = walk.turn().norm() * (x - from);
  const int stretches = 1 + static_cast<int>(std::min(turn / most_turn, 1e4));
  const double stretch = (x - from) / stretches;
  for (int k = 0; k < stretches; ++k) {
    for (std::size_t g = 0; g < rule.nodes.size(); ++g) {
      walk.advance(from + (k + rule.nodes[g]) * stretch);
      const Matrix3 angular = stretch * rule.weights[g] * walk.pose().frame;
      const Matrix3 linear = math::cross_matrix(walk.pose().position) * angular;
      const double part = affine ? walk.part() : 0.0;
      out.angular.leftCols<3>() += (1.0 - part) * angular;
      out.linear.leftCols<3>() += (1.0 - part) * linear;
      if (!affine) continue;
      out.angular.rightCols<3>() += part * angular;
      out.linear.rightCols<3>() += part * linear;
    }
  }
  walk.advance(x);
}

}  // namespace

Vector3 CurveWalk::slope() const {
  if (!model_->affine) return Vector3::Zero();
  const Vector3 change = shape_->turn.segment<3>(3 * element_ + 3) - shape_->turn.segment<3>(3 * element_);
  return change / model_->parts[static_cast<std::size_t>(element_)];
}

Vector3 CurveWalk::turn() const { return shape_->turn.segment<3>(3 * element_) + (x_ - begin_) * slope(); }

double CurveWalk::part() const { return (x_ - begin_) / model_->parts[static_cast<std::size_t>(element_)]; }

double CurveWalk::element_end() const {
  return element_ + 1 < model_->elements() ? begin_ + model_->parts[static_cast<std::size_t>(element_)]
                                           : std::numeric_limits<double>::infinity();
}

void CurveWalk::advance_within(double x) {
  if (x > x_ && !model_->affine) {
    const double step = x - x_;
    const Vector3 turned = step * turn();
    pose_.position += shape_->length * step * (pose_.frame * math::rotation_exp_integral(turned).col(0));
    pose_.frame = pose_.frame * math::rotation_exp(turned);
  } else if (x > x_) {
    const double length = shape_->length;
    pose_ = geometry::end_pose(
        {pose_.position, pose_.frame, turn() / length, slope() / (length * length), length * (x - x_)});
  }
  x_ = std::max(x, x_);
}

void CurveWalk::advance(double x) {
  while (x >= element_end()) {
    const double end = element_end();
    advance_within(end);
    pose_.frame = math::orthonormalised_once(pose_.frame);
    begin_ = x_ = end;
    ++element_;
  }
  advance_within(x);
}

CurveModel CurveModel::first(int elements) const { return {affine, {parts.begin(), parts.begin() + elements}}; }

Distances distances(const CurveState& state) {
  Distances out;
  for (Eigen::Index j = 0; j < state.error.cols(); ++j) {
    const double distance = state.error.col(j).norm();
    out.largest = std::max(out.largest, distance);
    out.mean += distance / static_cast<double>(state.error.cols());
  }
  return out;
}

CurveFit::CurveFit(std::span<const Vector3> points, CurveModel model, std::vector<double> at, const CurveBounds& bounds)
    : points_(points), model_(std::move(model)), bounds_(bounds) {
  state_.at = std::move(at);
  const auto turns = static_cast<Eigen::Index>(model_.turns());
  prior_ = VectorX::Zero(turns);
  prior_beside_ = VectorX::Zero(std::max<Eigen::Index>(turns - 1, 0));
  for (int i = 0; i < model_.elements(); ++i) {
    const double part = model_.parts[static_cast<std::size_t>(i)];
    if (model_.affine) {
      prior_[i] += 0.5 * part;
      prior_[i + 1] += 0.5 * part;
    } else {
      prior_[i] += part;
    }
  }
  for (Eigen::Index i = 0; i + 1 < turns; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double apart = model_.affine ? model_.parts[k] : 0.5 * (model_.parts[k] + model_.parts[k + 1]);
    prior_[i] += 1.0 / apart;
    prior_[i + 1] += 1.0 / apart;
    prior_beside_[i] = -1.0 / apart;
  }
  double pivot = 1.0;
  for (Eigen::Index i = 0; i < turns; ++i) {
    pivot = prior_[i] - (i > 0 ? prior_beside_[i - 1] * prior_beside_[i - 1] / pivot : 0.0);
    prior_log_ += 3.0 * std::log(pivot);
  }
}

void CurveFit::start(CurveShape shape) {
  state_.shape = std::move(shape);
  damping_ = first_damping;
  evaluate(state_);
}

void CurveFit::find_feet() {
  feet_ = true;
  damping_ = first_damping;
  evaluate(state_);
}

double CurveFit::roughness(const VectorX& turn) const {
  double out = 0.0;
  for (Eigen::Index i = 0; i < prior_.size(); ++i) {
    const auto q = turn.segment<3>(3 * i);
    out += prior_[i] * q.squaredNorm();
    if (i > 0) out += 2.0 * prior_beside_[i - 1] * q.dot(turn.segment<3>(3 * (i - 1)));
  }
  return out;
}

/// Feet by Newton on the tangential part, from where they were; they keep their order.
void CurveFit::evaluate(CurveState& state) const {
  const auto count = static_cast<Eigen::Index>(points_.size());
  state.error.resize(3, count);
  state.tangent.resize(3, count);
  const double whole = std::accumulate(model_.parts.begin(), model_.parts.end(), 0.0);
  const double reach = 0.5 * whole / static_cast<double>(std::max<Eigen::Index>(count - 1, 1));
  CurveWalk before(model_, state.shape);
  for (Eigen::Index j = 0; j < count; ++j) {
    const auto k = static_cast<std::size_t>(j);
    const bool stays = !feet_ || j == 0 || j + 1 == count;
    for (int turn = 0;; ++turn) {
      CurveWalk walk = before;
      walk.advance(state.at[k]);
      const Vector3 error = points_[k] - walk.pose().position, tangent = walk.pose().frame.col(0);
      state.error.col(j) = error;
      state.tangent.col(j) = tangent;
      const Vector3 bend = walk.pose().frame * Vector3(0.0, walk.turn().z(), -walk.turn().y());
      const double slope = std::max(1.0 - error.dot(bend) / state.shape.length, 0.2);
      const double change = std::clamp(tangent.dot(error) / (slope * state.shape.length), -reach, reach);
      const double next = std::clamp(state.at[k] + change, before.x(), whole);
      if (stays || turn == 4 || std::abs(next - state.at[k]) < rounding) {
        before = walk;
        break;
      }
      state.at[k] = next;
    }
  }
  state.misfit = state.error.squaredNorm();
  state.roughness = roughness(state.shape.turn);
  if (!std::isfinite(state.misfit)) state.misfit = std::numeric_limits<double>::infinity();
}

int CurveFit::first_unknown(Freedom freedom) const {
  return freedom == Freedom::last_turn ? pose_unknowns + 3 * (model_.turns() - 1) : 0;
}

/// J^T J and J^T e, of what moves across the curve once points have feet: order (position, two turns of the root about
/// n1 and n2, log length, q). The derivative by log length at constant q is that of a curve that is scaled about r(0).
void CurveFit::gather(Freedom freedom, MatrixX& normal, VectorX& gradient) const {
  const CurveShape& shape = state_.shape;
  const Eigen::Index unknowns = pose_unknowns + shape.turn.size(), width = model_.affine ? 6 : 3;
  normal.setZero(unknowns, unknowns);
  gradient.setZero(unknowns);
  const auto count = static_cast<Eigen::Index>(points_.size());
  constexpr Eigen::Index together = 64;  // points whose rows are held at once
  MatrixX rows(3 * together, unknowns);
  // Of all triplets so far; those of an element under way are still growing.
  Matrix3X angular = Matrix3X::Zero(3, shape.turn.size()), linear = angular;
  CurveWalk walk(model_, shape);
  ElementTwist own{Matrix3X::Zero(3, width), Matrix3X::Zero(3, width)};
  const auto go_to = [&](double x) {
    integrate(walk, x, model_.affine, own);
    angular.middleCols(3 * walk.element(), width) += own.angular;
    linear.middleCols(3 * walk.element(), width) += own.linear;
    own.angular.setZero();
    own.linear.setZero();
  };
  Eigen::Index j = 0;
  if (freedom == Freedom::last_turn) {
    // Nothing moves before the last element.
    walk.advance(std::accumulate(model_.parts.begin(), model_.parts.end() - 1, 0.0));
    while (j < count && state_.at[static_cast<std::size_t>(j)] < walk.x()) ++j;
  }
  while (j < count) {
    const Eigen::Index from = j;
    const Eigen::Index touched = pose_unknowns + 3 * walk.element() + width;
    // Points of one element share the columns that are not zero.
    for (; j < count && j < from + together && state_.at[static_cast<std::size_t>(j)] < walk.element_end(); ++j) {
      go_to(state_.at[static_cast<std::size_t>(j)]);
      const Vector3 arm = walk.pose().position - shape.root.position;
      auto row = rows.middleRows<3>(3 * (j - from)).leftCols(touched);
      row.leftCols<3>().setIdentity();
      row.middleCols<2>(3) = -math::cross_matrix(arm) * shape.root.frame.rightCols<2>();
      row.col(5) = freedom == Freedom::all ? arm : Vector3::Zero();
      row.rightCols(touched - pose_unknowns) =
          linear.leftCols(touched - pose_unknowns) -
          math::cross_matrix(walk.pose().position) * angular.leftCols(touched - pose_unknowns);
      if (feet_ && j != 0 && j + 1 != count)
        row -= (state_.tangent.col(j) * (state_.tangent.col(j).transpose() * row)).eval();
    }
    if (j > from) {
      const auto block = rows.topRows(3 * (j - from)).leftCols(touched);
      const Eigen::Map<const VectorX> error(state_.error.data() + 3 * from, 3 * (j - from));
      normal.topLeftCorner(touched, touched).selfadjointView<Eigen::Lower>().rankUpdate(block.transpose());
      gradient.head(touched).noalias() += block.transpose() * error;
    }
    if (j < count && state_.at[static_cast<std::size_t>(j)] >= walk.element_end()) {
      const double end = walk.element_end();
      go_to(std::nextafter(end, 0.0));
      walk.advance(end);
    }
  }
}

CurveShape CurveFit::moved(const VectorX& change, Freedom freedom) const {
  CurveShape out = state_.shape;
  if (freedom == Freedom::last_turn) {
    out.turn.tail<3>() += change;
    return out;
  }
  out.root.position += change.head<3>();
  out.root.frame = math::orthonormalised(out.root.frame * math::rotation_exp({0.0, change[3], change[4]}));
  if (freedom == Freedom::all) out.length *= std::exp(std::clamp(change[5], -0.5, 0.5));
  out.turn += change.tail(out.turn.size());
  return out;
}

/// The state after a change, unless it is beyond the bounds.
std::optional<CurveState> CurveFit::tried(const VectorX& change, Freedom freedom) const {
  if (!change.allFinite()) return std::nullopt;
  CurveState out{moved(change, freedom), state_.at, {}, {}, 0.0, 0.0};
  const Eigen::Map<const Matrix3X> turns(out.shape.turn.data(), 3, out.shape.turn.size() / 3);
  if (out.shape.length > bounds_.length) return std::nullopt;
  if (turns.colwise().norm().maxCoeff() > bounds_.curvature * out.shape.length) return std::nullopt;
  evaluate(out);
  return out;
}

bool CurveFit::step(Freedom freedom) {
  MatrixX normal;
  VectorX gradient;
  gather(freedom, normal, gradient);
  for (Eigen::Index i = 0; i < prior_.size(); ++i) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      const Eigen::Index at = pose_unknowns + 3 * i + c;
      normal(at, at) += mu_ * prior_[i];
      gradient[at] -= mu_ * prior_[i] * state_.shape.turn[3 * i + c];
      if (i == 0) continue;
      normal(at, at - 3) += mu_ * prior_beside_[i - 1];
      gradient[at] -= mu_ * prior_beside_[i - 1] * state_.shape.turn[3 * i + c - 3];
      gradient[at - 3] -= mu_ * prior_beside_[i - 1] * state_.shape.turn[3 * i + c];
    }
  }
  if (freedom == Freedom::open_end) normal(5, 5) = 1.0;
  const Eigen::Index from = first_unknown(freedom), count = normal.rows() - from;
  const MatrixX active = normal.bottomRightCorner(count, count);
  const VectorX scale = active.diagonal().array().max(rounding * active.diagonal().maxCoeff());
  for (int attempt = 0; attempt < 10; ++attempt) {
    MatrixX damped = active;
    damped.diagonal() += damping_ * scale;
    const Eigen::LLT<MatrixX> factor(damped);
    if (factor.info() == Eigen::Success) {
      const VectorX change = factor.solve(gradient.tail(count));
      if (std::optional<CurveState> found = tried(change, freedom)) {
        CurveState& next = *found;
        if (next.objective(mu_) < state_.objective(mu_)) {
          state_ = std::move(next);
          damping_ = std::max(0.1 * damping_, least_damping);
          return true;
        }
      }
    }
    damping_ = std::max(8.0 * damping_, 1e-12);
  }
  return false;
}

void CurveFit::descend(Freedom freedom, int steps, double enough) {
  for (int i = 0; i < steps; ++i) {
    const double before = state_.objective(mu_);
    if (!step(freedom) || state_.objective(mu_) > (1.0 - enough) * before) return;
  }
}

/// mu = (variance of the noise) / (variance of q), each of its share of the degrees of freedom. @cite mackay1992
void CurveFit::estimate() {
  MatrixX normal;
  VectorX gradient;
  gather(Freedom::all, normal, gradient);
  const Eigen::Index turns = prior_.size();
  for (Eigen::Index i = 0; i < turns; ++i) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      const Eigen::Index at = pose_unknowns + 3 * i + c;
      normal(at, at) += mu_ * prior_[i] + rounding * normal(at, at);
      if (i > 0) normal(at, at - 3) += mu_ * prior_beside_[i - 1];
    }
  }
  normal.diagonal().array() += 1e-13 * rounding;
  const Eigen::LLT<MatrixX> factor(normal);
  if (factor.info() != Eigen::Success) return;
  const MatrixX inverse = factor.solve(MatrixX::Identity(normal.rows(), normal.cols()));
  double left_to_prior = 0.0;  // mu tr(H^-1 P)
  for (Eigen::Index i = 0; i < turns; ++i) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      const Eigen::Index at = pose_unknowns + 3 * i + c;
      left_to_prior += mu_ * prior_[i] * inverse(at, at);
      if (i > 0) left_to_prior += 2.0 * mu_ * prior_beside_[i - 1] * inverse(at, at - 3);
    }
  }
  const double determined =
      std::clamp(3.0 * static_cast<double>(turns) - left_to_prior, 1e-3, 3.0 * static_cast<double>(turns));
  // Each point but the ends has its place along the curve free.
  const double data = 2.0 * static_cast<double>(points_.size()) + 2.0 - pose_unknowns;
  const double count = static_cast<double>(state_.error.cols());
  const double misfit = state_.misfit + count * rounding * rounding;
  const double noise = misfit / std::max(data - determined, 1.0);
  const double spread = std::max(state_.roughness, straight) / determined;
  const double log_normal = 2.0 * factor.matrixL().nestedExpression().diagonal().array().log().sum();
  improbability_ = data * std::log((misfit + mu_ * state_.roughness) / data) + log_normal -
                   3.0 * static_cast<double>(turns) * std::log(mu_) - prior_log_;
  mu_ = std::clamp(noise / spread, std::max(least_mu, 1e-8 * mu_), std::min(100.0 * mu_, most_mu));
}

bool CurveFit::settle(int steps, double hopeless) {
  constexpr int each = 4;
  constexpr double same_mu = 0.05, near_mu = 0.3, slow = 0.05;
  const double same_misfit = 1e-2 / (2.0 * static_cast<double>(points_.size()));  // nothing to their likelihood
  for (int i = 0; i < steps; i += each) {
    const double before = mu_, misfit = state_.misfit;
    descend(Freedom::all, each, 1e-3);
    estimate();
    const double change = std::abs(std::log(mu_ / before));
    if (change < near_mu && state_.misfit > (1.0 - slow) * misfit && distances(state_).largest > hopeless) return false;
    if (state_.roughness < straight) return true;
    if (change < same_mu && state_.misfit > (1.0 - same_misfit) * misfit) {
      descend(Freedom::all, each, 1e-12);
      return true;
    }
  }
  return false;
}

}  // namespace tresse::rods::detail
