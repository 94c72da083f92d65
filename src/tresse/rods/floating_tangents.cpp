#include <tresse/rods/floating_tangents.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/short_helix.hpp>
#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/math/vectors.hpp>
#include <tresse/rods/detail/curve_course.hpp>
#include <tresse/rods/detail/curve_start.hpp>
#include <tresse/rods/detail/rod_input.hpp>
#include <tresse/rods/detail/smoothing_spline.hpp>

namespace tresse::rods {
namespace {

using geometry::CubicBezier;
using geometry::ShortHelix;

constexpr double most_turn = 3.0;  ///< of a helix that keeps its tangents [rad]

Vector3 tangent(const CubicBezier& curve, double u) {
  const Vector3 slope = geometry::derivative(curve, u);
  const double size = (curve.points[3] - curve.points[0]).norm();
  if (slope.norm() > 1e-9 * size) return slope.normalized();
  // Two control points coincide at an end, where the second derivative says the direction.
  const Vector3 bend = geometry::second_derivative(curve, u);
  return math::safe_normalized(u < 0.5 ? bend : Vector3(-bend));
}

double speed_integral(const CubicBezier& curve, double from, double to) {
  const math::GaussRule& rule = math::gauss_legendre(8);
  double out = 0.0;
  for (std::size_t k = 0; k < rule.nodes.size(); ++k)
    out += rule.weights[k] * geometry::derivative(curve, from + rule.nodes[k] * (to - from)).norm();
  return out * (to - from);
}

/// The parameter at which a curve has the length `wanted`, of `length` in all.
double at_length(const CubicBezier& curve, double wanted, double length) {
  double low = 0.0, high = 1.0, u = std::clamp(wanted / length, 0.0, 1.0);
  for (int i = 0; i < 50; ++i) {
    const double off = speed_integral(curve, 0.0, u) - wanted;
    (off < 0.0 ? low : high) = u;
    double next = u - off / std::max(geometry::derivative(curve, u).norm(), 1e-9 * length);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    const bool settled = std::abs(next - u) < 1e-12;
    u = next;
    if (settled) break;
  }
  return u;
}

/// Directions in which positions may not differ: unit vectors along the change of the tangents, zero where there is
/// none.
std::vector<Vector3> changes(std::span<const CurveJoint> joints) {
  constexpr double none = 1e-14;
  std::vector<Vector3> out;
  for (std::size_t i = 0; i + 1 < joints.size(); ++i) {
    const Vector3 sum = joints[i].tangent + joints[i + 1].tangent;
    Vector3 change = joints[i + 1].tangent - joints[i].tangent;
    // Equal lengths but for rounding, which would be a direction of its own where tangents turn little.
    if (change.squaredNorm() < sum.squaredNorm()) change -= sum.dot(change) / sum.squaredNorm() * sum;
    const double size = change.norm();
    out.emplace_back(size > none ? Vector3(change / size) : Vector3::Zero());
  }
  return out;
}

/// Multipliers of (p*_{i+1} - p*_i) . z_i = 0, by elimination from the root; then the positions.
std::vector<Vector3> moved_positions(std::span<const CurveJoint> joints, bool held_root) {
  const std::vector<Vector3> z = changes(joints);
  const std::size_t n = z.size();
  std::vector<double> pivot(n), multiplier(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool any = !z[i].isZero(0.0);
    pivot[i] = any ? (i == 0 && held_root ? 1.0 : 2.0) : 1.0;
    multiplier[i] = (joints[i + 1].position - joints[i].position).dot(z[i]);
    if (i == 0 || !any) continue;
    const double beside = -z[i - 1].dot(z[i]);
    pivot[i] -= beside * beside / pivot[i - 1];
    multiplier[i] -= beside / pivot[i - 1] * multiplier[i - 1];
  }
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n) multiplier[i] += z[i].dot(z[i + 1]) * multiplier[i + 1];
    multiplier[i] /= pivot[i];
  }
  std::vector<Vector3> out;
  for (std::size_t i = 0; i <= n; ++i) {
    Vector3 x = joints[i].position;
    if (i < n && (i > 0 || !held_root)) x += multiplier[i] * z[i];
    if (i > 0) x -= multiplier[i - 1] * z[i - 1];
    out.push_back(x);
  }
  return out;
}

