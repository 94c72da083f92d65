#pragma once

#include <tresse/rods/rod.hpp>

namespace tresse::statics {

/// How what an equilibrium depends on is varied. What is empty or zero stays.
struct EquilibriumVariation {
  Vector3 stiffness = Vector3::Zero();  ///< of (G J, E I1, E I2), relative [-]
  double density = 0.0;                 ///< relative; the elastic moduli stay [-]
  VectorX natural{};                    ///< natural curvatures (m) [1/m]
  Vector3 gravity = Vector3::Zero();    ///< (3) [m/s^2]
  Vector3 turn = Vector3::Zero();       ///< of the root, a rotation vector (3) [rad]
};

/// How the curvatures of a clamped rod in equilibrium under gravity change along a variation, (m) [1/m]: with the
/// potential V and its Hessian H, H dq = - d(grad V). docs/theory/gradients.md. `rod` stands in the equilibrium, as
/// solve_equilibrium() leaves it. Throws InvalidInput for a free root, a model whose coordinates are not curvatures,
/// sizes that do not fit, and an equilibrium on the edge of stability, whose Hessian is singular.
VectorX equilibrium_change(const rods::Rod& rod, const Vector3& gravity, const EquilibriumVariation& variation);

}  // namespace tresse::statics
