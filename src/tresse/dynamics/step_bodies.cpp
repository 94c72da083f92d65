#include <algorithm>

#include <tresse/dynamics/detail/step_pass.hpp>

// The stepper's free rigid bodies: docs/theory/dynamics.md, "Rigid bodies".
namespace tresse::dynamics {

/// (fibres, then free bodies) generalised velocities of a state.
std::vector<VectorX> Stepper::velocities_of(const std::vector<rods::RodState>& rods,
                                            const std::vector<bodies::BodyState>& bodies) const {
  std::vector<VectorX> out;
  out.reserve(rods.size() + bodies.size());
  for (std::size_t f = 0; f < rods.size(); ++f)
    out.push_back(tresse::rods::generalised_velocity(start_.rod(static_cast<int>(f)), rods[f]));
  for (const bodies::BodyState& body : bodies)
    out.emplace_back(assembly::stacked(body.velocity.linear, body.velocity.angular));
  return out;
}

/// Matrices and momenta of where the bodies start.
void Stepper::begin_bodies() {
  start_bodies_ = start_.bodies;
  motion_.bodies = assembly::free_body_motions(start_);
  start_momenta_.clear();
  weights_.clear();
  for (std::size_t k = 0; k < start_bodies_.size(); ++k) {
    const bodies::Solid& solid = world_->free_bodies[k].solid;
    start_momenta_.push_back(assembly::momentum(solid, start_bodies_[k]));
    assembly::Vector6& weight = weights_.emplace_back(assembly::Vector6::Zero());
    weight.head<3>() = stage() * solid.mass * world_->gravity;
  }
}

/// Mean velocities without contact. A body turns by itself with what contact gives it: the matrix of the start stands
/// for that to first order, around the impulses of the last pass.
void Stepper::assemble_bodies(const Pass* previous) {
  for (std::size_t k = 0; k < start_bodies_.size(); ++k) {
    assembly::Vector6 impulse = weights_[k];
    assembly::Vector6 linear = assembly::Vector6::Zero();  // what that makes in the problem
    if (previous) {
      impulse += previous->body_impulses[k];
      linear = assembly::velocity_change(motion_.bodies[k], previous->body_impulses[k]);
    }
    motion_.velocities[world_->fibres.size() + k] =
        assembly::mean_velocity(world_->free_bodies[k].solid, start_bodies_[k], start_momenta_[k], impulse,
                                motion_.dt) -
        linear;
  }
}

/// What contact gives the bodies in a pass.
void Stepper::find_body_impulses(Pass& pass) const {
  pass.body_impulses.clear();
  for (std::size_t k = 0; k < start_bodies_.size(); ++k) {
    const std::size_t i = world_->fibres.size() + k;
    pass.body_impulses.push_back(
        assembly::momentum(motion_.bodies[k], assembly::Vector6(pass.velocities[i] - motion_.velocities[i])));
  }
}

/// Moves the bodies to the end that a pass predicts.
void Stepper::go_to_end_of_bodies(const Pass& pass) {
  end_bodies_.resize(start_bodies_.size());
  for (std::size_t k = 0; k < start_bodies_.size(); ++k) {
    const assembly::FreeBody& body = world_->free_bodies[k];
    end_bodies_[k] = assembly::body_at_end(body.solid, start_bodies_[k], start_momenta_[k],
                                           weights_[k] + pass.body_impulses[k], options_.theta, motion_.dt);
    motion_.obstacles_end[body.obstacle] = end_bodies_[k].pose;
  }
  end_.bodies = end_bodies_;
}

}  // namespace tresse::dynamics
