#pragma once

#include <string>
#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/observe/frame.hpp>
#include <tresse/scene/scene.hpp>
#include <tresse/statics/world_equilibrium.hpp>

namespace tresse::observe {

/// What a trajectory of this world says once: `points_per_element` centreline points an element, and the tip, at arc
/// lengths of the fibres as they are made, or have grown until `time` [s].
TrajectoryLayout snapshot_layout(const scene::Scene& scene, const assembly::World& world, std::string resolved_scene,
                                 std::string version, double time = 0.0);

/// Inside one fibre, at the points of its centreline. At its points of contact and holds the force is that on the side
/// of the tip. Components as Frame::force and Frame::moment.
struct InternalLoads {
  std::vector<double> arc_length;  ///< (p) from the root [m]
  std::vector<Vector3> position;   ///< (p) [m]
  std::vector<Vector3> force;      ///< (p) tension, shear along n1, shear along n2 [N]
  std::vector<Vector3> moment;     ///< (p) twist, bending about n1, bending about n2 [N m]
};

/// Of every fibre of a stepper, at `points_per_element` points an element and at the tip. `report`: of its last step;
/// before the first, an empty one.
std::vector<InternalLoads> internal_loads(const scene::Scene& scene, const dynamics::Stepper& stepper,
                                          const dynamics::StepReport& report);

/// The present of a stepper: shapes, contacts, and the forces inside every fibre. `report`: of its last step; before
/// the first, an empty one.
Frame snapshot(const scene::Scene& scene, const dynamics::Stepper& stepper, const dynamics::StepReport& report,
               const TrajectoryLayout& layout);

/// What a world at rest leans on.
struct RestContacts {
  double time = 0.0;  ///< at which obstacles are where they are [s]
  std::vector<dynamics::ContactReport> contacts;
  std::vector<dynamics::ObstacleLoad> obstacles;      ///< in scene order
  std::vector<surfaces::SurfaceState> surfaces = {};  ///< (World::surfaces)
};

/// Of an equilibrium, its contacts frictionless; `time` as it was asked for.
RestContacts rest_contacts(const assembly::World& world, const statics::WorldEquilibrium& found, double time);

/// A world at rest, as `tresse static` leaves it.
Frame snapshot_at_rest(const scene::Scene& scene, const assembly::Kinematics& at, const TrajectoryLayout& layout,
                       const RestContacts& rest = {});

}  // namespace tresse::observe
