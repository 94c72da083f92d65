#pragma once

#include <tresse/dynamics/report.hpp>

namespace tresse::dynamics {

/// One step of a fibre without contact.
struct FreeStep {
  const rods::RodState& start;  ///< with the root velocity of the step
  const Pose& next_root;        ///< of a clamped root
  double dt = 0.0;              ///< > 0 [s]
  double drag = 0.0;            ///< >= 0 [N s/m^2]
  rods::RodLoads loads;
  const VectorX* force = nullptr;  ///< one more, the same wherever the rod goes (dof)
};

/// Implicit Euler of a rod whose elastic force is not linear in its coordinates,
///   M (v - v_start) = dt (elastic force + external and inertial force - (D + drag) v),  all at q + dt v,
/// by Newton from v_start. The step is searched along on the incremental potential |v - v_start|_M^2 / 2 + E(q + dt v)
/// +
/// ..., with M, D and external forces of the iterate, along the model's curved displacements. Ends when a
/// step is below `tolerance` of the velocity, or of its change, in the norm of the step matrix, or at what rounding of
/// the coordinates amounts to in it. `matrix` is then that of the end, which contacts go on with, and `v` (dof) the
/// last iterate's full step, or where no length of it will do (stalled) the last iterate. The rod is left at the end.
FreeMotionResult solve_free_motion(rods::Rod& rod, rods::StepMatrix& matrix, const FreeStep& step, double tolerance,
                                   int max_iterations, VectorX& v);

}  // namespace tresse::dynamics
