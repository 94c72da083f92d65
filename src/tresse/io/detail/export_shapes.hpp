#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tresse/io/detail/export_source.hpp>

namespace tresse::io::detail {

struct TriangleMesh {
  std::vector<Vector3> points;                          ///< [m]
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< counter-clockwise seen from outside
};

/// Surface of an obstacle at its reference pose: its capsules, inscribed, in 24 sides; of a plane a square twice as
/// wide as everything else in the run.
TriangleMesh obstacle_mesh(const TrajectoryLayout& layout, std::size_t obstacle, const ExportOverview& overview);

/// The corners of a plane's square, at the reference pose.
std::array<Vector3, 4> plane_corners(const TrajectoryLayout& layout, std::size_t plane, const ExportOverview& overview);

/// Two unit vectors that make a right-handed frame with a unit `axis` as its third.
std::array<Vector3, 2> across(const Vector3& axis);

}  // namespace tresse::io::detail
