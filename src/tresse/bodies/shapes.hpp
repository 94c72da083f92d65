#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tresse/bodies/motion.hpp>
#include <tresse/geometry/triangle_mesh.hpp>

namespace tresse::bodies {

/// Solid half-space on the side away from the unit normal.
struct Plane {
  Vector3 point;   ///< (3) [m]
  Vector3 normal;  ///< unit (3) [-]
};

struct Sphere {
  Vector3 center;       ///< (3) [m]
  double radius = 0.0;  ///< > 0 [m]
};

/// Points within `radius` of a segment.
struct Capsule {
  Vector3 from;         ///< (3) [m]
  Vector3 to;           ///< (3) [m]
  double radius = 0.0;  ///< > 0 [m]
};

/// Round bar; its ends are rounded like a capsule's, outside `length`.
struct Cylinder {
  Vector3 center;       ///< (3) [m]
  Vector3 axis;         ///< unit (3) [-]
  double radius = 0.0;  ///< > 0 [m]
  double length = 0.0;  ///< > 0 [m]
};

/// Capsule teeth in a row and a capsule handle that joins their bases. @cite crespel2024 sec. 6.1
struct Comb {
  Vector3 base;                    ///< middle of the row of tooth bases, on the handle's axis (3) [m]
  Vector3 tooth_direction;         ///< unit, from base to tip (3) [-]
  Vector3 row_direction;           ///< unit, orthogonal to tooth_direction (3) [-]
  int teeth = 10;                  ///< >= 1
  double tooth_diameter = 1.1e-3;  ///< > 0 [m]
  double tooth_spacing = 1.2e-3;   ///< clear space between neighbouring teeth; > 0 [m]
  double tooth_length = 0.02;      ///< axis of the handle to tip; > 0 [m]
  double handle_diameter = 4e-3;   ///< > 0 [m]
};

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

/// A surface that fibres do not pass. A closed one is solid, an open one has two sides.
struct Mesh {
  std::shared_ptr<const Surface> surface;
  double thickness = 0.0;  ///< added on every side; >= 0 [m]
};

using Shape = std::variant<Plane, Sphere, Capsule, Cylinder, Comb, Mesh>;

/// A rigid body: its motion is prescribed, or, with a mass, found with everything else.
struct Obstacle {
  std::string name;                     ///< unique in a scene
  std::string material_name;            ///< key of the friction table
  Shape shape;                          ///< at the reference pose
  Vector3 reference = Vector3::Zero();  ///< point that rotations turn about (3) [m]
  Motion motion;                        ///< of a body without mass
  double mass = 0.0;                    ///< > 0: free; the reference is then the centre of mass [kg]
  Twist velocity = {};                  ///< of a free body at time zero
};

/// The capsules that a shape is made of: a sphere is one of zero length, a comb is its handle followed by its teeth.
/// Empty for a plane and a mesh.
std::vector<Capsule> capsules(const Shape& shape);

/// From a point to the skin of a shape where the scene has it, a mesh as it begins; negative inside. [m]
double signed_distance(const Shape& shape, const Vector3& point);

/// The surface at `time`; what stands still is shared.
std::shared_ptr<const geometry::TriangleMesh> surface_at(const Surface& surface, double time);

}  // namespace tresse::bodies
