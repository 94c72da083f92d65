#include <tresse/fluid/stokeslet_segments.hpp>

#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::fluid {
namespace {

/// L R + w without cancellation, w = x_a . (begin - end): its product with L R - w is `square`, L^2 times the squared
/// distance to the axis and epsilon^2 together.
double safe_sum(double length_times_distance, double w, double square) {
  return w >= 0.0 ? length_times_distance + w : square / (length_times_distance - w);
}

/// As the paper gives them, (18) to (24). Each of the later ones is a difference of terms that are larger by a power of
/// distance over length.
SegmentIntegrals in_closed_form(const Vector3& x0, const Vector3& v, double epsilon) {
  const Vector3 x1 = x0 + v;
  const double length_squared = v.squaredNorm();
  const double length = std::sqrt(length_squared);
  const double w0 = x0.dot(v), w1 = x1.dot(v);
  const double r0 = std::sqrt(x0.squaredNorm() + epsilon * epsilon);
  const double r1 = std::sqrt(x1.squaredNorm() + epsilon * epsilon);
  const double square = x0.cross(v).squaredNorm() + length_squared * epsilon * epsilon;
  const double sum0 = safe_sum(length * r0, w0, square), sum1 = safe_sum(length * r1, w1, square);
  SegmentIntegrals out;
  out.t01 = std::log(sum1 / sum0) / length;
  out.t03 = 1.0 / (r0 * sum0) - 1.0 / (r1 * sum1);
  // r1 - r0, whose squares differ by w0 + w1
  out.t11 = ((w0 + w1) / (r0 + r1) - w0 * out.t01) / length_squared;
  out.t13 = ((w0 + w1) / (r0 * r1 * (r0 + r1)) - w0 * out.t03) / length_squared;
  out.t23 = (-1.0 / r1 + out.t01 - w0 * out.t13) / length_squared;
  out.t33 = (-1.0 / r1 + 2.0 * out.t11 - w0 * out.t23) / length_squared;
  return out;
}

SegmentIntegrals by_gauss(const Vector3& x0, const Vector3& v, double epsilon, int points) {
  const math::GaussRule& rule = math::gauss_legendre(points);
  SegmentIntegrals out;
  for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
    const double a = rule.nodes[k];
    const double inverse = 1.0 / std::sqrt((x0 + a * v).squaredNorm() + epsilon * epsilon);
    const double first = rule.weights[k] * inverse, third = first * inverse * inverse;
    out.t01 += first;
    out.t11 += a * first;
    out.t03 += third;
    out.t13 += a * third;
    out.t23 += a * a * third;
    out.t33 += a * a * a * third;
  }
  return out;
}

}  // namespace

SegmentIntegrals segment_integrals(const Segment& segment, const Vector3& x, double epsilon) {
  const Vector3 v = segment.begin - segment.end;
  const Vector3 x0 = x - segment.begin;
  // The integrands' poles are at the distance from the segment's middle, which tells how fast Gauss's rule converges:
  // its error is below 1e-14 from here on.
  constexpr double near = 1.2;  // lengths from its middle
  constexpr int points = 12;
  const double length_squared = v.squaredNorm();
  const double distance_squared = (x0 + 0.5 * v).squaredNorm() + epsilon * epsilon;
  if (distance_squared < near * near * length_squared) return in_closed_form(x0, v, epsilon);
  return by_gauss(x0, v, epsilon, points);
}

SegmentInfluence segment_influence(const Segment& segment, const Vector3& x, double epsilon) {
  const SegmentIntegrals t = segment_integrals(segment, x, epsilon);
  const Vector3 v = segment.begin - segment.end;
  const Vector3 x0 = x - segment.begin;
  const double e2 = epsilon * epsilon;
  const Matrix3 own = x0 * x0.transpose();
  const Matrix3 mixed = x0 * v.transpose() + v * x0.transpose();
  const Matrix3 along = v * v.transpose();
  const double length = v.norm();
  SegmentInfluence out;
  out.from_end = (t.t11 + e2 * t.t13) * Matrix3::Identity() + t.t13 * own + t.t23 * mixed + t.t33 * along;
  out.from_begin =
      (t.t01 + e2 * t.t03) * Matrix3::Identity() + t.t03 * own + t.t13 * mixed + t.t23 * along - out.from_end;
  out.from_end *= length;
  out.from_begin *= length;
  return out;
}

std::vector<Vector3> velocity(const std::vector<Segment>& segments, const std::vector<Vector3>& f_begin,
                              const std::vector<Vector3>& f_end, double epsilon, double viscosity,
                              const std::vector<Vector3>& points) {
  std::vector<Vector3> out(points.size());
  constexpr std::size_t block = 16;
  for_blocks(points.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vector3 sum = Vector3::Zero();
      for (std::size_t k = 0; k < segments.size(); ++k) {
        const SegmentInfluence influence = segment_influence(segments[k], points[i], epsilon);
        sum += influence.from_begin * f_begin[k] + influence.from_end * f_end[k];
      }
      out[i] = sum / (8.0 * std::numbers::pi * viscosity);
    }
  });
  return out;
}

}  // namespace tresse::fluid
