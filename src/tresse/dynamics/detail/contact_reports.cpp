#include <tresse/dynamics/detail/contact_reports.hpp>

#include <algorithm>

#include <Eigen/Geometry>

#include <tresse/contact/crossings.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::dynamics::detail {
namespace {

/// Names the deepest contact of a configuration, if it is deeper than those of earlier parts.
void report_overlap(const Configuration& start, StepReport& report) {
  const contact::Contact* deepest = nullptr;
  for (const contact::Contact& contact : start.contacts) {
    if (contact.gap < (deepest ? deepest->gap : -report.max_penetration)) deepest = &contact;
  }
  if (!deepest) return;
  report.max_penetration = -deepest->gap;
  report.deepest = assembly::report_of(start.geometry, *deepest);
  report.overlaps = 0;
  for (const contact::Contact& contact : start.contacts) report.overlaps += contact.gap <= 0.5 * deepest->gap ? 1 : 0;
}

}  // namespace

std::optional<ContactReport> find_crossing(const Part& part, const Configuration& start, const Configuration& end,
                                           const std::vector<contact::CandidatePair>& near) {
  for (const contact::Crossing& crossing : contact::find_crossings(start.geometry, end.geometry, near)) {
    contact::Contact contact;
    contact.a = crossing.a;
    contact.b = crossing.b;
    contact.s_a = crossing.s_a;
    contact.s_b = crossing.s_b;
    if (assembly::joined(part.start, end.geometry, contact)) continue;
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

double largest_overlap(const Configuration& at) {
  double deepest = 0.0;
  for (const contact::Contact& contact : at.contacts) deepest = std::max(deepest, -contact.gap);
  return deepest;
}

std::vector<ContactReport> describe_contacts(const Part& part, const Pass& pass) {
  std::vector<ContactReport> reports;
  reports.reserve(pass.contacts.size());
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const Vector3 local = pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    ContactReport out = assembly::report_of(pass.at->geometry, contact);
    out.state = friction::classify(local, pass.problem.mu[static_cast<Eigen::Index>(i)]);
    out.slip = friction::tangential_norm(pass.solution.velocity.segment<3>(3 * static_cast<Eigen::Index>(i)));
    out.force = contact.frame * local / (part.options.theta * part.motion.dt);
    reports.push_back(out);
  }
  return reports;
}

void report_contacts(const Part& part, const Pass& pass, const std::vector<ContactReport>& contacts,
                     const Configuration& start, StepReport& report) {
  report.contacts = static_cast<int>(pass.contacts.size());
  report.residual = std::max(report.residual, pass.solution.scaled_error);
  if (report.solver_status == Status::converged) report.solver_status = pass.solution.status;
  report_overlap(start, report);
  for (const contact::Contact& contact : pass.jammed) {
    if (!report.jammed || contact.gap < report.jammed->gap)
      report.jammed = assembly::report_of(pass.at->geometry, contact);
  }
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const ContactReport& of = contacts[i];
    if (of.b.body.is_fibre()) continue;
    const Vector3 share = of.force * (part.motion.dt / part.options.dt);
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

void report_holds(const Part& part, const Pass& pass, StepReport& report) {
  for (const assembly::HoldImpulse& impulse : pass.holds) {
    HoldLoad& load = report.holds[impulse.hold];
    load.force -= impulse.linear / (part.options.theta * part.options.dt);  // over the whole part
    load.torque -= impulse.angular / (part.options.theta * part.options.dt);
    load.error = assembly::hold_error(part.end, impulse, part.span.end, part.stage());
  }
}

}  // namespace tresse::dynamics::detail
