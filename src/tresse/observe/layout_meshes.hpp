#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tresse/observe/frame.hpp>

/// The meshes of a trajectory one by one, and where their vertices are at a time.
namespace tresse::observe {

/// A mesh within the arrays of a valid layout, which must outlive it.
struct LayoutMesh {
  std::size_t obstacle = 0;            ///< index in obstacle_names
  std::size_t vertices = 0;            ///< how many
  std::size_t keys = 1;                ///< frames of its animation; 1: its vertices stand still
  double rate = 1.0;                   ///< frames of its animation per second, the first at time zero [Hz]
  std::span<const double> places;      ///< (keys, vertices, 3) at the reference pose [m]
  std::span<const std::int32_t> face;  ///< (faces, 3) vertices of the mesh, counterclockwise seen from outside

  bool moves() const { return keys > 1; }
  std::size_t faces() const { return face.size() / 3; }
  Vector3 vertex(std::size_t key, std::size_t index) const {
    const double* x = places.data() + 3 * (key * vertices + index);
    return {x[0], x[1], x[2]};
  }
};

std::vector<LayoutMesh> meshes_of(const TrajectoryLayout& layout);

/// Which of a mesh's key frames a time falls between.
struct MeshTime {
  std::size_t before = 0;
  std::size_t after = 0;  ///< `before` where the weight is 0
  double weight = 0.0;    ///< of `after`, 0 <= weight < 1
};
/// At rest before the first key and after the last; for a time that is not a number too.
MeshTime time_of(const LayoutMesh& mesh, double time);

/// Where the vertices are at the reference pose, linear between two keys. (vertices)(3) [m]
std::vector<Vector3> vertices_at(const LayoutMesh& mesh, double time);

}  // namespace tresse::observe
