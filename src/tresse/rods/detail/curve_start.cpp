#include <tresse/rods/detail/curve_start.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/best.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::rods::detail {
namespace {

using Freedom = CurveFit::Freedom;

/// The point of a polyline at x, by the places of its points.
Vector3 along(std::span<const Vector3> points, const std::vector<double>& at, double x) {
  const auto after = std::lower_bound(at.begin() + 1, at.end() - 1, x);
  const auto i = static_cast<std::size_t>(after - at.begin());
  const double share = (x - at[i - 1]) / (at[i] - at[i - 1]);
  return points[i - 1] + share * (points[i] - points[i - 1]);
}

/// At the ends of elements.
std::vector<Vector3> directions(std::span<const Vector3> points, const std::vector<double>& at,
                                const CurveModel& model) {
  std::vector<Vector3> out;
  double x = 0.0;
  const int elements = model.elements();
  for (int i = 0; i <= elements; ++i) {
    const double before = 0.5 * model.parts[static_cast<std::size_t>(std::max(i - 1, 0))];
    const double after = 0.5 * model.parts[static_cast<std::size_t>(std::min(i, elements - 1))];
    const Vector3 chord = along(points, at, std::min(1.0, x + after)) - along(points, at, std::max(0.0, x - before));
    Vector3 direction = math::safe_normalized(chord);
    if (direction.isZero()) direction = out.empty() ? Vector3(points[1] - points[0]).normalized() : out.back();
    out.push_back(direction);
    x += 2.0 * after;
  }
  // Half a window lies behind an end: its middle is a quarter of an element from the end, three from the next.
  const auto extended = [](const Vector3& end, const Vector3& next) {
    return Vector3(math::rotation_exp(-math::rotation_log(math::rotation_between(end, next)) / 3.0) * end);
  };
  const std::size_t last = out.size() - 1;
  const Vector3 first = extended(out[0], out[1]);
  out[last] = extended(out[last], out[last - 1]);
  out[0] = first;
  return out;
}

/// Mean bend of the points in an interval of x, and their torsion, with frames carried from `frame` at its begin.
struct LocalBend {
  Vector3 plain = Vector3::Zero();    ///< q without twist
  Vector3 twisted = Vector3::Zero();  ///< q with the torsion as twist
};

LocalBend local_bend(std::span<const Vector3> points, const PointBends& bends, std::pair<double, double> range,
                     const Matrix3& frame) {
  const double length = bends.arc.back();
  double amount = 0.0, turned = 0.0, weights = 0.0, count = 0.0;
  Vector3 sum = Vector3::Zero(), first = Vector3::Zero();
  const Vector3* before = nullptr;
  for (std::size_t j = 1; j + 1 < points.size(); ++j) {
    const double x = bends.arc[j] / length;
    // One point more on either side where an element has few.
    if (bends.arc[j + 1] / length < range.first || bends.arc[j - 1] / length > range.second) continue;
    const Vector3& k = bends.curvature[j];
    if (first.isZero()) first = k;
    sum += k;
    amount += k.norm();
    count += 1.0;
    if (before != nullptr) {
      const Vector3 t = (points[j] - points[j - 1]).normalized();
      const double weight = before->norm() * k.norm();
      turned += weight * std::atan2(before->cross(k).dot(t), before->dot(k));
      weights += weight * (x - bends.arc[j - 1] / length);
    }
    before = &k;
  }
  LocalBend out;
  if (count == 0.0) return out;
  const auto across = [&](const Vector3& k) { return Vector3(0.0, k.dot(frame.col(1)), k.dot(frame.col(2))); };
  out.plain = across(length / count * sum);
  out.twisted = length * amount / count * math::safe_normalized(across(first));
  if (weights > 0.0) out.twisted.x() = turned / weights;
  return out;
}

void limit(Vector3& turn, double most) {
  const double size = turn.norm();
  if (size > 0.99 * most) turn *= 0.99 * most / size;
}

/// The frame at x of the end of a shape's elements.
Matrix3 end_frame(const CurveShape& shape, const CurveModel& model) {
  Matrix3 frame = shape.root.frame;
  for (int i = 0; i < model.elements(); ++i) {
    const double part = model.parts[static_cast<std::size_t>(i)];
    const Vector3 q = shape.turn.segment<3>(3 * i);
    const Vector3 slope = model.affine ? Vector3((shape.turn.segment<3>(3 * i + 3) - q) / part) : Vector3::Zero();
    frame = geometry::end_pose({Vector3::Zero(), frame, q, slope, part}).frame;
  }
  return frame;
}

/// Triplets that a new element may have.
std::vector<Vector3> candidates(const LocalBend& bend, const CurveShape& shape, double most) {
  std::vector<Vector3> out{bend.plain, bend.twisted};
  if (shape.turn.size() > 0) out.emplace_back(shape.turn.tail<3>());
  for (Vector3& q : out) limit(q, most);
  return out;
}

CurveShape extended(const CurveShape& shape, const Vector3& turn, const CurveModel& model) {
  CurveShape out = shape;
  const Eigen::Index before = shape.turn.size();
  out.turn.conservativeResize(3 * model.turns());
  for (Eigen::Index i = before; i < out.turn.size(); i += 3) out.turn.segment<3>(i) = turn;
  return out;
}

}  // namespace