/// What turns one tangent into the next by the smallest rotation, along an arc that ends as far away as the chord:
/// where the two tangents and the chord are the same to rounding.
ShortHelix arc_along(const Vector3& chord, const Vector3& t0, const Vector3& t1) {
  const Vector3 turn = math::rotation_log(math::rotation_between(t0, t1));
  const double size = turn.norm(), half = 0.5 * size;
  const double length = chord.norm() * (half > 0.0 ? half / std::sin(half) : 1.0);
  return {turn / length, length, size};
}

struct Chain {
  FloatingCurve curve;
  std::vector<std::size_t> coils;   ///< pieces that turn by more than most_turn, or have no helix
  std::optional<std::size_t> lost;  ///< a piece that has none: it ends elsewhere
  bool doubtful = false;            ///< a piece turns as it does because of noise
};

/// `wobble`: standard deviations of the tangents, (joints) or none [rad].
Chain chain_of(std::span<const CurveJoint> joints, bool held_root, std::span<const double> wobble) {
  constexpr double straight = 1e-9;                // [rad]
  constexpr double deviations = 2.0, twist = 0.5;  // of the tangents; beyond their own turn [rad]
  const std::vector<Vector3> positions = moved_positions(joints, held_root);
  Chain out;
  FloatingCurve& curve = out.curve;
  curve.root = {positions.front(), detail::frame_along(joints.front().tangent)};
  Matrix3 frame = curve.root.frame;
  for (std::size_t i = 0; i + 1 < joints.size(); ++i) {
    const Vector3 chord = positions[i + 1] - positions[i];
    const Vector3 &t0 = joints[i].tangent, &t1 = joints[i + 1].tangent;
    const Vector3 sum = t0 + t1;
    const double change = (t1 - t0).norm();
    const double lean = std::atan2(sum.cross(chord).norm(), sum.dot(chord));
    std::optional<ShortHelix> helix;
    if (change > straight || lean > straight) helix = geometry::short_helix(chord, t0, t1);
    if (!helix) {
      if (lean > straight) out.lost = i;
      helix = arc_along(chord, t0, t1);
    } else {
      if (helix->turn > most_turn) out.coils.push_back(i);
      const double unsure = wobble.empty() ? 0.0 : deviations * std::hypot(wobble[i], wobble[i + 1]);
      if (helix->turn > 2.0 * std::atan2(change, sum.norm()) + twist && lean < unsure) out.doubtful = true;
    }
    curve.lengths.push_back(helix->length);
    curve.curvature.emplace_back(frame.transpose() * helix->darboux);
    curve.largest_turn = std::max(curve.largest_turn, helix->turn);
    frame = math::orthonormalised_once(math::rotation_exp(helix->length * helix->darboux) * frame);
  }
  if (out.lost) out.coils.push_back(*out.lost);
  for (std::size_t i = 0; i < joints.size(); ++i)
    curve.moved = std::max(curve.moved, (positions[i] - joints[i].position).norm());
  return out;
}

/// Of the circle through a joint and its neighbours, or of the one through the first or last three.
Vector3 circle_tangent(std::span<const CurveJoint> joints, std::size_t at) {
  const std::size_t middle = std::clamp<std::size_t>(at, 1, joints.size() - 2);
  const Vector3 a = joints[middle].position - joints[middle - 1].position;
  const Vector3 b = joints[middle + 1].position - joints[middle].position;
  Vector3 there = (b.norm() / a.norm() * a + a.norm() / b.norm() * b).normalized();
  if (at == middle) return there;
  const Vector3 chord = (at < middle ? a : b).normalized();
  return 2.0 * chord.dot(there) * chord - there;
}

