#pragma once

#include <memory>
#include <vector>

#include <tresse/assembly/world.hpp>
#include <tresse/contact/pieces.hpp>

namespace tresse::assembly {

/// Where the bodies of a world are and how they move: a rod for every fibre, in some state, and the free bodies. The
/// world must outlive it. Rods may be updated by several threads, each its own.
class Kinematics {
 public:
  /// Rods in their natural shapes with their roots at the origin, free bodies where they start.
  explicit Kinematics(const World& world);
  Kinematics(const Kinematics& other);
  Kinematics(Kinematics&&) noexcept = default;
  Kinematics& operator=(const Kinematics& other) { return *this = Kinematics(other); }
  Kinematics& operator=(Kinematics&&) noexcept = default;
  ~Kinematics() = default;

  const World& world() const { return *world_; }
  rods::Rod& rod(int fibre) { return *rods_[static_cast<std::size_t>(fibre)]; }
  const rods::Rod& rod(int fibre) const { return *rods_[static_cast<std::size_t>(fibre)]; }

  /// Gives the rods the natural shapes and lengths of `time`; update them next.
  void set_natural_shapes(double time);

  std::vector<bodies::BodyState> bodies;  ///< (free bodies)

 private:
  const World* world_;
  std::vector<std::unique_ptr<rods::Rod>> rods_;  ///< (fibres)
};

/// Local arc length of the material that a hold holds, on its piece. [m]
double held_parameter(const Kinematics& at, const Hold& hold);
/// Its arc length from the root. [m]
double held_arc_length(const Kinematics& at, const Hold& hold);

/// Pose of any obstacle of the world at `time`: of one whose motion is prescribed as that has it; a free one is where
/// the kinematics have it.
Pose obstacle_pose(const Kinematics& at, int obstacle, double time);

/// How far a vertex of a surface goes in its own axes until `time`, at most. [m]
double farthest_vertex(const bodies::Surface& surface, const contact::Mesh& now, double time);

/// The bodies as tubes, planes and meshes: fibres and free bodies as the kinematics have them, other obstacles at
/// `time`. Reaches are zero. Reuses the storage of `out`.
void contact_geometry(const Kinematics& at, double time, contact::Geometry& out);

}  // namespace tresse::assembly
