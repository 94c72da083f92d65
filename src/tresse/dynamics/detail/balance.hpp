#pragma once

#include <tresse/rods/rod.hpp>

namespace tresse::dynamics::detail {

/// What a fibre gained of momentum over a part, about the world origin, and what gravity and the air worked with.
struct FibreBalance {
  rods::RodMotion motion;
  Vector3 first_moment = Vector3::Zero();  ///< int rho S r ds [kg m]
  Twist gained;                            ///< [kg m/s], [kg m^2/s]
  Twist carried;                           ///< beside that, as its velocity was carried to the end
};

/// What was done on the fibres and free bodies over a part. [J]
struct PartWorks {
  double contact = 0.0;     ///< by contacts on both of their sides: what sliding takes and push-out gives
  double push_out = 0.0;    ///< what undoing the overlaps of the start takes
  double given_back = 0.0;  ///< the most that contacts may give
  double obstacles = 0.0;   ///< by prescribed obstacles
  double holds = 0.0;
  double roots_and_air = 0.0;
  double growth = 0.0;
  double potential = 0.0;  ///< by that of a penalty law, which is nobody's energy: its stiffness changes by the step
  double uncertain = 0.0;  ///< by how much these may be wrong: the books of some are of first order in the step
  /// From outside.
  double total() const { return obstacles + holds + roots_and_air + growth + potential; }
};

/// int rho S r ds [kg m]
inline Vector3 first_moment(const rods::Rod& rod) {
  Vector3 out;
  for (int axis = 0; axis < 3; ++axis) out[axis] = -rod.energies(Vector3::Unit(axis)).gravity;
  return out;
}

}  // namespace tresse::dynamics::detail
