#include <tresse/dynamics/detail/contact_reports.hpp>

#include <algorithm>
#include <array>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/contact/touches.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::dynamics::detail {
namespace {

/// A place of two pieces, or of a piece and a surface, as a contact without a gap.
contact::Contact contact_at(const contact::Geometry& geometry, const contact::Crossing& crossing) {
  contact::Contact contact;
  contact.a = crossing.a;
  contact.b = crossing.b;
  contact.s_a = crossing.s_a;
  contact.s_b = crossing.s_b;
  const auto point = [&](int piece, double s) {
    return geometry::position(geometry.pieces[static_cast<std::size_t>(piece)].curve, s);
  };
  contact.point_a = point(contact.a, contact.s_a);
  contact.point_b = contact.b >= 0 ? point(contact.b, contact.s_b) : contact.point_a;
  contact.frame.setZero();
  contact.frame.col(0) = (contact.point_b - contact.point_a).normalized();
  return contact;
}

}  // namespace

std::optional<ContactReport> find_crossing(const Part& part, const HeldPoints& holds, const StartOverlaps& overlaps,
                                           const Configuration& start, const Configuration& end, double share,
                                           const contact::SearchedWay* searched, double& least_gap) {
  const auto passed_over = [&](const contact::Crossing& crossing) {
    const contact::Contact contact = contact_at(end.geometry, crossing);
    return assembly::joined(part.start, end.geometry, contact) || overlaps.is_jammed(end.geometry, contact) ||
           holds.cannot_give_way(part.start, end.geometry, contact);
  };
  constexpr double small = 0.5;  // hairs slide by that in a step: what is more exact takes long
  const contact::PassageOptions options{.broad_phase = part.options.broad_phase,
                                        .share = share,
                                        .searched = searched,
                                        .small = small,
                                        .known_gap = least_gap};
  const contact::Passage passage = contact::find_passage(start.geometry, end.geometry, options, passed_over);
  least_gap = passage.least_gap;
  if (passage.crossings.empty()) return {};
  return assembly::report_of(end.geometry, contact_at(end.geometry, passage.crossings.front()));
}

std::optional<FoundTouch> find_touch(const Part& part, const HeldPoints& holds, const Configuration& start,
                                     const Configuration& end, const contact::SearchedWay* searched) {
  // What begins in a contact that cannot give way leaves it within so many radii.
  constexpr double radii = 4.0;
  const auto passed_over = [&](const contact::Crossing& crossing) {
    const contact::Contact contact = contact_at(end.geometry, crossing);
    return assembly::joined(part.start, end.geometry, contact) ||
           holds.cannot_give_way(part.start, end.geometry, contact, radii);
  };
  const std::vector<contact::Touch> touches = contact::find_touches(
      start.geometry, end.geometry, {.broad_phase = part.options.broad_phase, .searched = searched}, passed_over);
  if (touches.empty()) return {};
  auto first = std::find_if(touches.begin(), touches.end(), [](const contact::Touch& x) { return !x.from_begin; });
  if (first == touches.end()) first = touches.begin();
  return FoundTouch{assembly::report_of(end.geometry, contact_at(end.geometry, first->at)), first->from_begin};
}

void report_overlap(const Configuration& start, const StartOverlaps& overlaps, StepReport& report) {
  const auto gap_of = [&](const contact::Contact& contact) {
    return contact.gap - std::min(0.0, overlaps.kept().of(start.geometry, contact).value_or(0.0));
  };
  const contact::Contact* deepest = nullptr;
  double least = -report.max_penetration;
  for (const contact::Contact& contact : start.contacts) {
    if (contact.gap >= 0.0) continue;
    const double gap = gap_of(contact);
    if (gap >= least) continue;
    deepest = &contact;
    least = gap;
  }
  if (!deepest) return;
  report.max_penetration = -least;
  report.deepest = assembly::report_of(start.geometry, *deepest);
  report.overlaps = 0;
  for (const contact::Contact& contact : start.contacts)
    report.overlaps += contact.gap < 0.0 && gap_of(contact) <= 0.5 * least ? 1 : 0;
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
    out.slip = friction::tangential_norm(
        Vector3(pass.solution.velocity.segment<3>(3 * static_cast<Eigen::Index>(i)) - pass.bias[i]));
    out.force = contact.frame * local / (part.options.theta * part.motion.dt);
    reports.push_back(out);
  }
  return reports;
}

void report_contacts(const Part& part, const Pass& pass, const std::vector<ContactReport>& contacts,
                     StepReport& report) {
  report.contacts = static_cast<int>(pass.contacts.size());
  report.residual = std::max(report.residual, pass.solution.scaled_error);
  if (report.solver_status == Status::converged) report.solver_status = pass.solution.status;
  for (const contact::Contact& contact : pass.jammed) {
    if (!report.jammed || contact.gap < report.jammed->gap)
      report.jammed = assembly::report_of(pass.at->geometry, contact);
  }
  for (const std::optional<Vector3>& slip : pass.slips) {
    if (slip) report.largest_stick_drift = std::max(report.largest_stick_drift, slip->norm());
  }
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const ContactReport& of = contacts[i];
    if (of.b.body.is_fibre()) continue;
    const Vector3 share = of.force * (part.motion.dt / part.options.dt);
    const assembly::ActingPoints at = assembly::acting_points(part.world, pass.at->geometry, pass.contacts[i]);
    const auto load = [&](int obstacle, const Vector3& point, double sign) {
      ObstacleLoad& on = report.obstacles[obstacle];
      on.force += sign * share;
      on.torque += sign * (point - pass.places[obstacle].position).cross(share);
      on.contacts += of.force.isZero(0.0) ? 0 : 1;
    };
    load(of.b.body.index, at.b, 1.0);
    if (!of.a.body.is_fibre()) load(of.a.body.index, at.a, -1.0);
  }
}

