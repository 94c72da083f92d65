#pragma once

#include <tresse/base/status.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::statics {

struct EquilibriumOptions {
  double tolerance = 1e-10;  ///< on Equilibrium::residual, or 100 roundings of the coordinates; > 0
  int max_iterations = 200;  ///< Newton steps per load step; >= 1
  int load_steps = 10;       ///< gravity grows from zero in as many steps; >= 1
};

struct Equilibrium {
  VectorX curvature;  ///< (k) as Rod::curvature() [1/m]
  Status status = Status::max_iterations;
  double residual =
      0.0;  ///< |gradient of the potential| / |gradient of its elastic part at rest scale|, in the K^-1 norm [-]
  int iterations = 0;                ///< Newton steps, all load steps
  double smallest_eigenvalue = 0.0;  ///< of the Hessian of the potential [N m^3]
  double relative_stiffness =
      0.0;  ///< smallest eigenvalue of K^-1 Hessian: 1 without load, 0 at the loss of stability [-]
  bool stable() const { return status == Status::converged && relative_stiffness > 0.0; }
};

/// Equilibrium of a clamped rod under gravity, K (q - q_rest) + G(q) = 0 (bertails2018hdr eq. 4.1), reached by
/// continuation in the load from `start`: Newton on the potential with eigenvalue-modified Hessian and line search, so
/// that it ends in a minimum; a saddle is left along its direction of descent. The rod is left updated to the
/// equilibrium. Throws InvalidInput for a free root or bad options.
[[nodiscard]] Equilibrium solve_equilibrium(rods::Rod& rod, const rods::RodState& start, const Vector3& gravity,
                                            const EquilibriumOptions& options);

}  // namespace tresse::statics
