#pragma once

#include <string>

#include <tresse/bodies/shapes.hpp>

/// Bodies that move freely: mass, inertia and the motion that they keep when nothing acts on them.
/// docs/theory/dynamics.md, "Rigid bodies".
namespace tresse::bodies {

/// Where a free body is and how it moves: frame turned from the reference pose, origin at the centre of mass.
struct BodyState {
  Pose pose;
  Twist velocity;
};

/// Whether the kind of a shape may be free (FreeKind).
bool can_be_free(const Shape& shape);
/// Their words in a sentence, "a sphere, a capsule or a cylinder", and those of the other kinds.
std::string free_kinds();
std::string fixed_kinds();

/// Of a shape which can be free; the others throw InvalidInput.
double volume(const Shape& shape);  ///< that it fills [m^3]
double radius(const Shape& shape);  ///< of its tube [m]
/// Whether `reference` is its centre of mass, to `tolerance` of its size and place.
bool is_centre(const Shape& shape, const Vector3& reference, double tolerance);

/// Exact for every kind. Throws InvalidInput unless can_be_free() and mass > 0.
Solid solid(const Shape& shape, double mass);

/// Inertia about the centre of mass in world axes, at power `exponent`: 1, or -1/2 to whiten. (3, 3)
Matrix3 inertia_power(const Solid& solid, const Matrix3& frame, double exponent);

/// Angular momentum about the centre of mass, world axes. (3) [kg m^2/s]
Vector3 angular_momentum(const Solid& solid, const Matrix3& frame, const Vector3& angular_velocity);
/// The inverse. (3) [rad/s]
Vector3 angular_velocity(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum);

/// How a body without torque turns in a step.
struct Turn {
  Vector3 mean;   ///< angular velocity over the step, world axes (3) [rad/s]
  Matrix3 frame;  ///< at its end
};

/// A step of the free rotation: the implicit midpoint rule in body axes, I (w' - w) = dt (I m) x m with m = (w + w') /
/// 2, and the frame turned by the Cayley transform of dt m: R' = R cay(dt m). World angular momentum and energy are
/// kept to rounding for any dt; second order. With the momentum P = R^T L it is I m + dt/2 m x I m = P, which a solid
/// of revolution solves in closed form.
Turn turn_freely(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum, double dt);

/// Kinetic energy. [J]
double kinetic_energy(const Solid& solid, const BodyState& state);

}  // namespace tresse::bodies
