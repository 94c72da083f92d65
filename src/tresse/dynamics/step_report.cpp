#include <algorithm>
#include <optional>

#include <Eigen/Geometry>

#include <tresse/assembly/tree.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::dynamics::detail {

/// Of two bodies that went through each other on the way from the start of this part to its end.
std::optional<ContactReport> Engine::find_crossing(const Configuration& end) const {
  const auto crossings = contact::find_crossings(here_->geometry, end.geometry, finder_.near_pairs());
  for (const contact::Crossing& crossing : crossings) {
    contact::Contact contact;
    contact.a = crossing.a;
    contact.b = crossing.b;
    contact.s_a = crossing.s_a;
    contact.s_b = crossing.s_b;
    if (assembly::joined(start_, end.geometry, contact)) continue;
    const auto point = [&](int piece, double s) {
      return geometry::position(end.geometry.pieces[static_cast<std::size_t>(piece)].curve, s);
    };
    contact.point_a = point(contact.a, contact.s_a);
    contact.point_b = point(contact.b, contact.s_b);
    contact.frame.col(0) = (contact.point_b - contact.point_a).normalized();
    return assembly::report_of(end.geometry, contact);
  }
  return {};
}

double Engine::largest_overlap() const {
  double deepest = 0.0;
  for (const contact::Contact& contact : here_->contacts) deepest = std::max(deepest, -contact.gap);
  return deepest;
}

/// Names the deepest contact of the configuration that this part starts from, if it is deeper than those of earlier
/// parts.
void Engine::report_overlap(StepReport& report) const {
  const contact::Contact* deepest = nullptr;
  for (const contact::Contact& contact : here_->contacts) {
    if (contact.gap < (deepest ? deepest->gap : -report.max_penetration)) deepest = &contact;
  }
  if (!deepest) return;
  report.max_penetration = -deepest->gap;
  report.deepest = assembly::report_of(here_->geometry, *deepest);
  report.overlaps = 0;
  for (const contact::Contact& contact : here_->contacts) report.overlaps += contact.gap <= 0.5 * deepest->gap ? 1 : 0;
}

/// The contacts of a pass with their forces over this part.
void Engine::describe_contacts(const Pass& pass) {
  contact_reports_.clear();
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const Vector3 local = pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    ContactReport out = assembly::report_of(pass.at->geometry, contact);
    out.state = friction::classify(local, pass.problem.mu[static_cast<Eigen::Index>(i)]);
    out.slip = friction::tangential_norm(pass.solution.velocity.segment<3>(3 * static_cast<Eigen::Index>(i)));
    out.force = contact.frame * local / (options_.theta * motion_.dt);
    contact_reports_.push_back(out);
  }
}

/// After describe_contacts().
void Engine::report_contacts(const Pass& pass, StepReport& report) {
  report.contacts = static_cast<int>(pass.contacts.size());
  report.residual = std::max(report.residual, pass.solution.scaled_error);
  if (report.solver_status == Status::converged) report.solver_status = pass.solution.status;
  report_overlap(report);
  if (pass.jammed && (!report.jammed || pass.jammed->gap < report.jammed->gap))
    report.jammed = assembly::report_of(pass.at->geometry, *pass.jammed);
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const ContactReport& of = contact_reports_[i];
    if (of.b.body.is_fibre()) continue;
    const Vector3 share = of.force * (motion_.dt / options_.dt);
    const Vector3 point = assembly::surface_point(pass.at->geometry, pass.contacts[i]);
    const auto load = [&](int obstacle, double sign) {
      ObstacleLoad& on = report.obstacles[obstacle];
      on.force += sign * share;
      on.torque += sign * (point - pass.places[obstacle].position).cross(share);
      on.contacts += of.force.isZero(0.0) ? 0 : 1;
    };
    load(of.b.body.index, 1.0);
    if (!of.a.body.is_fibre()) load(of.a.body.index, -1.0);
  }
}

void Engine::report_holds(const Pass& pass, StepReport& report) {
  for (const assembly::HoldImpulse& impulse : pass.holds) {
    HoldLoad& load = report.holds[impulse.hold];
    load.force -= impulse.linear / (options_.theta * options_.dt);  // over the whole part
    load.torque -= impulse.angular / (options_.theta * options_.dt);
    load.error = assembly::hold_error(end_, impulse, end_time_, stage());
  }
}

}  // namespace tresse::dynamics::detail
