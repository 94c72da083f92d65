#include <tresse/rods/fit_curve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/math/vectors.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

namespace tresse::rods {
namespace {

constexpr int most_elements = 10'000;

/// Arc lengths of the points along the polyline.
std::vector<double> chord_lengths(const std::vector<Vector3>& points) {
  std::vector<double> out{0.0};
  for (std::size_t i = 1; i < points.size(); ++i) out.push_back(out.back() + (points[i] - points[i - 1]).norm());
  return out;
}

/// Root, length of the whole, curvatures.
struct Shape {
  Pose root;
  double length = 0.0;
  VectorX curvature;  ///< (3 elements) or (3 (elements + 1))
};

/// The kinematics of a shape; its section and material do not matter.
std::unique_ptr<Rod> make_rod(const Shape& shape, int elements, bool affine) {
  const auto count = static_cast<std::size_t>(elements);
  const double length = shape.length / elements;
  const CrossSection section = CrossSection::circle(0.01 * length);
  const Material material{.density = 1.0, .young_modulus = 1.0, .poisson_ratio = 0.0};
  std::unique_ptr<Rod> rod;
  if (affine) {
    rod = make_super_clothoid(std::vector<SuperClothoidElement>(count, {length, section}),
                              std::vector<Vector3>(count + 1, Vector3::Zero()), material, RootCondition::free);
  } else {
    rod = make_super_helix(std::vector<SuperHelixElement>(count, {length, section, Vector3::Zero()}), material,
                           RootCondition::free);
  }
  rod->update(rod->shaped(shape.root, {}, shape.curvature, VectorX::Zero(shape.curvature.size())));
  return rod;
}

/// Where a point of arc length s is: its element, and s within it.
struct Place {
  int piece = 0;
  double u = 0.0;
};

/// A polyline, and how far a curve is from it.
class Fit {
 public:
  Fit(const std::vector<Vector3>& points, int elements, bool affine)
      : points_(&points), elements_(elements), affine_(affine) {}

  void start(const Shape& shape) {
    shape_ = shape;
    const std::vector<double> chords = chord_lengths(*points_);
    arc_ = chords;
    for (double& s : arc_) s *= shape.length / chords.back();
    evaluate();
  }

  /// One accepted step, or none. Whether the sum of squares fell by more than rounding. At first each point has its
  /// place on the curve by its arc length along the polyline, which leads near from afar; then its foot.
  bool step() {
    const double before = cost_;
    const bool fell = descend();
    if (feet_) return fell;
    if (cost_ < 0.9 * before) return true;
    feet_ = true;
    damping_ = first_damping;
    evaluate();
    return true;
  }

  double largest() const { return largest_; }
  double mean() const { return mean_; }
  const Shape& shape() const { return shape_; }

 private:
  static constexpr double first_damping = 1e-3;

  bool descend() {
    const auto unknowns = 7 + shape_.curvature.size();
    MatrixX normal = MatrixX::Zero(unknowns, unknowns);
    VectorX gradient = VectorX::Zero(unknowns);
    gather(normal, gradient);
    const VectorX scale = normal.diagonal().array().max(1e-12 * normal.diagonal().maxCoeff());
    for (int attempt = 0; attempt < 12; ++attempt) {
      MatrixX damped = normal;
      damped.diagonal() += damping_ * scale;
      const VectorX change = damped.ldlt().solve(gradient);
      const Fit before = *this;
      if (change.allFinite() && std::abs(change[unknowns - 1]) < 0.5) {
        move(change);
        if (cost_ < before.cost_) {
          damping_ = std::max(0.1 * damping_, 1e-14);
          return cost_ < before.cost_ * (1.0 - 1e-9);
        }
      }
      const double damping = 8.0 * before.damping_;
      *this = before;
      damping_ = damping;
    }
    return false;
  }

  Place place(double s) const {
    const double length = shape_.length / elements_;
    const int piece = std::clamp(static_cast<int>(s / length), 0, elements_ - 1);
    return {piece, s - piece * length};
  }

  void move(const VectorX& change) {
    const auto count = shape_.curvature.size();
    shape_.root.position += change.head<3>();
    shape_.root.frame = math::orthonormalised(math::rotation_exp(change.segment<3>(3)) * shape_.root.frame);
    shape_.curvature += change.segment(6, count);
    const double factor = std::exp(change[6 + count]);
    shape_.length *= factor;
    for (double& s : arc_) s *= factor;
    evaluate();
  }

