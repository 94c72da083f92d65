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
  /// the place of a root, of a clamped one all along its prescribed motion; no turn of one that moves [m], [rad]
  Twist root = {};
  VectorX curvature{};  ///< of the state that it starts from (m) [1/m]
  VectorX velocity{};   ///< of that state, generalised (dof)
};

/// One direction in which a run is varied. Derivatives are along it. A gradient is one too: of each number here, the
/// derivative by it.
struct Variation {
  std::vector<FibreVariation> fibres{};  ///< (fibres), or empty
  Vector3 gravity = Vector3::Zero();     ///< (3) [m/s^2]
  Vector3 wind = Vector3::Zero();        ///< (3) [m/s]
  double friction = 0.0;                 ///< of every coefficient, relative [-]
};

/// The derivative along a direction of what has this gradient.
double along(const Variation& gradient, const Variation& direction);

/// How the state of a fibre changes along a variation; or, of a derivative by the state, the derivative by each number.
/// Both are whole: six numbers of the root, its place and a turn, and those of the coordinates.
struct FibreChange {
  VectorX displacement;  ///< (6 + m) [m], [rad], [1/m]
  VectorX velocity;  ///< (6 + m) of the velocity of r(0), of the angular velocity, of the rates; of a clamped root 0
};

/// What a derivative is worth: it is that of the steps as they were made, with every contact open, sticking or sliding
/// as it was.
struct DerivativeReport {
  std::string refused;        ///< what happened that the derivative leaves out, and when; empty: it is exact
  double nearest_kink = 1.0;  ///< how near a contact came to another case, 0: at it [-]
  double kink_time = 0.0;     ///< when [s]
  int changes = 0;            ///< of contacts from step to step: made, broken, from sticking to sliding or back
};

/// A point of an axis: its element and the local arc length there. [m]
struct AxisPlace {
  int element = 0;
  double u = 0.0;
};
/// How points of a fibre move along each of some changes of its state: (changes) (3, points) [m]. `rod`: in that state.
std::vector<Matrix3X> position_changes(const rods::Rod& rod, const std::vector<const FibreChange*>& changes,
                                       const std::vector<AxisPlace>& places);
/// The transpose: the derivative by the state of what depends on points of the fibre, `by` the derivative by each,
/// (3, points).
FibreChange by_positions(const rods::Rod& rod, const Matrix3X& by, const std::vector<AxisPlace>& places);

}  // namespace tresse::dynamics
