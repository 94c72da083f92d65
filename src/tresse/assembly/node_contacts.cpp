#include <tresse/assembly/node_contacts.hpp>

#include <algorithm>
#include <cmath>
#include <variant>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::assembly {
namespace {

/// The point of a curve nearest to another, if it is nearer than `within`.
bool nearest_on_curve(const geometry::Curve& axis, const Vector3& at, double within, Vector3& out) {
  if (const auto* segment = std::get_if<geometry::LineSegment>(&axis)) {
    const Vector3 along = segment->to - segment->from;
    const double length2 = along.squaredNorm();
    const double share = length2 > 0.0 ? std::clamp((at - segment->from).dot(along) / length2, 0.0, 1.0) : 0.0;
    out = segment->from + share * along;
    return (at - out).squaredNorm() < within * within;
  }
  const geometry::ClosestPoints found = geometry::closest_points(geometry::LineSegment{at, at}, {}, axis,
                                                                 geometry::domain(axis), {.upper_bound = within});
  if (!found.found) return false;
  out = geometry::position(axis, found.s_b);
  return true;
}

/// Of a mesh that two sides of may be touched.
Vector3 face_normal(const geometry::TriangleMesh& mesh, int face) {
  return geometry::triangle_normal(mesh.corners(face));
}

}  // namespace

NodeObstacles::NodeObstacles(const World& world, double time, double dt) : time_(time), dt_(dt) {
  for (int k = 0; k < static_cast<int>(world.obstacles.size()); ++k) {
    const bodies::Obstacle& obstacle = world.obstacles[static_cast<std::size_t>(k)];
    now_.push_back(obstacle_pose(obstacle, time));
    next_.push_back(obstacle_pose(obstacle, time + dt));
    Placed& placed = placed_.emplace_back();
    if (free_body_of(world, k) >= 0) continue;
    const Pose& pose = now_.back();
    const bodies::Parts parts = bodies::parts(obstacle.shape);
    for (const bodies::HalfSpace& plane : parts.planes)
      placed.planes.push_back({moved(obstacle, pose, plane.point), pose.frame * plane.normal});
    for (const bodies::Tube& tube : parts.tubes) {
      const geometry::Curve axis = moved(obstacle, pose, tube.axis);
      const geometry::Interval whole = geometry::domain(axis);
      const double half = 0.5 * (whole.end - whole.begin);
      placed.tubes.push_back({axis, geometry::position(axis, whole.begin + half), half + tube.radius, tube.radius,
                              static_cast<int>(placed.tubes.size())});
    }
    placed.axes = {moved(obstacle, pose, Vector3::Zero()), pose.frame};
    for (const bodies::Shell& shell : parts.shells) {
      placed.shells.push_back(shell);
      placed.meshes.push_back(bodies::surface_at(*shell.surface, time));
    }
  }
}

/// Of material that moves rigidly with the obstacle.
Vector3 NodeObstacles::velocity_at(std::size_t obstacle, const Vector3& place) const {
  const Pose &now = now_[obstacle], &next = next_[obstacle];
  const Vector3 own = now.frame.transpose() * (place - now.position);
  return (next.position - now.position + (next.frame - now.frame) * own) / dt_;
}

