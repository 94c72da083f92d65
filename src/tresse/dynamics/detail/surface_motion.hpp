#pragma once

#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/friction/nodal.hpp>

namespace tresse::dynamics::detail {

/// Summed over the surfaces.
rods::RodEnergies surface_energies(const assembly::World& world, const std::vector<surfaces::SurfaceState>& states);

class SurfaceMotion {
 public:
  /// Moves all surfaces over a whole step from `time`, each by itself, and reports how their equations were solved and
  /// what obstacles carry. False where one ends in no finite state: then `states` are left as they were.
  bool advance(const assembly::World& world, const StepOptions& options, double time,
               std::vector<surfaces::SurfaceState>& states, StepReport& report);

 private:
  std::vector<friction::NodalMemory> memory_;  ///< (surfaces)
};

}  // namespace tresse::dynamics::detail
