#pragma once

#include <tresse/dynamics/stepper.hpp>
#include <tresse/surfaces/cloth.hpp>

namespace tresse::dynamics::detail {

/// A cloth of a world and a step of it.
struct ClothPart {
  const assembly::World& world;
  const assembly::SurfaceBody& body;
  const surfaces::Cloth& cloth;  ///< its model
  double time = 0.0;             ///< where the step begins [s]
  const StepOptions& options;
  friction::NodalMemory& memory;  ///< of this cloth, from step to step
};

/// Moves a cloth over a whole step: contacts of its vertices with the obstacles whose motion is prescribed, one
/// with each that is within reach, where the step begins; one problem of motion and Coulomb friction; and again with
/// what a vertex overlaps at the end in place of what it had of that obstacle. Adds to the report, and to the forces on
/// obstacles. False where it ends in no finite state: then the state is left as it was.
bool advance_cloth(const ClothPart& part, surfaces::SurfaceState& state, StepReport& report);

}  // namespace tresse::dynamics::detail
