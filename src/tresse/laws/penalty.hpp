#pragma once

#include <array>
#include <string_view>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>

namespace tresse::laws {

/// What the force of a contact follows from. See docs/theory/penalty.md.
enum class Law {
  coulomb,  ///< no overlap, and friction in Coulomb's cone, both exact
  imc,      ///< a smooth potential of the distance, which lets bodies overlap a little. @cite tong2024
  ipc,      ///< a barrier, infinite where bodies touch. @cite li2020
};

/// A potential of the distance between two axes, with its derivatives by the distance; unscaled.
struct Energy {
  double value = 0.0;      ///< [m^2]
  double slope = 0.0;      ///< <= 0 [m]
  double curvature = 0.0;  ///< >= 0 [-]
};

/// Implicit contact's potential of the overlap x = touching - distance: zero below -delta, x^2 above delta, and between
/// them the square of a softened ramp, ln(1 + exp(15 x / delta)) delta / 15. `touching`: the distance at which the
/// bodies touch, `delta` > 0. [m]
Energy imc_energy(double distance, double touching, double delta);

/// Incremental potential contact's barrier of the gap g = distance - touching: -(g - delta)^2 ln(g / delta) below
/// delta, zero beyond. Infinite where g <= 0, with slope -inf and curvature inf.
Energy ipc_energy(double distance, double touching, double delta);

/// Either, by its law; throws InvalidInput for Coulomb's, which has no potential.
Energy energy(Law law, double distance, double touching, double delta);

/// What turns the energy into joules: the largest load at a contact, `load` [N], is held at a gap that depends on delta
/// alone. Implicit contact: 1e8 load / `radius`. Barrier: load / delta. [N/m]
double adaptive_stiffness(Law law, double load, double radius, double delta);

/// The gap at which a contact bears `share` (> 0) of the load that its stiffness was taken from. [m]
double gap_under_load(Law law, double share, double radius, double delta);

/// How much of Coulomb's friction acts at the sliding speed |v_T|: tanh(15 |v_T| / (2 nu)), odd and smooth; nu is the
/// speed from which on it slides. @cite tong2024
struct SmoothFriction {
  double mu = 0.0;             ///< coefficient, >= 0 [-]
  double slip_velocity = 0.0;  ///< nu, > 0 [m/s]
};

/// The force of one contact in its frame (normal, t1, t2) and how it changes.
struct Force {
  Vector3 value = Vector3::Zero();        ///< [N]
  Vector3 by_distance = Vector3::Zero();  ///< by the distance [N/m]
  Matrix3 by_velocity = Matrix3::Zero();  ///< by the relative velocity, of which only the tangential part counts
};

/// Force -k E' along the normal, and against the sliding velocity (0, v_1, v_2) friction of at most mu times that. All
/// of it is of the same instant: nothing is lagged. At rest friction is zero, and its derivative the limit there.
Force contact_force(const Energy& energy, double stiffness, const Vector3& velocity, const SmoothFriction& friction);

/// The speed at which a contact creeps that bears the tangential load `share` (of mu times the normal one), 0 <= share
/// < 1: 2 nu / 15 artanh(share). [m/s]
double creep_speed(double share, double slip_velocity);

}  // namespace tresse::laws

namespace tresse {

template <>
struct Words<laws::Law> {
  static constexpr std::array<std::string_view, 3> list{"coulomb", "imc", "ipc"};
};

}  // namespace tresse
