#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "render/sampling.hpp"
#include "render/scene.hpp"

namespace tresse::render {

/// What a ray meets, in the scaled coordinates of World.
struct Hit {
  enum class Kind { fibre, strip, capsule, plane, mesh };
  Kind kind = Kind::fibre;
  int index = 0;  ///< of the fibre, strips too; of the capsule, markers behind the scene's
  float distance = 0.0F;
  Vec3 point;
  Vec3 normal;          ///< unit, outwards; a fibre's is orthogonal to its tangent
  Vec3 tangent;         ///< unit, fibres only
  Vec3 facet;           ///< unit normal of the surface as drawn; other than `normal` on strips alone
  float radius = 0.0F;  ///< fibres only
};

/// The scene as Embree sees it: single precision, moved to `origin` and scaled to centimetres, where numbers are near
/// one. Fibres are swept circles along cubic Bezier arcs, fibres of elliptic section (strips) triangles, capsules round
/// segments.
class World {
 public:
  static constexpr double scale = 100.0;  ///< [1/m]

  /// Radii below `least_radius(distance to the viewer)` are raised to it. Lengths in metres.
  struct Thickness {
    double factor = 1.0;            ///< on every radius
    Vector3 viewer = {0, 0, 0};     ///< [m]
    double radius_per_metre = 0.0;  ///< least radius of a fibre over its distance to the viewer [-]
  };

  World(const Scene& scene, const Vector3& origin, const Thickness& thickness);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::optional<Hit> intersect(const Vec3& from, const Vec3& direction) const;
  bool occluded(const Vec3& from, const Vec3& direction) const;
  Vec3 to_world(const Vector3& point) const { return ((point - origin_) * scale).cast<float>(); }

 private:
  struct Data;
  std::unique_ptr<Data> data_;
  Vector3 origin_;
};

}  // namespace tresse::render
