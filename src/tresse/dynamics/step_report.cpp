#include <tuple>

#include <Eigen/Geometry>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::dynamics {
namespace {

ContactReport describe(const contact::Geometry& geometry, const contact::Contact& contact) {
  ContactReport out;
  const contact::Piece& a = geometry.pieces[contact.a];
  (a.fibre ? out.fibre_a : out.obstacle_a) = a.owner;
  out.s_a = a.begin + contact.s_a;
  out.point_a = contact.point_a;
  out.point_b = contact.point_b;
  out.normal = contact.frame.col(0);
  out.gap = contact.gap;
  if (contact.b < 0) {
    out.obstacle_b = contact::owner_at(geometry, contact.b);
    out.part_b = contact.face;
    return out;
  }
  const contact::Piece& b = geometry.pieces[contact.b];
  out.s_b = b.begin + contact.s_b;
  if (b.fibre) {
    out.fibre_b = b.owner;
  } else {
    out.obstacle_b = b.owner;
    out.part_b = b.element;
  }
  return out;
}

}  // namespace

/// Names the deepest contact of the configuration that the step starts from.
void Stepper::report_overlap(StepReport& report) const {
  const contact::Contact* deepest = nullptr;
  for (const contact::Contact& contact : here_->contacts) {
    if (contact.gap < (deepest ? deepest->gap : 0.0)) deepest = &contact;
  }
  if (!deepest) return;
  report.deepest = describe(here_->geometry, *deepest);
  for (const contact::Contact& contact : here_->contacts) report.overlaps += contact.gap <= 0.5 * deepest->gap ? 1 : 0;
}

bool Stepper::grows(int fibre) const {
  return fibre >= 0 && assembly::grows(world_.fibres[fibre], end_time_ - motion_.dt, end_time_);
}

void Stepper::report_contacts(const Pass& pass, StepReport& report) {
  const double dt = motion_.dt;
  report.contacts = static_cast<int>(pass.contacts.size());
  report.residual = std::max(report.residual, pass.solution.scaled_error);
  if (report.solver_status == Status::converged) report.solver_status = pass.solution.status;
  contact_reports_.clear();
  obstacle_work_ = 0.0;
  if (report.parts == 0) report_overlap(report);
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const Vector3 local = pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    ContactReport out = describe(pass.at->geometry, contact);
    out.state = friction::classify(local, pass.problem.mu[static_cast<Eigen::Index>(i)]);
    out.slip = friction::tangential_norm(pass.solution.velocity.segment<3>(3 * static_cast<Eigen::Index>(i)));
    const Vector3 impulse = contact.frame * local / options_.theta;  // over the whole part
    out.force = impulse / dt;
    // A fibre that grew leans into what it touches: what brings it back across is work of growing.
    if (grows(out.fibre_a) || grows(out.fibre_b)) growth_work_ -= local[0] / options_.theta * pass.bias[i];
    const auto load = [&](int obstacle, const Vector3& point, double sign) {
      ObstacleLoad& on = report.obstacles[obstacle];
      const Vector3& origin = pass.places[obstacle].position;
      on.force += sign * impulse / options_.dt;
      on.torque += sign * (point - origin).cross(impulse) / options_.dt;
      on.contacts += local.isZero(0.0) ? 0 : 1;
    };
    if (out.obstacle_b >= 0) {
      const Vector3 point = assembly::surface_point(pass.at->geometry, contact);
      load(out.obstacle_b, point, 1.0);
      if (out.obstacle_a >= 0) load(out.obstacle_a, point, -1.0);
      if (assembly::free_body_of(world_, out.obstacle_b) < 0)
        obstacle_work_ -=
            impulse.dot(assembly::surface_velocity(world_, pass.at->geometry, contact, motion_, pass.instants[i]));
    }
    contact_reports_.push_back(out);
  }
}

void Stepper::report_holds(const Pass& pass, StepReport& report) {
  hold_work_ = 0.0;
  for (const assembly::HoldImpulse& impulse : pass.holds) {
    const assembly::Hold& hold = world_.holds[impulse.hold];
    const Vector3 linear = impulse.linear / options_.theta;  // over the whole part
    const Vector3 angular = impulse.angular / options_.theta;
    HoldLoad& load = report.holds[impulse.hold];
    load.force -= linear / options_.dt;
    load.torque -= angular / options_.dt;
    const Twist velocity = assembly::held_velocity(world_, hold, pass.velocities[hold.fibre]);
    hold_work_ += linear.dot(velocity.linear) + angular.dot(velocity.angular);
    load.error = assembly::hold_error(world_, impulse, end_time_, stage());
  }
}