void validate(std::span<const CurveJoint> joints) {
  constexpr double unit = 1e-9;
  require(joints.size() >= 2,
          [&] { return "fit: " + std::to_string(joints.size()) + " joints; expected at least two"; });
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const auto here = [&] { return "fit: joint " + std::to_string(i); };
    require(joints[i].position.allFinite() && joints[i].position.cwiseAbs().maxCoeff() <= 1e9,
            [&] { return here() + " is not finite or beyond 1e9 m"; });
    require(std::abs(joints[i].tangent.norm() - 1.0) <= unit,
            [&] { return here() + " has a tangent of another length than 1"; });
    require(i == 0 || joints[i].position != joints[i - 1].position,
            [&] { return here() + " coincides with the one before; expected them apart"; });
  }
}

double total_turn(std::span<const CubicBezier> curve) {
  constexpr int parts = 4;
  double out = 0.0;
  std::optional<Vector3> before;
  for (const CubicBezier& piece : curve) {
    for (int k = 0; k <= parts; ++k) {
      const Vector3 t = tangent(piece, static_cast<double>(k) / parts);
      if (before) out += std::atan2(before->cross(t).norm(), before->dot(t));
      before = t;
    }
  }
  return out;
}

/// The same chain in the terms of least squares, which know how far points are from a curve.
FittedCurve measured(const FloatingCurve& curve, std::span<const Vector3> points) {
  constexpr double no_bound = std::numeric_limits<double>::infinity();
  constexpr double near = 1e-3;  // of the length
  const Vector3 first = points.front();
  std::vector<Vector3> row;
  double scale = 0.0;
  for (std::size_t j = 1; j < points.size(); ++j) scale += (points[j] - points[j - 1]).norm();
  for (const Vector3& point : points) row.emplace_back((point - first) / scale);
  const double length = std::accumulate(curve.lengths.begin(), curve.lengths.end(), 0.0);
  detail::CurveModel model{false, {}};
  detail::CurveShape shape{{(curve.root.position - first) / scale, curve.root.frame},
                           length / scale,
                           VectorX(3 * static_cast<Eigen::Index>(curve.lengths.size()))};
  for (std::size_t i = 0; i < curve.lengths.size(); ++i) {
    model.parts.push_back(curve.lengths[i] / length);
    shape.turn.segment<3>(3 * static_cast<Eigen::Index>(i)) = length * curve.curvature[i];
  }
  detail::CurveFit feet(row, model, detail::places_of(detail::bends_of(row)), {no_bound, no_bound});
  feet.start(shape);
  feet.find_feet();
  const detail::Distances found = detail::distances(feet.state());
  const detail::Course course = detail::course_of(row, model, feet.state(), near);
  return {.root = curve.root,
          .lengths = curve.lengths,
          .curvature = curve.curvature,
          .largest_distance = scale * found.largest,
          .mean_distance = scale * found.mean,
          .deviation = scale * std::max(course.deviation, found.largest),
          .length_ratio = length / scale,
          .status = Status::converged};
}

/// Where on a chain of curves, and at which parameter.
struct CurvePlace {
  std::size_t piece = 0;
  double u = 0.0;
};

std::vector<CurvePlace> places_along(std::span<const CubicBezier> curve, int pieces) {
  require(!curve.empty() && pieces >= 1, "fit: no curve or no piece; expected at least one");
  std::vector<double> lengths;
  for (const CubicBezier& piece : curve) {
    for (const Vector3& point : piece.points)
      require(point.allFinite() && point.cwiseAbs().maxCoeff() <= 1e9,
              "fit: a control point is not finite or beyond 1e9 m");
    lengths.push_back(speed_integral(piece, 0.0, 1.0));
    require(lengths.back() > 0.0,
            [&] { return "fit: Bezier curve " + std::to_string(lengths.size() - 1) + " is a point"; });
  }
  const double whole = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  std::vector<CurvePlace> out{{}};
  std::size_t at = 0;
  double before = 0.0;
  for (int i = 1; i < pieces; ++i) {
    const double wanted = whole * i / pieces;
    while (at + 1 < curve.size() && before + lengths[at] < wanted) before += lengths[at++];
    out.push_back({at, at_length(curve[at], wanted - before, lengths[at])});
  }
  out.push_back({curve.size() - 1, 1.0});
  return out;
}