namespace {

/// How the material at a side of a contact moves over a part.
struct SideMotion {
  Vector3 from, to;                    ///< the point of a centreline, or of an obstacle's surface [m]
  Matrix3 turn = Matrix3::Identity();  ///< of what is near it; with contact at the surface
};

SideMotion motion_of(const Part& part, const Configuration& start, const Configuration& end,
                     const contact::Piece& piece, double s) {
  const double u = piece.span.in_material(s);
  const auto at = [&](const contact::Geometry& geometry) {
    const contact::OnPiece on = contact::piece_at(geometry, piece.body, piece.element, u);
    return geometry::position(geometry.pieces[static_cast<std::size_t>(on.piece)].curve, on.s);
  };
  SideMotion out{at(start.geometry), at(end.geometry)};
  const bool turns = part.world.contact_at == assembly::ContactAt::surface;
  if (!turns || !part.world.fibres[static_cast<std::size_t>(piece.body)].model->twists()) return out;
  const auto frame = [&](const assembly::Kinematics& rods) {
    const rods::Rod& rod = rods.rod(piece.body);
    return rod.section(rod.piece_begin(piece.element) + u).frame;
  };
  out.turn = frame(part.end) * frame(part.start).transpose();
  return out;
}

/// Axes that turn with the face of a mesh that a contact is on.
Matrix3 face_frame(const contact::Geometry& geometry, const contact::Contact& contact) {
  const std::array<Vector3, 3> corners = contact::mesh_at(geometry, contact.b).corners(contact.face);
  Matrix3 out;
  out.col(0) = (corners[1] - corners[0]).normalized();
  out.col(2) = out.col(0).cross(corners[2] - corners[0]).normalized();
  out.col(1) = out.col(2).cross(out.col(0));
  return out;
}

/// By how much the material of b moves over that of a at a contact of a pass, seen from b: what turns with it does not
/// slip, and neither does what rolls. (3) [m]
Vector3 way_over(const Part& part, const Configuration& start, const Configuration& end, const Pass& pass,
                 std::size_t i) {
  const contact::Contact& contact = pass.contacts[i];
  const contact::Geometry& geometry = pass.at->geometry;
  const SideMotion a = motion_of(part, start, end, geometry.pieces[static_cast<std::size_t>(contact.a)], contact.s_a);
  const assembly::ActingPoints points = assembly::acting_points(part.world, geometry, contact);
  SideMotion b;
  if (const BodyId id = contact::id_at(geometry, contact.b); id.is_fibre()) {
    b = motion_of(part, start, end, geometry.pieces[static_cast<std::size_t>(contact.b)], contact.s_b);
  } else {
    const Pose& before = part.motion.obstacles_begin[static_cast<std::size_t>(id.index)];
    const Pose& after = part.motion.obstacles_end[static_cast<std::size_t>(id.index)];
    if (id.moves()) {  // it may roll on a, and is seen from there
      const Vector3 arm = points.b - assembly::obstacle_place(part.motion, id.index, pass.instants[i]).position;
      return a.turn.transpose() * (after.position - a.to) - (before.position - a.from) +
             math::rotation_log(a.turn.transpose() * after.frame * before.frame.transpose()).cross(arm);
    }
    const Vector3 way =
        part.motion.dt * assembly::surface_velocity(part.world, geometry, contact, part.motion, pass.instants[i]);
    b = {points.b, points.b + way};
    if (part.world.contact_at == assembly::ContactAt::surface) {
      const bool mesh = contact::is_mesh(geometry, contact.b);
      const Matrix3 from = mesh ? face_frame(start.geometry, contact) : before.frame;
      const Matrix3 to = mesh ? face_frame(end.geometry, contact) : after.frame;
      b.turn = to * from.transpose();
    }
  }
  const Vector3 arm = points.a - contact.point_a;
  return (a.from - b.from) - b.turn.transpose() * (a.to - b.to) -
         math::rotation_log(b.turn.transpose() * a.turn).cross(arm);
}

}  // namespace

void note_slips(const Part& part, const Configuration& start, const Configuration& end, Pass& pass) {
  // What carries next to nothing is held by nothing, and touches in the eyes of rounding alone.
  constexpr double nothing = 1e-10;
  double largest = 0.0;
  for (Eigen::Index at = 0; at < pass.solution.impulse.size(); at += 3)
    largest = std::max(largest, pass.solution.impulse[at]);
  constexpr std::size_t block = 256;
  for_blocks(pass.contacts.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto at = 3 * static_cast<Eigen::Index>(i);
      const Vector3 impulse = pass.solution.impulse.segment<3>(at);
      const bool sticks = impulse[0] > nothing * largest &&
                          friction::classify(impulse, pass.problem.mu[at / 3]) == friction::ContactCase::stick;
      std::optional<Vector3>& slip = pass.slips[i];
      if (!sticks || !pass.at->geometry.pieces[static_cast<std::size_t>(pass.contacts[i].a)].id.is_fibre()) {
        slip.reset();
      } else if (!slip) {  // it begins to
        slip = Vector3::Zero();
      } else {
        slip = along_surface(pass.contacts[i], *slip + way_over(part, start, end, pass, i));
      }
    }
  });
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
