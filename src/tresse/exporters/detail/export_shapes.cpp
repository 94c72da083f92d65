#include <tresse/exporters/detail/export_shapes.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/math/vectors.hpp>

namespace tresse::exporters::detail {
namespace {

constexpr std::uint32_t sides = 24;
constexpr int cap_rings = sides / 4;  ///< from the equator to next to the pole

/// Joins two rings of `sides` points, the first of which begin at `below` and `above`.
void join(TriangleMesh& mesh, std::uint32_t below, std::uint32_t above) {
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t next = (i + 1) % sides;
    mesh.triangles.push_back({below + i, below + next, above + next});
    mesh.triangles.push_back({below + i, above + next, above + i});
  }
}

void add_capsule(TriangleMesh& mesh, const Vector3& from, const Vector3& to, double radius) {
  Vector3 axis = math::safe_normalized(to - from);
  const bool ball = axis.isZero();
  if (ball) axis = Vector3::UnitZ();
  const auto [u, v] = across(axis);
  const auto first = static_cast<std::uint32_t>(mesh.points.size());
  const auto add_ring = [&, u = u, v = v](const Vector3& center, double latitude) {
    for (std::uint32_t i = 0; i < sides; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / sides;
      const Vector3 out = std::cos(angle) * u + std::sin(angle) * v;
      mesh.points.emplace_back(center + radius * (std::cos(latitude) * out + std::sin(latitude) * axis));
    }
  };
  constexpr double step = 0.5 * std::numbers::pi / cap_rings;
  for (int i = -cap_rings + 1; i <= 0; ++i) add_ring(from, i * step);
  for (int i = ball ? 1 : 0; i < cap_rings; ++i) add_ring(to, i * step);
  const std::uint32_t rings = 2 * cap_rings - (ball ? 1 : 0);
  for (std::uint32_t i = 0; i + 1 < rings; ++i) join(mesh, first + i * sides, first + (i + 1) * sides);
  const std::uint32_t bottom = first + rings * sides;
  mesh.points.emplace_back(from - radius * axis);
  mesh.points.emplace_back(to + radius * axis);
  for (std::uint32_t i = 0; i < sides; ++i) {
    const std::uint32_t next = (i + 1) % sides, last = bottom - sides;
    mesh.triangles.push_back({bottom, first + next, first + i});
    mesh.triangles.push_back({bottom + 1, last + i, last + next});
  }
}

}  // namespace

std::array<Vector3, 2> across(const Vector3& axis) {
  const Vector3 u = axis.unitOrthogonal();
  return {u, axis.cross(u)};
}

std::array<Vector3, 4> plane_corners(const observe::TrajectoryLayout& layout, std::size_t plane,
                                     const ExportOverview& overview) {
  const Pose& pose = overview.obstacles.front()[static_cast<std::size_t>(layout.plane_obstacle[plane])];
  const Vector3 normal = observe::vector_at(layout.plane_normal, plane),
                point = observe::vector_at(layout.plane_point, plane);
  const geometry::Box& box = overview.extent;
  const Vector3 middle = pose.frame.transpose() * (0.5 * (box.lower + box.upper) - pose.position);
  const Vector3 foot = middle - normal.dot(middle - point) * normal;
  const double half = (box.upper - box.lower).norm();
  const auto [u, v] = across(normal);
  return {foot - half * u - half * v, foot + half * u - half * v, foot + half * u + half * v,
          foot - half * u + half * v};
}

TriangleMesh solid_mesh(const observe::TrajectoryLayout& layout, std::size_t obstacle, const ExportOverview& overview) {
  TriangleMesh out;
  for (std::size_t c = 0; c < layout.capsule_radius.size(); ++c) {
    if (static_cast<std::size_t>(layout.capsule_obstacle[c]) != obstacle) continue;
    add_capsule(out, observe::vector_at(layout.capsule_from, c), observe::vector_at(layout.capsule_to, c),
                layout.capsule_radius[c]);
  }
  for (std::size_t q = 0; q < layout.plane_obstacle.size(); ++q) {
    if (static_cast<std::size_t>(layout.plane_obstacle[q]) != obstacle) continue;
    const auto first = static_cast<std::uint32_t>(out.points.size());
    for (const Vector3& corner : plane_corners(layout, q, overview)) out.points.push_back(corner);
    out.triangles.push_back({first, first + 1, first + 2});
    out.triangles.push_back({first, first + 2, first + 3});
  }
  return out;
}

TriangleMesh triangles_of(const observe::LayoutMesh& mesh, double time) {
  TriangleMesh out{.points = observe::vertices_at(mesh, time), .triangles = {}};
  const auto corner = [&](std::size_t k) { return static_cast<std::uint32_t>(mesh.face[k]); };
  for (std::size_t k = 0; k < mesh.face.size(); k += 3)
    out.triangles.push_back({corner(k), corner(k + 1), corner(k + 2)});
  return out;
}

ObstacleSurfaces::ObstacleSurfaces(const observe::TrajectoryLayout& layout, const ExportOverview& overview)
    : overview_(overview) {
  for (std::size_t o = 0; o < layout.obstacle_count(); ++o) surfaces_.push_back(solid_mesh(layout, o, overview));
  for (const observe::LayoutMesh& mesh : observe::meshes_of(layout)) {
    TriangleMesh& into = surfaces_[mesh.obstacle];
    const TriangleMesh more = triangles_of(mesh, overview.times.front());
    const auto first = static_cast<std::uint32_t>(into.points.size());
    if (mesh.moves()) moving_.push_back({mesh, first});
    into.points.insert(into.points.end(), more.points.begin(), more.points.end());
    for (const auto& [a, b, c] : more.triangles) into.triangles.push_back({first + a, first + b, first + c});
  }
}

const std::vector<TriangleMesh>& ObstacleSurfaces::at(std::size_t i) {
  for (const auto& [mesh, first] : moving_) {
    const std::vector<Vector3> places = observe::vertices_at(mesh, overview_.times[i]);
    std::ranges::copy(places, surfaces_[mesh.obstacle].points.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return surfaces_;
}

}  // namespace tresse::exporters::detail
