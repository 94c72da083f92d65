#include <tresse/dynamics/detail/free_bodies.hpp>

namespace tresse::dynamics::detail {

void FreeBodies::begin(const assembly::Kinematics& start, assembly::FreeMotion& motion) {
  start_ = start.bodies;
  motion.bodies = assembly::free_body_motions(start);
  momenta_.clear();
  weights_.clear();
  for (std::size_t k = 0; k < start_.size(); ++k) {
    const bodies::Solid& solid = world_.free_bodies[k].solid;
    momenta_.push_back(assembly::momentum(solid, start_[k]));
    assembly::Vector6& weight = weights_.emplace_back(assembly::Vector6::Zero());
    weight.head<3>() = motion.stage * solid.mass * assembly::gravity_of(world_);
  }
}

void FreeBodies::assemble(const std::vector<assembly::Vector6>* impulses, assembly::FreeMotion& motion) const {
  for (std::size_t k = 0; k < start_.size(); ++k) {
    assembly::Vector6 impulse = weights_[k];
    assembly::Vector6 linear = assembly::Vector6::Zero();  // what that makes in the problem
    if (impulses) {
      impulse += (*impulses)[k];
      linear = assembly::velocity_change(motion.bodies[k], (*impulses)[k]);
    }
    motion.velocities[world_.fibres.size() + k] =
        assembly::mean_velocity(world_.free_bodies[k].solid, start_[k], momenta_[k], impulse, motion.dt) - linear;
  }
}

std::vector<assembly::Vector6> FreeBodies::impulses(const std::vector<VectorX>& velocities,
                                                    const assembly::FreeMotion& motion) const {
  std::vector<assembly::Vector6> out;
  out.reserve(start_.size());
  for (std::size_t k = 0; k < start_.size(); ++k) {
    const std::size_t i = world_.fibres.size() + k;
    out.push_back(assembly::momentum(motion.bodies[k], assembly::Vector6(velocities[i] - motion.velocities[i])));
  }
  return out;
}

void FreeBodies::go_to_end(const std::vector<assembly::Vector6>& impulses, double theta, assembly::FreeMotion& motion,
                           assembly::Kinematics& end) const {
  for (std::size_t k = 0; k < start_.size(); ++k) {
    const assembly::FreeBody& body = world_.free_bodies[k];
    end.bodies[k] =
        assembly::body_at_end(body.solid, start_[k], momenta_[k], weights_[k] + impulses[k], theta, motion.dt);
    motion.obstacles_end[body.obstacle] = end.bodies[k].pose;
  }
}

}  // namespace tresse::dynamics::detail
