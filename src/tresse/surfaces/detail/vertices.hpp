#pragma once

#include <array>
#include <cstddef>

#include <tresse/geometry/triangle_mesh.hpp>
#include <tresse/surfaces/cloth_shape.hpp>
#include <tresse/surfaces/detail/hinge_angle.hpp>

/// The vertices of a cloth in one vector (3n).
namespace tresse::surfaces::detail {

inline std::size_t index(int i) { return static_cast<std::size_t>(i); }

inline Vector3 place(const VectorX& x, int vertex) { return x.segment<3>(3 * vertex); }

inline std::array<Vector3, 3> corners(const VectorX& x, const geometry::Face& face) {
  return {place(x, face[0]), place(x, face[1]), place(x, face[2])};
}

inline HingePoints points(const VectorX& x, const Hinge& hinge) {
  const auto& v = hinge.vertices;
  return {place(x, v[0]), place(x, v[1]), place(x, v[2]), place(x, v[3])};
}

/// Elements that a thread works through at once.
inline constexpr int elements_a_block = 256;

}  // namespace tresse::surfaces::detail
