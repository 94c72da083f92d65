#include <tresse/assembly/free_body_motion.hpp>

#include <cmath>

namespace tresse::assembly {

std::vector<FreeBodyMotion> free_body_motions(const World& world) {
  std::vector<FreeBodyMotion> out;
  out.reserve(world.free_bodies.size());
  for (const FreeBody& body : world.free_bodies) {
    const Matrix3& frame = body.state.pose.frame;
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

Vector6 momentum(const FreeBody& body) {
  const bodies::BodyState& state = body.state;
  return stacked(body.solid.mass * state.velocity.linear,
                 bodies::angular_momentum(body.solid, state.pose.frame, state.velocity.angular));
}

Vector6 mean_velocity(const FreeBody& body, const Vector6& start, const Vector6& impulse, double dt) {
  const Vector6 with = start + impulse;
  return stacked(with.head<3>() / body.solid.mass,
                 bodies::turn_freely(body.solid, body.state.pose.frame, with.tail<3>(), dt).mean);
}

bodies::BodyState body_at_end(const FreeBody& body, const Vector6& start, const Vector6& impulse, double theta,
                              double dt) {
  const Vector6 with = start + impulse;
  const Vector6 after = start + impulse / theta;
  bodies::BodyState out;
  out.pose.position = body.state.pose.position + dt * with.head<3>() / body.solid.mass;
  out.pose.frame = bodies::turn_freely(body.solid, body.state.pose.frame, with.tail<3>(), dt).frame;
  out.velocity = {after.head<3>() / body.solid.mass,
                  bodies::angular_velocity(body.solid, out.pose.frame, after.tail<3>())};
  return out;
}

double kinetic_energy(const World& world) {
  double out = 0.0;
  for (const FreeBody& body : world.free_bodies) out += bodies::kinetic_energy(body.solid, body.state);
  return out;
}

double gravity_energy(const World& world) {
  double out = 0.0;
  for (const FreeBody& body : world.free_bodies) out -= body.solid.mass * world.gravity.dot(body.state.pose.position);
  return out;
}

}  // namespace tresse::assembly
