#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "render/curves.hpp"
#include "render/sampling.hpp"
#include "render/scene.hpp"

namespace tresse::render {

/// What a ray meets, in the scaled coordinates of World.
struct Hit {
  enum class Kind { fibre, strip, capsule, plane, mesh, ground };
  Kind kind = Kind::fibre;
  int index = 0;  ///< of the fibre, strips too; of the mesh; of the capsule, markers behind the scene's
  float distance = 0.0F;
  Vec3 point;
  Vec3 normal;          ///< unit, outwards; a fibre's is orthogonal to its tangent
  Vec3 tangent;         ///< unit, fibres only
  Vec3 facet;           ///< unit normal of the surface as drawn; other than `normal` on strips and meshes
  float radius = 0.0F;  ///< fibres only, as drawn
  float coverage =
      1.0F;          ///< the part of what is drawn that is there: 1 but for fibres thinner than drawn and the ground
  unsigned arc = 0;  ///< of fibres; ground_arc of the ground
};

inline constexpr unsigned ground_arc = ~0U;

/// How a ray meets fibres that are thinner than drawn, and the ground: each by chance, as often as it covers, or all of
/// them.
struct Crossing {
  std::uint32_t key = 0;                ///< of the chances, which are hashes of it and the arc
  bool all = false;                     ///< meets every one, whatever it covers
  float begin = 0.0F;                   ///< distance from which on the ray meets anything [cm]
  int passed_count = 0;                 ///< <= passed.size()
  std::array<unsigned, 8> passed = {};  ///< arcs that it does not meet
};

/// The scene as Embree sees it: single precision, moved to `origin` and scaled to centimetres, where numbers are near
/// one. Fibres are swept circles along cubic Bezier arcs, fibres of elliptic section (strips) triangles, capsules round
/// segments.
class World {
 public:
  static constexpr double scale = 100.0;  ///< [1/m]

  World(const Scene& scene, const Vector3& origin, const Thickness& thickness);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::optional<Hit> intersect(const Vec3& from, const Vec3& direction, const Crossing& crossing = {}) const;
  bool occluded(const Vec3& from, const Vec3& direction, const Crossing& crossing = {}) const;
  Vec3 to_world(const Vector3& point) const { return ((point - origin_) * scale).cast<float>(); }

 private:
  struct Data;
  std::unique_ptr<Data> data_;
  Vector3 origin_;
};

}  // namespace tresse::render
