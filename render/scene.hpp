#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/bodies/shapes.hpp>

/// Pictures of fibres and obstacles by path tracing.
namespace tresse::render {

/// A centreline with its tangents: drawn as one cubic Hermite arc per interval, so that it passes through every point
/// with that point's tangent. With half-axes it is drawn as a tube of elliptic section, in flat triangles that are
/// shaded smooth: ribbons and sheets.
struct Fibre {
  Matrix3X points;       ///< (3, n >= 2) [m]
  Matrix3X tangents;     ///< (3, n) unit, or (3, 0): central differences of the points
  VectorX radii;         ///< (n) > 0 [m]
  Matrix3X half_axis_1;  ///< (3, n) of an elliptic section [m], or (3, 0): round; then tangents must be given
  Matrix3X half_axis_2;  ///< (3, n) orthogonal to half_axis_1 and to the tangent, or (3, 0)
  int group = 0;         ///< whose look it has; >= 0
};

/// A solid that stands for something else, such as a force: drawn in its colour, ignored by the automatic framing.
struct Marker {
  bodies::Bar shape;
  Eigen::Array3f color = {0.5F, 0.5F, 0.5F};  ///< albedo; in [0, 1]
};

/// A surface of triangles, drawn from both sides, shaded smooth but for edges that turn by more than 40 degrees.
struct Mesh {
  std::vector<Vector3> vertices;          ///< [m]
  std::vector<std::array<int, 3>> faces;  ///< indices of vertices
  int obstacle = 0;                       ///< whose look it has; >= 0
};

/// What everything stands on and throws its shadow on: fades away towards its rim, and is not there from below.
struct Ground {
  Vector3 point;        ///< its middle [m]
  Vector3 normal;       ///< unit
  double radius = 1.0;  ///< > 0 [m]
};

/// What stands in front of the camera, apart from any file's layout.
struct Scene {
  std::vector<Fibre> fibres;
  std::vector<bodies::Bar> capsules;
  std::vector<int> capsule_obstacle;  ///< (capsules) whose look each has, or (0): that of obstacle 0
  std::vector<Marker> markers;
  std::vector<bodies::HalfSpace> planes;
  std::vector<int> plane_obstacle;  ///< (planes) or (0), as for capsules
  std::vector<Mesh> meshes;
  std::optional<Ground> ground;
  std::vector<Vector3> contacts;  ///< points where fibres touch obstacles; only the automatic framing looks at them [m]
};

/// Throws InvalidInput naming the fibre or solid whose numbers cannot be drawn; also when there is nothing to draw.
void validate(const Scene& scene);

}  // namespace tresse::render