  /// Feet of the points on the curve, and their distances.
  void evaluate() {
    const auto rod = make_rod(shape_, elements_, affine_);
    std::vector<geometry::Curve> pieces;
    for (int i = 0; i < elements_; ++i) pieces.push_back(rod->piece(i));
    cost_ = largest_ = mean_ = 0.0;
    arc_.front() = 0.0;
    arc_.back() = shape_.length;
    error_.resize(points_->size());
    tangent_.resize(points_->size());
    for (std::size_t j = 0; j < points_->size(); ++j) {
      const bool stays = !feet_ || j == 0 || j + 1 == points_->size();
      for (int turn = 0;; ++turn) {
        const Place at = place(arc_[j]);
        const geometry::Curve& piece = pieces[static_cast<std::size_t>(at.piece)];
        error_[j] = (*points_)[j] - geometry::position(piece, at.u);
        tangent_[j] = geometry::derivative(piece, at.u);
        if (stays || turn == 4) break;
        // Newton on the tangential part, within an element's length.
        const double slope = std::max(1.0 - error_[j].dot(geometry::second_derivative(piece, at.u)), 0.2);
        const double reach = shape_.length / elements_;
        const double next = arc_[j] + std::clamp(tangent_[j].dot(error_[j]) / slope, -reach, reach);
        if (std::abs(next - arc_[j]) < 1e-15 * shape_.length) break;
        arc_[j] = std::clamp(next, 0.0, shape_.length);
      }
      const double square = error_[j].squaredNorm();
      cost_ += square;
      largest_ = std::max(largest_, std::sqrt(square));
      mean_ += std::sqrt(square) / static_cast<double>(points_->size());
    }
    if (!std::isfinite(cost_)) cost_ = std::numeric_limits<double>::infinity();
  }

  /// J^T J and J^T e over what lies across the curve, and all of it at the two ends.
  void gather(MatrixX& normal, VectorX& gradient) const {
    const auto rod = make_rod(shape_, elements_, affine_);
    // A difference will do for one column: the step need not be exact.
    constexpr double stretch = 1e-6;
    Shape longer = shape_;
    longer.length *= 1.0 + stretch;
    const auto stretched = make_rod(longer, elements_, affine_);
    Matrix3X jacobian = Matrix3X::Zero(3, rod->dof());
    Matrix3X columns(3, normal.cols());
    for (std::size_t j = 0; j < points_->size(); ++j) {
      const Place at = place(arc_[j]);
      const int touched = rod->jacobian(at.piece, at.u, jacobian);
      columns.setZero();
      columns.leftCols(touched) = jacobian.leftCols(touched);
      const Vector3 now = geometry::position(rod->piece(at.piece), at.u);
      const Vector3 then = geometry::position(stretched->piece(at.piece), at.u * (1.0 + stretch));
      columns.rightCols<1>() = (then - now) / stretch;
      if (feet_ && j != 0 && j + 1 != points_->size())
        columns -= (tangent_[j] * (tangent_[j].transpose() * columns)).eval();
      const auto left = columns.leftCols(touched);
      const auto last = columns.rightCols<1>();
      normal.topLeftCorner(touched, touched).noalias() += left.transpose() * left;
      normal.rightCols<1>().head(touched) += left.transpose() * last;
      normal.bottomRows<1>().head(touched) += (left.transpose() * last).transpose();
      normal(normal.rows() - 1, normal.cols() - 1) += last.squaredNorm();
      gradient.head(touched) += left.transpose() * error_[j];
      gradient[gradient.size() - 1] += last.dot(error_[j]);
    }
  }

