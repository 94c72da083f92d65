#pragma once

#include <string>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/rods/rod.hpp>

/// Exact derivatives of a run by what it depends on: docs/theory/gradients.md.
namespace tresse::dynamics {

/// How one fibre is varied. What is empty or zero stays.
struct FibreVariation {
  Vector3 stiffness = Vector3::Zero();  ///< of (G J, E I1, E I2), relative [-]
  double density = 0.0;                 ///< of its mass, relative; the elastic moduli stay [-]
  double damping_time = 0.0;            ///< [s]
  double drag = 0.0;                    ///< [N s/m^2]
  VectorX natural{};                    ///< natural curvatures (m) [1/m]
  Twist root = {};                      ///< the place of a clamped root, all along its prescribed motion [m], [rad]
  VectorX curvature{};                  ///< of the state that it starts from (m) [1/m]
  VectorX velocity{};                   ///< of that state, generalised (dof)
};

/// One direction in which a run is varied. Derivatives are along it.
struct Variation {
  std::vector<FibreVariation> fibres{};  ///< (fibres), or empty
  Vector3 gravity = Vector3::Zero();     ///< (3) [m/s^2]
  Vector3 wind = Vector3::Zero();        ///< (3) [m/s]
  double friction = 0.0;                 ///< of every coefficient, relative [-]
};

/// How the state of a fibre changes along a variation.
struct FibreChange {
  VectorX displacement;  ///< (dof) of the pose of a free root, then of the coordinates
  Twist root;            ///< of a clamped root [m], [rad]
  VectorX velocity;      ///< (dof)
};

/// What a derivative is worth: it is that of the steps as they were made, with every contact open, sticking or sliding
/// as it was.
struct DerivativeReport {
  std::string refused;        ///< what happened that the derivative leaves out, and when; empty: it is exact
  double nearest_kink = 1.0;  ///< how near a contact came to another case, 0: at it [-]
  double kink_time = 0.0;     ///< when [s]
  int changes = 0;            ///< of contacts from step to step: made, broken, from sticking to sliding or back
};

/// How points of a fibre move along each of some changes of its state: (changes) (3, points) [m]. `rod`: in that state.
/// `places`: element and local arc length of each point. [m]
struct AxisPlace {
  int element = 0;
  double u = 0.0;
};
std::vector<Matrix3X> position_changes(const rods::Rod& rod, const std::vector<const FibreChange*>& changes,
                                       const std::vector<AxisPlace>& places);

}  // namespace tresse::dynamics
