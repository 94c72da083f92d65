#include <tresse/assembly/free_body_motion.hpp>

#include <cmath>

namespace tresse::assembly {

std::vector<FreeBodyMotion> free_body_motions(const Kinematics& at) {
  std::vector<FreeBodyMotion> out;
  out.reserve(at.bodies.size());
  for (std::size_t k = 0; k < at.bodies.size(); ++k) {
    const FreeBody& body = at.world().free_bodies[k];
    const Matrix3& frame = at.bodies[k].pose.frame;
    out.push_back({body.obstacle, body.solid.mass, bodies::inertia_power(body.solid, frame, 1.0),
                   bodies::inertia_power(body.solid, frame, -0.5)});
  }
  return out;
}

Vector6 whitened(const FreeBodyMotion& body, const Vector6& x) {
  return stacked(x.head<3>() / std::sqrt(body.mass), body.inverse_root_inertia * x.tail<3>());
}

Vector6 momentum(const FreeBodyMotion& body, const Vector6& velocity) {
  return stacked(body.mass * velocity.head<3>(), body.inertia * velocity.tail<3>());
}

Vector6 velocity_change(const FreeBodyMotion& body, const Vector6& impulse) {
  return whitened(body, whitened(body, impulse));
}

Vector6 momentum(const bodies::Solid& solid, const bodies::BodyState& state) {
  return stacked(solid.mass * state.velocity.linear,
                 bodies::angular_momentum(solid, state.pose.frame, state.velocity.angular));
}

Vector6 mean_velocity(const bodies::Solid& solid, const bodies::BodyState& from, const Vector6& start,
                      const Vector6& impulse, double dt) {
  const Vector6 with = start + impulse;
  return stacked(with.head<3>() / solid.mass, bodies::turn_freely(solid, from.pose.frame, with.tail<3>(), dt).mean);
}

bodies::BodyState body_at_end(const bodies::Solid& solid, const bodies::BodyState& from, const Vector6& start,
                              const Vector6& impulse, double theta, double dt) {
  const Vector6 with = start + impulse;
  const Vector6 after = start + impulse / theta;
  bodies::BodyState out;
  out.pose.position = from.pose.position + dt * with.head<3>() / solid.mass;
  out.pose.frame = bodies::turn_freely(solid, from.pose.frame, with.tail<3>(), dt).frame;
  out.velocity = {after.head<3>() / solid.mass, bodies::angular_velocity(solid, out.pose.frame, after.tail<3>())};
  return out;
}

double kinetic_energy(const Kinematics& at) {
  double out = 0.0;
  for (std::size_t k = 0; k < at.bodies.size(); ++k)
    out += bodies::kinetic_energy(at.world().free_bodies[k].solid, at.bodies[k]);
  return out;
}

double gravity_energy(const Kinematics& at) {
  double out = 0.0;
  for (std::size_t k = 0; k < at.bodies.size(); ++k)
    out -= at.world().free_bodies[k].solid.mass * gravity_of(at.world()).dot(at.bodies[k].pose.position);
  return out;
}

}  // namespace tresse::assembly