/// Work of the air and of moving roots over this part of the step. The root's share is what the balance of momentum of
/// its tree leaves. The rods hold the kinematics of the end, state_ those of the start.
double Stepper::root_and_air_work(const Pass& pass) {
  double work = 0.0;
  const auto is_moved = [](const assembly::Fibre& fibre) { return clamped(fibre) && !fibre.root_motion.at_rest(); };
  std::vector<rods::RodMotion> motions(world_.fibres.size());
  detail::for_each_fibre(motions.size(), [&](std::size_t f) {
    const assembly::Fibre& fibre = world_.fibres[f];
    if (fibre.drag > 0.0 || is_moved(fibre)) motions[f] = mean_motion(static_cast<int>(f));
  });
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    const assembly::Fibre& fibre = world_.fibres[f];
    const bool moving = is_moved(fibre);
    if (fibre.drag <= 0.0 && !moving) continue;
    const rods::RodMotion& motion = motions[f];
    work -= motion_.dt * fibre.drag * (motion.square - air_.dot(motion.velocity));
    if (moving) work += root_work(static_cast<int>(f), pass);
  }
  return work;
}

/// Of a rod at the end that moves with the mean velocity of this part.
rods::RodMotion Stepper::mean_motion(int f) {
  rods::Rod& rod = *world_.fibres[f].rod;
  if (options_.theta == 1.0) return rod.motion();
  const rods::RodState end = rod.state();
  rods::RodState mean = end;
  const VectorX last = rods::generalised_velocity(rod, end);
  rods::set_generalised_velocity(rod, start_velocities_[f] + options_.theta * (last - start_velocities_[f]), mean);
  rod.update(mean);
  rods::RodMotion motion = rod.motion();
  rod.update(end);
  return motion;
}

double Stepper::root_work(int trunk, const Pass& pass) {
  const assembly::Tree& tree = motion_.forest.trees[motion_.forest.tree_of[trunk]];
  const double dt = motion_.dt;
  Vector3 impulse = Vector3::Zero();
  Vector3 moment = Vector3::Zero();
  for (const int f : tree.fibres) {
    const assembly::Fibre& fibre = world_.fibres[f];
    rods::Rod& rod = *fibre.rod;
    const rods::RodMotion motion = mean_motion(f);
    const rods::RodState end = rod.state();
    Vector3 linear, angular, linear_before, angular_before;
    rod.momentum(linear, angular);
    rod.update(state_.rods[f]);
    rod.momentum(linear_before, angular_before);
    rod.update(end);
    Vector3 first_moment;  // int rho S r ds
    for (int axis = 0; axis < 3; ++axis) first_moment[axis] = -rod.energies(Vector3::Unit(axis)).gravity;
    const Vector3 air = -fibre.drag * (motion.velocity - rod.length() * air_);
    const Vector3 air_moment = -fibre.drag * (motion.angular - motion.position.cross(air_));
    impulse += linear - linear_before - dt * (rod.mass() * world_.gravity + air);
    moment += angular - angular_before - dt * (first_moment.cross(world_.gravity) + air_moment);
    for (const ContactReport& contact : contact_reports_) {
      for (const auto& [at, point, sign] :
           {std::tuple(contact.fibre_a, contact.point_a, -1.0), std::tuple(contact.fibre_b, contact.point_b, 1.0)}) {
        if (at != f) continue;
        impulse -= sign * dt * contact.force;
        moment -= sign * dt * point.cross(contact.force);
      }
    }
  }
  for (const assembly::HoldImpulse& held : pass.holds) {
    const assembly::Hold& hold = world_.holds[held.hold];
    if (motion_.forest.tree_of[hold.fibre] != motion_.forest.tree_of[trunk]) continue;
    const Vector3 point =
        geometry::position(world_.fibres[hold.fibre].rod->piece(hold.piece), assembly::held_parameter(world_, hold));
    impulse -= held.linear / options_.theta;
    moment -= (point.cross(held.linear) + held.angular) / options_.theta;
  }
  const Pose& root = world_.fibres[trunk].rod->state().root;
  const Twist& velocity = world_.fibres[trunk].rod->state().root_velocity;
  return impulse.dot(velocity.linear) + (moment - root.position.cross(impulse)).dot(velocity.angular);
}

}  // namespace tresse::dynamics
