#include <tresse/inverse/framing.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::inverse {
namespace {

/// The energy over the angles of all nodes but the first.
class AngleEnergy {
 public:
  AngleEnergy(const ReferenceFrame& curve, const FramedRod& rod, int elements)
      : step_(curve.length / elements), root_(rod.root_angle), stiffness_(rod.stiffness), elements_(elements) {
    const math::GaussRule& rule = math::gauss_legendre(points);
    for (int i = 0; i < elements; ++i) {
      for (int k = 0; k < points; ++k) {
        const double s = (i + rule.nodes[static_cast<std::size_t>(k)]) * step_;
        reference_.push_back(curve.curvature(s));
        natural_.push_back(rod.natural(s));
      }
    }
  }

  /// Writes the gradient and the Hessian, (elements) and (elements, elements), where they are wanted.
  double value(const VectorX& angle, VectorX* gradient, MatrixX* hessian) const {
    if (gradient != nullptr) gradient->setZero(elements_);
    if (hessian != nullptr) hessian->setZero(elements_, elements_);
    const math::GaussRule& rule = math::gauss_legendre(points);
    double out = 0.0;
    for (int i = 0; i < elements_; ++i) {
      const double from = i > 0 ? angle[i - 1] : root_, to = angle[i];
      const double slope = (to - from) / step_;
      for (int k = 0; k < points; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double u = rule.nodes[at], weight = rule.weights[at] * step_;
        const Point p = point(static_cast<std::size_t>(i * points + k), (1.0 - u) * from + u * to, slope);
        out += weight * p.energy;
        const Eigen::Vector2d twist(-1.0 / step_, 1.0 / step_), share(1.0 - u, u);
        if (gradient != nullptr) add(i, weight * (p.by_slope * twist + p.by_angle * share), *gradient);
        if (hessian != nullptr)
          add(i, weight * (stiffness_[0] * twist * twist.transpose() + p.by_angle_twice * share * share.transpose()),
              *hessian);
      }
    }
    return out;
  }

  /// int G J (angle')^2.
  MatrixX measure() const {
    MatrixX out = MatrixX::Zero(elements_, elements_);
    Eigen::Matrix2d block;
    block << 1.0, -1.0, -1.0, 1.0;
    for (int i = 0; i < elements_; ++i) add(i, stiffness_[0] / step_ * block, out);
    return out;
  }

  /// What moments are compared with. [N m]
  double moment() const {
    double out = 0.0;
    for (std::size_t k = 0; k < reference_.size(); ++k)
      out = std::max(out, stiffness_.cwiseProduct(reference_[k]).norm() + stiffness_.cwiseProduct(natural_[k]).norm());
    return out + stiffness_[0] / (step_ * elements_);
  }

 private:
  static constexpr int points = 3;
  struct Point {
    double energy, by_slope, by_angle, by_angle_twice;
  };

  Point point(std::size_t at, double angle, double slope) const {
    const Vector3 &k = reference_[at], &rest = natural_[at];
    const double c = std::cos(angle), s = std::sin(angle);
    const double bend_1 = c * k[1] + s * k[2], bend_2 = c * k[2] - s * k[1];
    const Vector3 strain = Vector3(k[0] + slope, bend_1, bend_2) - rest;
    const Vector3 moment = stiffness_.cwiseProduct(strain);
    return {
        0.5 * strain.dot(moment), moment[0], moment[1] * bend_2 - moment[2] * bend_1,
        stiffness_[1] * bend_2 * bend_2 + stiffness_[2] * bend_1 * bend_1 - moment[1] * bend_1 - moment[2] * bend_2};
  }

  static void add(int element, const Eigen::Vector2d& pair, VectorX& into) {
    if (element > 0) into[element - 1] += pair[0];
    into[element] += pair[1];
  }
  static void add(int element, const Eigen::Matrix2d& block, MatrixX& into) {
    into(element, element) += block(1, 1);
    if (element == 0) return;
    into(element - 1, element - 1) += block(0, 0);
    into(element - 1, element) += block(0, 1);
    into(element, element - 1) += block(1, 0);
  }

