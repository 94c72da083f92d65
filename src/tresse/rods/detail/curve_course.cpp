#include <tresse/rods/detail/curve_course.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/math/vectors.hpp>

namespace tresse::rods::detail {
namespace {

/// At the points between the ends, about the axis of each. [rad]
std::vector<Vector3> turns_of(std::span<const Vector3> points) {
  std::vector<Vector3> out;
  for (std::size_t j = 1; j + 1 < points.size(); ++j) {
    const Vector3 before = points[j] - points[j - 1], after = points[j + 1] - points[j];
    const Vector3 axis = before.cross(after);
    out.emplace_back(std::atan2(axis.norm(), before.dot(after)) * math::safe_normalized(axis));
  }
  return out;
}

}  // namespace

Course course_of(std::span<const Vector3> points, const CurveModel& model, const CurveState& state, double near) {
  constexpr double fewest = 32.0, most = 128.0;  // samples between two feet
  constexpr double bulge = 0.3;                  // of the chord, of an arc of a third of a circle
  Course out;
  CurveWalk walk(model, state.shape);
  for (std::size_t j = 0; j + 1 < points.size(); ++j) {
    const Vector3 segment = points[j + 1] - points[j];
    const auto k = static_cast<Eigen::Index>(j);
    const double ends = std::max(state.error.col(k).norm(), state.error.col(k + 1).norm());
    // A curve that is longer than its segment bends more between two samples.
    const double longer = state.shape.length * (state.at[j + 1] - state.at[j]) / segment.norm();
    const int samples = static_cast<int>(std::clamp(fewest * longer * longer, fewest, most));
    double share = 0.0, farthest = 0.0;
    for (int i = 1; i < samples; ++i) {
      walk.advance(state.at[j] + i * (state.at[j + 1] - state.at[j]) / samples);
      const Vector3 from = walk.pose().position - points[j];
      share = std::clamp(from.dot(segment) / segment.squaredNorm(), share, 1.0);
      farthest = std::max(farthest, (from - share * segment).norm());
    }
    out.deviation = std::max({out.deviation, ends, farthest});
    out.strays = out.strays || farthest > ends + near + bulge * segment.norm();
  }
  return out;
}

bool has_corners(std::span<const Vector3> points) {
  constexpr double sharp = 1.6, slight = 0.7;  // [rad]
  const std::vector<Vector3> turns = turns_of(points);
  for (std::size_t j = 0; j < turns.size(); ++j) {
    const double turn = turns[j].norm();
    const double before = j > 0 ? turns[j - 1].norm() : 0.0, after = j + 1 < turns.size() ? turns[j + 1].norm() : 0.0;
    if (turn > sharp || (turns.size() > 1 && turn > slight && turn > 2.0 * std::max(before, after))) return true;
  }
  return false;
}

bool turns_like_noise(std::span<const Vector3> points) {
  // Of the changes of the turns, one with the next: -3/4 for white noise, -1/2 for turns by chance, above zero where
  // turns grow and fall over several points.
  constexpr double correlation = -0.3;
  const std::vector<Vector3> turns = turns_of(points);
  double product = 0.0, square = 0.0;
  for (std::size_t j = 2; j < turns.size(); ++j) {
    const Vector3 before = turns[j - 1] - turns[j - 2], after = turns[j] - turns[j - 1];
    product += before.dot(after);
    square += 0.5 * (before.squaredNorm() + after.squaredNorm());
  }
  return product < correlation * square;
}

}  // namespace tresse::rods::detail
