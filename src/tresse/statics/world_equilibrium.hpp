#pragma once

#include <vector>

#include <tresse/assembly/contact_report.hpp>
#include <tresse/assembly/kinematics.hpp>
#include <tresse/statics/equilibrium.hpp>

namespace tresse::statics {

struct WorldEquilibriumOptions {
  EquilibriumOptions search;  ///< tolerance on WorldEquilibrium::residual, limits for each load step and instant
  double time = 0.0;    ///< obstacles and roots go from where they are at time zero to where they are then; >= 0 [s]
  double margin = 0.0;  ///< contacts are looked for below this gap and wherever a step may lead; > 0 [m]
  contact::BroadPhaseOptions broad_phase;
  contact::DetectionOptions detection;
};

struct WorldEquilibrium {
  Status status = Status::max_iterations;
  /// The largest of: |gradient of the potential - contact forces| / |forces that balance|, in the K^-1 norm, and
  /// |gap| of what carries a force, overlap of what does not, over the length of the longest fibre. [-]
  double residual = 0.0;
  double overlap = 0.0;   ///< deepest; >= 0 [m]
  int iterations = 0;     ///< all load steps and instants; of fibres alone, the sum
  bool together = false;  ///< false: nothing comes near anything, every fibre was solved alone
  /// Of K^-1 times the Hessian of the Lagrangian on the shapes that keep the loaded contacts closed: <= 0 unstable. [-]
  double relative_stiffness = 0.0;
  /// Of that Hessian itself, in the units of the coordinates. Of fibres alone: the least of any fibre.
  double smallest_eigenvalue = 0.0;
  std::vector<assembly::ContactReport> contacts;  ///< loaded, forces along their normals
  std::vector<Equilibrium> fibres;     ///< each in the field of the others: residual of its own balance, own stability
  std::vector<rods::RodState> states;  ///< the rods are left updated to them
  bool stable() const { return status == Status::converged && relative_stiffness > 0.0; }
};

/// Frictionless equilibrium of clamped fibres with themselves, one another and obstacles under gravity: a minimum of
/// elastic and gravity energy over shapes that do not overlap. See docs/theory/statics.md. `start`: one state a fibre;
/// roots are taken from the world. Where nothing comes near anything every fibre is solved by solve_equilibrium().
/// Throws InvalidInput for a root that is not clamped or bad options.
[[nodiscard]] WorldEquilibrium solve_equilibrium(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
                                                 const WorldEquilibriumOptions& options);

}  // namespace tresse::statics
