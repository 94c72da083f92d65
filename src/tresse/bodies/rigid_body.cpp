#include <tresse/bodies/rigid_body.hpp>

#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::bodies {
namespace {

Capsule capsule_of(const Shape& shape) {
  require(can_be_free(shape), "free body: must be a sphere, a capsule or a cylinder");
  return capsules(shape).front();
}

/// Of the cylinder between the two half balls, and of these together.
double barrel_volume(const Capsule& c) { return std::numbers::pi * c.radius * c.radius * (c.to - c.from).norm(); }
double caps_volume(const Capsule& c) { return 4.0 / 3.0 * std::numbers::pi * c.radius * c.radius * c.radius; }

}  // namespace

bool can_be_free(const Shape& shape) { return !capsules(shape).empty() && !std::holds_alternative<Comb>(shape); }

double volume(const Shape& shape) {
  const Capsule c = capsule_of(shape);
  return barrel_volume(c) + caps_volume(c);
}

double radius(const Shape& shape) { return capsule_of(shape).radius; }

bool is_centre(const Shape& shape, const Vector3& reference, double tolerance) {
  const Capsule c = capsule_of(shape);
  const double size = reference.norm() + (c.to - c.from).norm();
  return (reference - 0.5 * (c.from + c.to)).norm() <= tolerance * size;
}

Solid solid(const Shape& shape, double mass) {
  const Capsule c = capsule_of(shape);
  require(mass > 0.0 && std::isfinite(mass), "free body: the mass must be positive and finite");
  const double length = (c.to - c.from).norm();
  const double r2 = c.radius * c.radius;
  const double barrel = mass * (barrel_volume(c) / (barrel_volume(c) + caps_volume(c)));
  const double caps = mass - barrel;
  Solid out;
  out.mass = mass;
  out.centre = 0.5 * (c.from + c.to);
  if (length > 0.0) out.axis = (c.to - c.from) / length;
  out.axial_inertia = 0.5 * barrel * r2 + 0.4 * caps * r2;
  // A half ball's centre of mass is 3/8 of the radius beyond its flat side.
  out.transverse_inertia = barrel * (length * length / 12.0 + 0.25 * r2) +
                           caps * (0.4 * r2 + 0.25 * length * length + 0.375 * length * c.radius);
  return out;
}

Matrix3 inertia_power(const Solid& solid, const Matrix3& frame, double exponent) {
  const Vector3 axis = frame * solid.axis;
  const double across = std::pow(solid.transverse_inertia, exponent);
  const double along = std::pow(solid.axial_inertia, exponent);
  return across * Matrix3::Identity() + (along - across) * axis * axis.transpose();
}

Vector3 angular_momentum(const Solid& solid, const Matrix3& frame, const Vector3& angular_velocity) {
  const Vector3 axis = frame * solid.axis;
  return solid.transverse_inertia * angular_velocity +
         (solid.axial_inertia - solid.transverse_inertia) * axis.dot(angular_velocity) * axis;
}

Vector3 angular_velocity(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum) {
  const Vector3 axis = frame * solid.axis;
  return angular_momentum / solid.transverse_inertia +
         (1.0 / solid.axial_inertia - 1.0 / solid.transverse_inertia) * axis.dot(angular_momentum) * axis;
}

Turn turn_freely(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum, double dt) {
  // In world axes with the frame of the start, a the axis and m = m_a a + m_t: I_a m_a = P_a, and across it
  // I_t m_t + c a x m_t = P_t with c = dt/2 (I_t - I_a) m_a, since m x I m = (I_a - I_t) m_a (m_t x a).
  const Vector3 a = frame * solid.axis;
  const double along = a.dot(angular_momentum);
  const Vector3 across = angular_momentum - along * a;
  const double spin = along / solid.axial_inertia;
  const double inertia = solid.transverse_inertia;
  const double c = 0.5 * dt * (inertia - solid.axial_inertia) * spin;
  Turn out;
  out.mean = spin * a + (inertia * across - c * a.cross(across)) / (inertia * inertia + c * c);
  // cay(x) = 1 + (x^ + x^^2 / 2) / (1 + |x|^2 / 4), a rotation by 2 atan(|x| / 2).
  const Vector3 x = dt * out.mean;
  const Matrix3 hat = math::cross_matrix(x);
  const Matrix3 turn = Matrix3::Identity() + (hat + 0.5 * hat * hat) / (1.0 + 0.25 * x.squaredNorm());
  out.frame = math::orthonormalised_once(turn * frame);
  return out;
}

double kinetic_energy(const Solid& solid, const BodyState& state) {
  const Vector3& w = state.velocity.angular;
  return 0.5 * solid.mass * state.velocity.linear.squaredNorm() +
         0.5 * w.dot(angular_momentum(solid, state.pose.frame, w));
}

}  // namespace tresse::bodies
