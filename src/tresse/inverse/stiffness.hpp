#pragma once

#include <array>
#include <span>

#include <tresse/base/status.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::inverse {

/// A rod at rest as it was seen: its curvatures, and gravity in the axes in which its root stands.
struct PoseAtRest {
  VectorX curvature;                  ///< (k) as Rod::curvature() [1/m]
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
};

/// How stiff a rod is, over how stiff its model says, for what it weighs: K3 / (rho S) against the model's.
struct MeasuredStiffness {
  /// (twist, bending about n1, bending about n2); NaN where the poses do not tell. [-]
  Vector3 ratio = Vector3::Zero();
  /// Standard deviations of these, by the covariance of the estimate; infinite where the poses do not tell. [-]
  Vector3 deviation = Vector3::Zero();
  /// Standard deviation of a measured curvature, estimated from what the equations leave. [1/m]
  double noise = 0.0;
  Status status = Status::max_iterations;
  int iterations = 0;
};

/// From one rod seen at rest in several poses, whatever its natural shape. Of two, with curvatures q and weights G,
///   q_a - q_b = y o K^-1 (G(q_b) - G(q_a)),   y = 1 / ratio,
/// one least-squares problem for each of twist and both bends in closed form. The noise of the
/// curvatures is in both sides: it is taken care of by Gauss and Helmert's method, which moves the curvatures as little
/// as they must for the equations to hold, and gives the covariance. docs/theory/gradients.md, "Stiffness
/// from shapes at rest".
/// The rod is left in the last pose. Throws InvalidInput for fewer than two poses, numbers that are not finite or of
/// the wrong count, a root that is not clamped, and a model whose coordinates are not curvatures.
MeasuredStiffness stiffness_of_poses(rods::Rod& rod, std::span<const PoseAtRest> poses);

/// From one pose, where the natural curvature is known to be the same all along:
///   q = c - y o K^-1 G(q), with c unknown. The rest as above.
MeasuredStiffness stiffness_of_uniform(rods::Rod& rod, const PoseAtRest& pose);

}  // namespace tresse::inverse