  double step_, root_;
  Vector3 stiffness_;
  int elements_;
  std::vector<Vector3> reference_, natural_;  ///< at the points
};

/// A stationary point by Newton on the gradient: a step is halved until that falls.
Framing found_from(const AngleEnergy& energy, VectorX angle, double root, const FramingOptions& options) {
  const double scale = energy.moment();
  VectorX gradient;
  MatrixX hessian;
  Framing out;
  for (int i = 0; i <= options.max_iterations; ++i) {
    out.energy = energy.value(angle, &gradient, &hessian);
    out.residual = gradient.lpNorm<Eigen::Infinity>() / scale;
    if (!std::isfinite(out.residual)) {
      out.status = Status::not_finite;
      break;
    }
    if (out.residual <= options.tolerance) {
      out.status = Status::converged;
      break;
    }
    const VectorX step = hessian.partialPivLu().solve(-gradient);
    VectorX next, there;
    double length = 1.0;
    for (; length > 1e-6; length *= 0.5) {
      next = angle + length * step;
      energy.value(next, &there, nullptr);
      if (there.norm() < gradient.norm()) break;
    }
    if (!(length > 1e-6)) {
      out.status = Status::stalled;
      break;
    }
    angle = next;
  }
  out.angle.resize(angle.size() + 1);
  out.angle << root, angle;
  if (out.status == Status::converged)
    out.second_variation =
        Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>(hessian, energy.measure(), Eigen::EigenvaluesOnly)
            .eigenvalues()[0];
  return out;
}

}  // namespace

std::vector<Framing> framings(const ReferenceFrame& curve, const FramedRod& rod, const FramingOptions& options) {
  require(std::isfinite(curve.length) && curve.length > 0.0, "framing: length; expected above 0");
  require(rod.stiffness.allFinite() && rod.stiffness.minCoeff() > 0.0, "framing: stiffness; expected above 0");
  require(std::isfinite(rod.root_angle), "framing: root_angle is not finite");
  require(options.elements >= 2 && options.elements <= 1000, "framing: elements; expected 2 to 1000");
  require(options.tolerance > 0.0 && options.max_iterations >= 1,
          "framing: tolerance; expected above 0, and at least one iteration");
  const AngleEnergy energy(curve, rod, options.elements);
  constexpr int starts = 4;      // a quarter of a turn apart, either way
  constexpr double same = 1e-6;  // [rad]
  std::vector<Framing> out;
  for (int start = -starts; start <= starts; ++start) {
    const double turn = 2.0 * std::numbers::pi * start / starts;
    const VectorX angle = VectorX::LinSpaced(options.elements, turn / options.elements, turn).array() + rod.root_angle;
    Framing found = found_from(energy, angle, rod.root_angle, options);
    if (found.status != Status::converged) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const Framing& other) {
      return (other.angle - found.angle).lpNorm<Eigen::Infinity>() < same;
    });
    if (!known) out.push_back(std::move(found));
  }
  std::sort(out.begin(), out.end(), [](const Framing& a, const Framing& b) { return a.energy < b.energy; });
  return out;
}

std::vector<Vector3> natural_curvatures(std::span<const FramedPlace> places, const Vector3& stiffness,
                                        const Vector3& load) {
  require(places.size() >= 2, "framing: fewer than two places");
  require(stiffness.allFinite() && stiffness.minCoeff() > 0.0, "framing: stiffness; expected above 0");
  for (std::size_t i = 1; i < places.size(); ++i)
    require(places[i].s > places[i - 1].s, "framing: arc lengths; expected them to ascend");
  std::vector<Vector3> out(places.size());
  Vector3 positions = Vector3::Zero();  // int of the positions of what lies beyond, from the tip's
  const Vector3 tip = places.back().position;
  for (std::size_t i = places.size(); i-- > 0;) {
    const FramedPlace& at = places[i];
    if (i + 1 < places.size()) {
      const FramedPlace& next = places[i + 1];
      const double step = next.s - at.s;
      positions += 0.5 * step * (at.position + next.position - 2.0 * tip) +
                   step * step / 12.0 * (at.frame.col(0) - next.frame.col(0));
    }
    const Vector3 arm = positions - (places.back().s - at.s) * (at.position - tip);
    out[i] = at.curvature - (at.frame.transpose() * arm.cross(load)).cwiseQuotient(stiffness);
  }
  return out;
}

}  // namespace tresse::inverse