std::vector<CurveJoint> joints_at(std::span<const CubicBezier> curve, const std::vector<CurvePlace>& places) {
  std::vector<CurveJoint> out;
  for (const auto& [piece, u] : places) out.push_back({geometry::position(curve[piece], u), tangent(curve[piece], u)});
  return out;
}

/// `wobble`: standard deviations of the direction at the ends of the curves, or none [rad].
FloatingFit fit_along(std::span<const CubicBezier> curve, const std::vector<Vector3>& points, int elements,
                      std::span<const double> wobble) {
  require(elements >= 1 && elements <= 1000, "fit: elements; expected 1 to 1000");
  const std::vector<CurvePlace> places = places_along(curve, elements);
  std::vector<double> unsure;
  for (const auto& [piece, u] : places) {
    if (!wobble.empty()) unsure.push_back((1.0 - u) * wobble[piece] + u * wobble[piece + 1]);
  }
  std::vector<CurveJoint> joints = joints_at(curve, places);
  const double turn = total_turn(curve);
  require(turn < std::numbers::pi * elements, [&] {
    return "fit: the curve turns by " + std::to_string(turn) + " rad; expected at least " +
           std::to_string(static_cast<int>(turn / std::numbers::pi) + 1) + " elements, found " +
           std::to_string(elements);
  });
  constexpr int rounds = 4;
  std::vector<bool> relaxed(joints.size(), false);
  FloatingFit out;
  for (int round = 0;; ++round) {
    const Chain chain = chain_of(joints, true, unsure);
    if (chain.coils.empty() && !chain.doubtful) {
      out.curve = measured(chain.curve, points);
      break;
    }
    if (round == rounds || elements < 2 || chain.doubtful) {
      out.least_squares = true;
      out.curve = fit_curve(points, {.elements = elements});
      break;
    }
    for (const std::size_t i : chain.coils) relaxed[i] = relaxed[i + 1] = true;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (relaxed[i]) joints[i].tangent = (joints[i].tangent + circle_tangent(joints, i)).normalized();
    }
  }
  out.relaxed = static_cast<int>(std::count(relaxed.begin(), relaxed.end(), true));
  return out;
}

}  // namespace

std::vector<CurveJoint> joints_along(std::span<const CubicBezier> curve, int pieces) {
  return joints_at(curve, places_along(curve, pieces));
}

FloatingCurve float_tangents(std::span<const CurveJoint> joints, bool held_root) {
  validate(joints);
  Chain out = chain_of(joints, held_root, {});
  require(!out.lost, [&] {
    return "fit: joints " + std::to_string(*out.lost) +
           " and the next have equal tangents; expected one behind the other";
  });
  return std::move(out.curve);
}

FloatingFit fit_floating(const std::vector<Vector3>& points, int elements) {
  detail::check_points(points);
  const detail::SmoothCurve curve = detail::smoothing_spline(points);
  return fit_along(curve.pieces, points, elements, curve.wobble);
}

FloatingFit fit_floating(std::span<const CubicBezier> curve, int elements) {
  constexpr int samples = 8;
  std::vector<Vector3> points;
  for (const CubicBezier& piece : curve) {
    for (int k = 0; k < samples; ++k) points.push_back(geometry::position(piece, static_cast<double>(k) / samples));
  }
  if (!curve.empty()) points.push_back(curve.back().points[3]);
  return fit_along(curve, points, elements, {});
}

}  // namespace tresse::rods
