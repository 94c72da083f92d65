#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tresse/exporters/detail/export_source.hpp>

namespace tresse::exporters::detail {

struct TriangleMesh {
  std::vector<Vector3> points;                          ///< [m]
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< counter-clockwise seen from outside
};

/// Surface of an obstacle's capsules and planes at its reference pose: capsules, inscribed, in 24 sides; of a plane a
/// square twice as wide as everything else in the run.
TriangleMesh solid_mesh(const observe::TrajectoryLayout& layout, std::size_t obstacle, const ExportOverview& overview);

/// A mesh at its reference pose, at `time`.
TriangleMesh triangles_of(const observe::LayoutMesh& mesh, double time);

/// Surfaces of all obstacles at their reference poses, frame after frame.
class ObstacleSurfaces {
 public:
  ObstacleSurfaces(const observe::TrajectoryLayout& layout, const ExportOverview& overview);
  /// In chosen frame i. (o); the reference holds until the next call.
  const std::vector<TriangleMesh>& at(std::size_t i);

 private:
  const ExportOverview& overview_;
  std::vector<TriangleMesh> surfaces_;
  struct Moving {
    observe::LayoutMesh mesh;
    std::size_t first_point;  ///< in its obstacle's surface
  };
  std::vector<Moving> moving_;
};

/// The corners of a plane's square, at the reference pose.
std::array<Vector3, 4> plane_corners(const observe::TrajectoryLayout& layout, std::size_t plane,
                                     const ExportOverview& overview);

/// Two unit vectors that make a right-handed frame with a unit `axis` as its third.
std::array<Vector3, 2> across(const Vector3& axis);

}  // namespace tresse::exporters::detail
