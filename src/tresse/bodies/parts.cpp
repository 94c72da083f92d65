#include <tresse/bodies/parts.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include <tresse/geometry/closest_points.hpp>

namespace tresse::bodies {
namespace {

double distance_to(const geometry::Curve& axis, const Vector3& point) {
  if (const auto* segment = std::get_if<geometry::LineSegment>(&axis)) {
    const Vector3 along = segment->to - segment->from;
    const double length2 = along.squaredNorm();
    const double share = length2 > 0.0 ? std::clamp((point - segment->from).dot(along) / length2, 0.0, 1.0) : 0.0;
    return (point - segment->from - share * along).norm();
  }
  constexpr int most_boxes = 500;  // on a circle's axis all of it is as near
  return geometry::closest_points(geometry::LineSegment{point, point}, {}, axis, geometry::domain(axis),
                                  {.max_steps = most_boxes})
      .distance;
}

}  // namespace

std::vector<Bar> bars(const Tube& tube) {
  if (const auto* segment = std::get_if<geometry::LineSegment>(&tube.axis))
    return {{segment->from, segment->to, tube.radius}};
  constexpr double sagitta = 1e-3;  // of the radius of curvature
  const geometry::PreparedCurve curve = geometry::prepare(tube.axis);
  const geometry::Interval whole = geometry::domain(curve);
  const double turn = geometry::second_derivative_bound(curve, whole) * whole.end;
  const int count = std::max(1, static_cast<int>(std::ceil(turn / std::sqrt(8.0 * sagitta))));
  std::vector<Bar> out;
  Vector3 from = geometry::position(curve, 0.0);
  for (int i = 1; i <= count; ++i) {
    const Vector3 to = geometry::position(curve, whole.end * i / count);
    out.push_back({from, to, tube.radius});
    from = to;
  }
  return out;
}

double signed_distance(const Parts& parts, const Vector3& point) {
  double out = std::numeric_limits<double>::infinity();
  for (const HalfSpace& plane : parts.planes) out = std::min(out, plane.normal.dot(point - plane.point));
  for (const Shell& shell : parts.shells)
    out = std::min(out, geometry::signed_distance(*shell.surface->first, point) - shell.thickness);
  for (const Tube& tube : parts.tubes) out = std::min(out, distance_to(tube.axis, point) - tube.radius);
  return out;
}

}  // namespace tresse::bodies