void NodeObstacles::offer_mesh(std::size_t obstacle, std::size_t shell, const Vector3& at, double& within,
                               NodeContact& out) const {
  const Placed& placed = placed_[obstacle];
  const geometry::TriangleMesh& mesh = *placed.meshes[shell];
  const double thickness = placed.shells[shell].thickness;
  const Vector3 own = placed.axes.frame.transpose() * (at - placed.axes.position);
  const geometry::Box& box = mesh.boxes.front();
  const bool closed = mesh.topology->closed();
  const bool far = (own - own.cwiseMax(box.lower).cwiseMin(box.upper)).norm() > std::max(0.0, within) + thickness;
  if (far) return;
  const bool inside = closed && geometry::is_inside(mesh, own);
  // Inside a solid the way out counts, however far it is.
  const double reach = inside ? std::numeric_limits<double>::infinity() : std::max(0.0, within) + thickness;
  const geometry::MeshPoint found = geometry::nearest_on_mesh(mesh, own, reach);
  if (found.face < 0) return;
  const double distance = inside ? -found.at.distance : found.at.distance;
  if (!(distance - thickness < within)) return;
  constexpr double touching = 1e-9;  // of the edges: below it the direction is rounding
  const std::array<Vector3, 3> corners = mesh.corners(found.face);
  const Vector3 of_face = face_normal(mesh, found.face);
  Vector3 normal = inside ? Vector3(found.at.point - own) : Vector3(own - found.at.point);
  if (found.at.inside() == 3 || found.at.distance < touching * (corners[1] - corners[0]).norm())
    normal = closed || of_face.dot(own - corners[0]) >= 0.0 ? of_face : Vector3(-of_face);
  within = distance - thickness;
  out.part = found.face;
  out.normal = placed.axes.frame * math::safe_normalized(normal);
  out.place = placed.axes.position + placed.axes.frame * found.at.point + thickness * out.normal;
  out.velocity = velocity_at(obstacle, out.place);
  const bodies::Surface& surface = *placed.shells[shell].surface;
  if (!surface.moves()) return;
  const geometry::Face& face = mesh.topology->faces()[static_cast<std::size_t>(found.face)];
  Vector3 change = Vector3::Zero();
  for (std::size_t k = 0; k < 3; ++k)
    change += found.at.weights[static_cast<Eigen::Index>(k)] * (surface.vertex(face[k], time_ + dt_) - corners[k]);
  out.velocity += next_[obstacle].frame * change / dt_;
}

/// Whether something of the obstacle is nearer to a point than `within`, of its skin; the nearest.
bool NodeObstacles::nearest(std::size_t obstacle, const Vector3& at, double within, NodeContact& out) const {
  const Placed& placed = placed_[obstacle];
  const double wanted = within;
  for (const bodies::HalfSpace& plane : placed.planes) {
    const double height = plane.normal.dot(at - plane.point);
    if (!(height < within)) continue;
    within = height;
    out.part = -1;
    out.normal = plane.normal;
    out.place = at - height * plane.normal;
    out.velocity = velocity_at(obstacle, out.place);
  }
  for (const Tube& tube : placed.tubes) {
    const double near = within + tube.radius;
    Vector3 foot;
    if ((at - tube.middle).squaredNorm() > std::pow(std::max(0.0, within) + tube.extent, 2)) continue;
    if (!(near > 0.0) || !nearest_on_curve(tube.axis, at, near, foot)) continue;
    within = (at - foot).norm() - tube.radius;
    out.part = tube.part;
    out.normal = math::safe_normalized(Vector3(at - foot));
    if (out.normal.isZero(0.0)) out.normal = Vector3::UnitZ();
    out.place = foot + tube.radius * out.normal;
    out.velocity = velocity_at(obstacle, out.place);
  }
  for (std::size_t shell = 0; shell < placed.shells.size(); ++shell) offer_mesh(obstacle, shell, at, within, out);
  out.gap = within;
  return within < wanted;
}

std::vector<NodeContact> NodeObstacles::find(const VectorX& points, const VectorX& reach, double radius) const {
  constexpr Eigen::Index few_points = 128;  // of a task
  const Eigen::Index count = points.size() / 3;
  std::vector<std::vector<NodeContact>> parts(static_cast<std::size_t>((count + few_points - 1) / few_points));
  for_blocks(count, few_points, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) {
    std::vector<NodeContact>& found = parts[static_cast<std::size_t>(k)];
    for (Eigen::Index i = begin; i < end; ++i) {
      const std::size_t first = found.size();
      for (std::size_t obstacle = 0; obstacle < placed_.size(); ++obstacle) {
        NodeContact one;
        if (!nearest(obstacle, points.segment<3>(3 * i), reach[i] + radius, one)) continue;
        one.node = static_cast<int>(i);
        one.obstacle = static_cast<int>(obstacle);
        one.gap -= radius;
        found.push_back(one);
      }
      std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                       [](const NodeContact& a, const NodeContact& b) { return a.gap < b.gap; });
    }
  });
  return tresse::joined(parts);
}

}  // namespace tresse::assembly