  const std::vector<Vector3>* points_;  // a pointer, so that a fit can be put back
  int elements_;
  bool affine_;
  Shape shape_;
  std::vector<double> arc_;  ///< of the foot of each point [m]
  std::vector<Vector3> error_, tangent_;
  double cost_ = 0.0, largest_ = 0.0, mean_ = 0.0;
  double damping_ = first_damping;
  bool feet_ = false;  ///< distances are those from the points to their feet
};

/// The point of a polyline at arc length s.
Vector3 along(const std::vector<Vector3>& points, const std::vector<double>& chords, double s) {
  const auto after = std::lower_bound(chords.begin() + 1, chords.end() - 1, s);
  const auto i = static_cast<std::size_t>(after - chords.begin());
  const double share = (s - chords[i - 1]) / (chords[i] - chords[i - 1]);
  return points[i - 1] + share * (points[i] - points[i - 1]);
}

/// n1 as near to +y as the tangent allows, or to +z when it lies along y.
Matrix3 frame_along(const Vector3& tangent) {
  const Vector3 y = std::abs(tangent.y()) < 0.99 ? Vector3(Vector3::UnitY()) : Vector3(Vector3::UnitZ());
  Matrix3 frame;
  frame.col(0) = tangent;
  frame.col(1) = (y - y.dot(tangent) * tangent).normalized();
  frame.col(2) = tangent.cross(frame.col(1));
  return frame;
}

/// The smallest rotation that takes one unit vector to another.
Matrix3 turn_between(const Vector3& from, const Vector3& to) {
  return Eigen::Quaterniond::FromTwoVectors(from, to).toRotationMatrix();
}

/// Directions of the polyline at the ends of elements, over a window as long as an element where there is one: noise
/// from point to point does not count.
std::vector<Vector3> directions(const std::vector<Vector3>& points, const std::vector<double>& chords, int elements) {
  const double total = chords.back(), length = total / elements;
  std::vector<Vector3> out;
  for (int i = 0; i <= elements; ++i) {
    const double from = std::max(0.0, (i - 0.5) * length), to = std::min(total, (i + 0.5) * length);
    Vector3 direction = math::safe_normalized(along(points, chords, to) - along(points, chords, from));
    if (direction.isZero()) direction = out.empty() ? Vector3(points[1] - points[0]).normalized() : out.back();
    out.push_back(direction);
  }
  // Half a window lies behind the ends: the bend of the neighbour goes on to them.
  if (elements > 1) {
    const auto extended = [](const Vector3& end, const Vector3& next) {
      // Window centres: a quarter of an element from the end, one element from it.
      return Vector3(math::rotation_exp(-math::rotation_log(turn_between(end, next)) / 3.0) * end);
    };
    const std::size_t last = out.size() - 1;
    out[0] = extended(out[0], out[1]);
    out[last] = extended(out[last], out[last - 1]);
  }
  return out;
}

/// Frames carried along those directions without twist, and the curvatures that turn each into the next.
Shape first_guess(const std::vector<Vector3>& points, int elements, bool affine) {
  const std::vector<double> chords = chord_lengths(points);
  const std::vector<Vector3> tangents = directions(points, chords, elements);
  Shape out{.root = {points.front(), frame_along(tangents.front())}, .length = chords.back(), .curvature = {}};
  const double length = out.length / elements;
  std::vector<Vector3> curvatures;
  Matrix3 frame = out.root.frame;
  for (std::size_t i = 0; i + 1 < tangents.size(); ++i) {
    const Matrix3 turn = turn_between(tangents[i], tangents[i + 1]);
    curvatures.emplace_back(frame.transpose() * math::rotation_log(turn) / length);
    frame = math::orthonormalised(turn * frame);
  }
  const std::size_t count = curvatures.size() + (affine ? 1 : 0);
  out.curvature.resize(3 * static_cast<Eigen::Index>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Vector3& before = curvatures[i == 0 ? 0 : i - 1];
    const Vector3& after = curvatures[std::min(i, curvatures.size() - 1)];
    out.curvature.segment<3>(3 * static_cast<Eigen::Index>(i)) = affine ? Vector3(0.5 * (before + after)) : after;
  }
  return out;
}

FittedCurve fit_elements(const std::vector<Vector3>& points, int elements, const FitOptions& options) {
  Fit fit(points, elements, options.affine);
  fit.start(first_guess(points, elements, options.affine));
  FittedCurve out;
  for (int i = 0; i < options.max_iterations; ++i) {
    if ((options.tolerance > 0.0 && fit.largest() <= options.tolerance) || !fit.step()) {
      out.status = Status::converged;
      break;
    }
  }
  out.root = fit.shape().root;
  out.length = fit.shape().length;
  out.elements = elements;
  for (Eigen::Index i = 0; i < fit.shape().curvature.size(); i += 3)
    out.curvature.emplace_back(fit.shape().curvature.segment<3>(i));
  out.largest_distance = fit.largest();
  out.mean_distance = fit.mean();
  return out;
}

void validate(const std::vector<Vector3>& points, const FitOptions& options) {
  require(points.size() >= 2, "fit: fewer than two points; expected at least two");
  for (std::size_t i = 0; i < points.size(); ++i) {
    require(points[i].cwiseAbs().maxCoeff() <= 1e9,
            [&] { return "fit: point " + std::to_string(i) + " is not finite or beyond 1e9 m"; });
    require(i == 0 || (points[i] - points[i - 1]).norm() > 0.0, [&] {
      return "fit: points " + std::to_string(i - 1) + " and " + std::to_string(i) + " coincide; expected them apart";
    });
  }
  require(options.elements >= 0 && options.elements <= most_elements, "fit: elements; expected 0 to 10000");
  require(options.elements > 0 || options.tolerance > 0.0, "fit: neither elements nor a tolerance are given");
  require(options.tolerance >= 0.0 && std::isfinite(options.tolerance), "fit: tolerance; expected at least 0");
  require(options.max_iterations >= 1, "fit: max_iterations; expected at least 1");
}

}  // namespace

FittedCurve fit_curve(const std::vector<Vector3>& points, const FitOptions& options) {
  validate(points, options);
  if (options.tolerance == 0.0) return fit_elements(points, options.elements, options);
  const auto data = static_cast<int>(std::min<std::size_t>(points.size() - 1, most_elements));
  const int most = options.elements > 0 ? options.elements : data;
  FittedCurve best;
  for (int elements = 1;; elements = std::min(most, elements + std::max(1, elements / 2))) {
    FittedCurve found = fit_elements(points, elements, options);
    if (elements == 1 || found.largest_distance < best.largest_distance) best = std::move(found);
    if (best.largest_distance <= options.tolerance || elements == most) return best;
  }
}

}  // namespace tresse::rods
