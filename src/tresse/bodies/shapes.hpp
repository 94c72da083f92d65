#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tresse/bodies/motion.hpp>

// The kinds: a new one is included here and put into the list below.
#include <tresse/bodies/capsule.hpp>
#include <tresse/bodies/comb.hpp>
#include <tresse/bodies/cylinder.hpp>
#include <tresse/bodies/mesh.hpp>
#include <tresse/bodies/plane.hpp>
#include <tresse/bodies/ring.hpp>
#include <tresse/bodies/sphere.hpp>

namespace tresse::bodies {

/// The kinds of rigid bodies, in the order in which files and pages name them.
template <Kind... K>
struct KindList {
  using Shape = std::variant<K...>;
  static constexpr std::array<std::string_view, sizeof...(K)> words{K::word...};
};
using Kinds = KindList<Plane, Sphere, Capsule, Cylinder, Comb, Ring, Mesh>;

using Shape = Kinds::Shape;

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

/// What kind a shape is, in a scene's word.
std::string_view word(const Shape& shape);
/// The point that rotations turn about unless told otherwise. (3) [m]
Vector3 own_point(const Shape& shape);
/// What it is made of at the reference pose.
Parts parts(const Shape& shape);
/// What is drawn of its tubes.
std::vector<Bar> bars(const Shape& shape);
/// What a message calls one of its tubes, "tooth 2"; empty: it has no name.
std::string part_name(const Shape& shape, int tube);

/// The surface of what is made of one, null otherwise.
const Surface* surface_of(const Shape& shape);
/// Has a surface that changes stay as it begins.
void stop_at_start(Shape& shape);
/// Whether its keys name files, which its scene keeps.
bool is_from_file(const Shape& shape);

/// From a point to the skin of a shape where the scene has it, a mesh as it begins; negative inside. [m]
double signed_distance(const Shape& shape, const Vector3& point);
/// How far its tubes reach from a point, at most, to the accuracy of its bars. [m]
double extent(const Shape& shape, const Vector3& point);

}  // namespace tresse::bodies
