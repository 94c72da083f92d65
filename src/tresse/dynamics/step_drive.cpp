#include <cmath>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/detail/engine.hpp>
#include <tresse/math/rotations.hpp>

/// What is steered from outside between two steps.
namespace tresse::dynamics::detail {

bodies::Motion Engine::driven(const Pose& now, const Twist& velocity, double duration) const {
  require(velocity.linear.allFinite() && velocity.angular.allFinite(), "velocity: expected finite numbers");
  require(duration > 0.0, "duration: expected a time above 0 s");
  bodies::Motion out;
  out.keyframes = {{time(), now.position, math::rotation_log(now.frame)}};
  out.velocity = velocity.linear;
  out.angular_velocity = velocity.angular;
  out.start = time();
  if (std::isfinite(duration)) out.stop = time() + duration;
  return out;
}

void Engine::drive_obstacle(int obstacle, const Twist& velocity, double duration) {
  require(obstacle >= 0 && obstacle < static_cast<int>(world_.obstacles.size()),
          "obstacle: there is none of this index");
  require(assembly::free_body_of(world_, obstacle) < 0,
          "obstacle: is free and moves by forces; expected one without mass");
  bodies::Motion& motion = world_.obstacles[static_cast<std::size_t>(obstacle)].motion;
  motion = driven(bodies::displacement(motion, time()), velocity, duration);
  redirected_ = true;
}

void Engine::drive_root(int fibre, const Twist& velocity, double duration) {
  require(fibre >= 0 && fibre < static_cast<int>(world_.fibres.size()), "fibre: there is none of this index");
  assembly::Fibre& driven_fibre = world_.fibres[static_cast<std::size_t>(fibre)];
  require(clamped(driven_fibre), "fibre: its root is not clamped and moves by forces");
  // About the root itself from now on, whatever it turned about before.
  Pose now = bodies::displacement(driven_fibre.root_motion, time());
  now.position += now.frame * driven_fibre.root_arm - driven_fibre.root_arm;
  driven_fibre.root_arm.setZero();
  driven_fibre.root_motion = driven(now, velocity, duration);
  redirected_ = true;
}

}  // namespace tresse::dynamics::detail