PointBends bends_of(std::span<const Vector3> points) {
  const std::size_t count = points.size();
  PointBends out;
  out.curvature.assign(count, Vector3::Zero());
  for (std::size_t j = 1; j + 1 < count; ++j) {
    const Vector3 a = points[j] - points[j - 1], b = points[j + 1] - points[j];
    const double product = a.norm() * b.norm() * (a + b).norm();
    if (product > 0.0) out.curvature[j] = 2.0 / product * a.cross(b);
  }
  if (count > 2) {
    out.curvature[0] = out.curvature[1];
    out.curvature[count - 1] = out.curvature[count - 2];
  }
  out.arc.push_back(0.0);
  for (std::size_t j = 1; j < count; ++j) {
    const double chord = (points[j] - points[j - 1]).norm();
    const double half = 0.25 * (out.curvature[j].norm() + out.curvature[j - 1].norm()) * chord;  // sine of half a turn
    out.arc.push_back(out.arc.back() +
                      chord * (half > 1e-6 ? std::asin(std::min(half, 0.9)) / std::min(half, 0.9) : 1.0));
  }
  return out;
}

std::vector<double> places_of(const PointBends& bends) {
  std::vector<double> out = bends.arc;
  for (double& x : out) x /= bends.arc.back();
  return out;
}

Matrix3 frame_along(const Vector3& tangent) {
  Matrix3 frame;
  frame.col(0) = tangent;
  frame.col(1) = tangent.unitOrthogonal();
  frame.col(2) = tangent.cross(frame.col(1));
  return frame;
}

double mild_mu(std::size_t points, const CurveModel& model) {
  const double elements = model.elements();
  return 1e-6 * static_cast<double>(points) / (elements * elements * elements);
}

CurveShape start_without_twist(std::span<const Vector3> points, const PointBends& bends, const CurveModel& model) {
  const std::vector<Vector3> tangents = directions(points, places_of(bends), model);
  CurveShape out{{points.front(), frame_along(tangents.front())}, bends.arc.back(), {}};
  std::vector<Vector3> turns;
  Matrix3 frame = out.root.frame;
  for (std::size_t i = 0; i + 1 < tangents.size(); ++i) {
    const Matrix3 turn = math::rotation_between(tangents[i], tangents[i + 1]);
    turns.emplace_back(frame.transpose() * math::rotation_log(turn) / model.parts[i]);
    frame = math::orthonormalised(turn * frame);
  }
  out.turn.resize(3 * model.turns());
  for (int i = 0; i < model.turns(); ++i) {
    const Vector3& before = turns[static_cast<std::size_t>(std::max(i - 1, 0))];
    const Vector3& after = turns[static_cast<std::size_t>(std::min(i, model.elements() - 1))];
    out.turn.segment<3>(3 * i) = model.affine ? Vector3(0.5 * (before + after)) : after;
  }
  return out;
}

std::optional<CurveShape> start_grown(std::span<const Vector3> points, const PointBends& bends, const CurveModel& model,
                                      const CurveBounds& bounds, double far) {
  const std::vector<double> at = places_of(bends);
  const double length = bends.arc.back();
  const Vector3 chord = (points[1] - points[0]).normalized();
  const Vector3 lean = 0.5 * (bends.arc[1] - bends.arc[0]) * bends.curvature[0];
  CurveShape shape{{points[0], frame_along(math::rotation_exp(-lean) * chord)}, length, {}};
  double begin = 0.0;
  std::size_t seen = 0;
  for (int i = 0; i < model.elements(); ++i) {
    const CurveModel part = model.first(i + 1);
    const bool last = i + 1 == model.elements();
    const double end = last ? 1.0 : begin + part.parts.back();
    const auto count = static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), end) - at.begin());
    const std::span<const Vector3> here = points.first(last ? points.size() : count);
    const std::vector<double> places(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(here.size()));
    const Matrix3 frame = i == 0 ? shape.root.frame : end_frame(shape, model.first(i));
    const LocalBend bend = local_bend(points, bends, {begin, end}, frame);
    std::optional<CurveFit> best;
    for (const Vector3& q : candidates(bend, shape, bounds.curvature * length)) {
      CurveFit fit(here, part, places, bounds);
      fit.set_mu(mild_mu(points.size(), model));
      fit.start(extended(shape, q, part));
      if (here.size() > seen) fit.descend(i == 0 ? Freedom::open_end : Freedom::last_turn, 4, 0.01);
      if (!best || is_better(fit.state().objective(fit.mu()), best->state().objective(fit.mu())))
        best.emplace(std::move(fit));
    }
    if (here.size() > seen) best->descend(Freedom::open_end, 3, 0.1);
    const CurveState& state = best->state();
    const Matrix3X across =
        state.error - state.tangent * (state.tangent.cwiseProduct(state.error)).colwise().sum().asDiagonal();
    if (across.colwise().norm().maxCoeff() > far) return std::nullopt;
    shape = state.shape;
    begin = end;
    seen = here.size();
  }
  return shape;
}

}  // namespace tresse::rods::detail
