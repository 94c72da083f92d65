#pragma once

#include <vector>

#include <tresse/assembly/kinematics.hpp>

namespace tresse::assembly {

using Vector6 = Eigen::Matrix<double, 6, 1>;

/// (linear, angular)
inline Vector6 stacked(const Vector3& linear, const Vector3& angular) {
  Vector6 out;
  out.head<3>() = linear;
  out.tail<3>() = angular;
  return out;
}

/// A free body over the step: velocities are (linear of the centre of mass, angular), world axes. Its matrix is that of
/// the start, M = diag(m, I) = U U with U symmetric.
struct FreeBodyMotion {
  int obstacle = 0;              ///< of World::obstacles
  double mass = 0.0;             ///< [kg]
  Matrix3 inertia;               ///< I, about the centre of mass [kg m^2]
  Matrix3 inverse_root_inertia;  ///< I^-1/2 [kg^-1/2 m^-1]
};

/// (World::free_bodies) with the matrices of where they are.
std::vector<FreeBodyMotion> free_body_motions(const Kinematics& at);

/// U^-1 x, from a generalised force to a whitened one, or from a whitened velocity to a velocity.
Vector6 whitened(const FreeBodyMotion& body, const Vector6& x);
/// M x. [kg m/s], [kg m^2/s]
Vector6 momentum(const FreeBodyMotion& body, const Vector6& velocity);
/// M^-1 x.
Vector6 velocity_change(const FreeBodyMotion& body, const Vector6& impulse);

/// Mean velocity over a step of a body that starts where it is with momentum `start` plus `impulse`, (linear, angular),
/// and then turns by itself: what the position moves by.
Vector6 mean_velocity(const bodies::Solid& solid, const bodies::BodyState& from, const Vector6& start,
                      const Vector6& impulse, double dt);
/// Where it arrives, and with which velocity: the whole impulse is that of the stage over `theta`.
bodies::BodyState body_at_end(const bodies::Solid& solid, const bodies::BodyState& from, const Vector6& start,
                              const Vector6& impulse, double theta, double dt);
/// (m v, I w) of a body where it is.
Vector6 momentum(const bodies::Solid& solid, const bodies::BodyState& state);

/// Kinetic energy, and that in gravity, of all free bodies. [J]
double kinetic_energy(const Kinematics& at);
double gravity_energy(const Kinematics& at);

}  // namespace tresse::assembly
