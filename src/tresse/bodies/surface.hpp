#pragma once

#include <memory>
#include <vector>

#include <tresse/geometry/triangle_mesh.hpp>

namespace tresse::bodies {

/// Triangles whose vertices stand still or go from frame to frame: linearly in between, at rest before the first (at
/// time zero) and after the last.
struct Surface {
  std::shared_ptr<const geometry::MeshTopology> topology;
  std::vector<std::vector<Vector3>> frames;             ///< (frames >= 1)(vertices)(3) [m]
  double rate = 1.0;                                    ///< frames per second; > 0 [Hz]
  std::shared_ptr<const geometry::TriangleMesh> first;  ///< the first frame with its boxes

  /// Throws InvalidInput for a topology that does not fit.
  Surface(std::shared_ptr<const geometry::MeshTopology> of, std::vector<std::vector<Vector3>> places,
          double frame_rate);
  bool moves() const { return frames.size() > 1; }
  double length() const { return static_cast<double>(frames.size() - 1) / rate; }  ///< of the animation [s]
  Vector3 vertex(int index, double time) const;                                    ///< (3) [m]
};

/// The surface at `time`; what stands still is shared.
std::shared_ptr<const geometry::TriangleMesh> surface_at(const Surface& surface, double time);

}  // namespace tresse::bodies
