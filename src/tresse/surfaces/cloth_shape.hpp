#pragma once

#include <array>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/geometry/triangle_mesh.hpp>

namespace tresse::surfaces {

/// A cloth that no force acts on: triangles over vertices, and the direction of the warp. docs/theory/cloth.md
struct ClothShape {
  std::vector<Vector3> vertices;      ///< (n)(3) [m]
  std::vector<geometry::Face> faces;  ///< (f) counterclockwise seen from above
  std::vector<Vector3> warp;          ///< (f)(3) along the warp; only its part in the plane of the face counts [-]
};

/// A rectangle in the plane z = 0 from the origin along +x and +y, the warp along x: rows of vertices along x, every
/// second one shifted by half a cell and with one vertex more. Triangles are equilateral where cells[1] rows are
/// 2 / sqrt(3) as dense as the cells along x. Throws InvalidInput unless sides and counts are positive.
ClothShape rectangle(double length, double width, const std::array<int, 2>& cells);

/// A disc in the plane z = 0 around the origin, the warp along x: rings of 6, 12, 18, ... vertices around the middle.
/// Throws InvalidInput unless the radius and the number of rings are positive.
ClothShape disc(double radius, int rings);

/// The side of a cone that is cut off, around the z axis from z = 0 with the radius `low` to z = `height` with `high`,
/// counterclockwise seen from outside; the warp along its lines. `cells`: around, and along, every second ring turned
/// by half a cell. Throws InvalidInput unless the sizes are positive, with three cells around at least.
ClothShape sleeve(double low, double high, double height, const std::array<int, 2>& cells);

/// Triangles of any surface. Of each the warp is the direction in its plane that is nearest to `warp`; where that is
/// across it, any. Throws InvalidInput for an index out of range.
ClothShape sheet(std::vector<Vector3> vertices, std::vector<geometry::Face> faces, const Vector3& warp);

/// Two faces that share an edge.
struct Hinge {
  std::array<int, 4> vertices;  ///< the edge's two, then the corner of each face that is across from it
};

/// The edges with a face on each side, in the order of the faces; `faces` must agree on which side is above. Throws
/// InvalidInput where an edge has more than two faces, or two that run through it the same way.
std::vector<Hinge> hinges(const std::vector<geometry::Face>& faces);

}  // namespace tresse::surfaces
