#pragma once

#include <string>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/io/frame.hpp>
#include <tresse/scene/scene.hpp>

namespace tresse::io {

/// What a trajectory of this world says once: `points_per_element` centreline points an element, and the tip.
TrajectoryLayout snapshot_layout(const scene::Scene& scene, const assembly::World& world, std::string resolved_scene,
                                 std::string version);

/// The present of a stepper: shapes, contacts, and the forces inside every fibre. `report`: of its last step; before
/// the first, an empty one.
Frame snapshot(const scene::Scene& scene, const dynamics::Stepper& stepper, const dynamics::StepReport& report,
               const TrajectoryLayout& layout);

/// A world at rest without contacts, as `tresse static` leaves it.
Frame snapshot_at_rest(const scene::Scene& scene, const assembly::World& world, const TrajectoryLayout& layout);

}  // namespace tresse::io
