#include <tresse/dynamics/detail/recorded_part.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/rods/chain_field.hpp>

namespace tresse::dynamics::detail {
namespace {

bool same_shape(const rods::RodState& a, const rods::RodState& b) {
  return a.coordinates == b.coordinates && a.root.position == b.root.position && a.root.frame == b.root.frame;
}

void check_world(const assembly::World& world, const StepOptions& options) {
  require(options.scheme == Scheme::carried, "gradients: another scheme than 'carried'; they know no other");
  require(!options.penalty, "gradients: a penalty law; expected the exact law of contact");
  require(!options.step_error, "gradients: a step error cuts steps where it likes; expected none");
  require(!world.fluid, "gradients: a fluid; they do not know its forces");
  require(world.holds.empty(), "gradients: held points; expected none");
  require(world.free_bodies.empty(), "gradients: bodies with a mass; expected fibres and prescribed obstacles");
  require(options.detection.method == geometry::DetectionMethod::certified,
          "gradients: another detection than 'certified'; expected that");
  for (const assembly::Fibre& fibre : world.fibres) {
    require(rods::ChainField::possible(*fibre.model),
            "gradients: a rod of nodes; expected super-helices or super-clothoids");
    require(fibre.attachment.parent < 0, "gradients: branches; expected fibres without");
    require(fibre.rest_onset == 0.0 && fibre.growth.final_scale == 1.0, "gradients: growth; expected none");
  }
}

RecordedSide side_of(const contact::Geometry& geometry, int piece, double s, const Vector3& acting) {
  RecordedSide out;
  out.acting = acting;
  if (piece < 0) return out;
  const contact::Piece& of = geometry.pieces[static_cast<std::size_t>(piece)];
  if (!of.id.is_fibre()) {
    const geometry::CurveJet jet = geometry::jet(of.curve, s);
    out.tangent = jet.first;
    out.second = jet.second;
    return out;
  }
  out.fibre = of.body;
  out.element = of.element;
  out.u = of.span.in_material(s);
  return out;
}

/// Whether a contact has derivatives: not with meshes, free bodies and contacts whose bodies' axes meet.
bool differentiable(const contact::Geometry& geometry, const contact::Contact& contact) {
  if (contact::is_mesh(geometry, contact.b) || !geometry.pieces[static_cast<std::size_t>(contact.a)].id.is_fibre())
    return false;
  const BodyId other = contact::id_at(geometry, contact.b);
  if (!other.is_fibre() && other.moves()) return false;
  return contact::is_plane(geometry, contact.b) || (contact.point_b - contact.point_a).norm() > 0.0;
}

/// Those contacts of a pass that the next one, or state, knows of: as warm_contacts().
std::vector<std::size_t> warm_of(const Part& part, const Pass& pass) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const Vector3 impulse = pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (!impulse.isZero(0.0) || pass.contacts[i].gap <= part.options.margin) out.push_back(i);
  }
  return out;
}

}  // namespace

rods::RodState state_after(const RecordedPart& part, const rods::Rod& rod, std::size_t fibre,
                           const VectorX& velocities) {
  const rods::RodState& start = part.start[fibre];
  return rod.advanced(start, velocities, part.h, part.next_roots[fibre], start.root_velocity);
}

PartRecorder::PartRecorder(const Part& part) : part_(part) { check_world(part.world, part.options); }

void PartRecorder::refuse(const std::string& why, double time) {
  if (!report_.refused.empty()) return;
  char when[64];
  static_cast<void>(std::snprintf(when, sizeof when, " at %.6g s", time));
  report_.refused = why + when;
}

void PartRecorder::record_contacts(const Pass& pass, Noted& out) {
  const contact::Geometry& geometry = pass.at->geometry;
  const Noted* before = passes_.empty() ? nullptr : &passes_.back();
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const int warm = pass.warm_of[i];
    out.slip_from.push_back(warm < 0            ? -1
                            : before == nullptr ? warm
                                                : before->slip_from[before->warm[static_cast<std::size_t>(warm)]]);
    const auto at = 3 * static_cast<Eigen::Index>(i);
    if (!(pass.solution.impulse[at] > 0.0)) continue;
    const contact::Contact& contact = pass.contacts[i];
    if (!differentiable(geometry, contact)) {
      refuse("a contact with a mesh, or of bodies whose axes meet,", part_.span.end);
      continue;
    }
    const assembly::ActingPoints points = assembly::acting_points(part_.world, geometry, contact);
    RecordedContact own;
    own.contact = contact;
    own.a = side_of(geometry, contact.a, contact.s_a, points.a);
    own.b = side_of(geometry, contact.b, contact.s_b, points.b);
    const BodyId other = contact::id_at(geometry, contact.b);
    if (!other.is_fibre()) own.obstacle = other.index;
    own.plane = contact::is_plane(geometry, contact.b);
    own.thinnest = geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
    if (other.is_fibre())
      own.thinnest = std::min(own.thinnest, geometry.pieces[static_cast<std::size_t>(contact.b)].radius);
    own.impulse = pass.solution.impulse.segment<3>(at);
    own.velocity = pass.solution.velocity.segment<3>(at);
    own.mu = pass.problem.mu[at / 3];
    own.gap_bias = pass.bias[i][0];
    own.slip = pass.slips[i];
    own.slip_from = out.slip_from[i];
    out.pass.contacts.push_back(std::move(own));
  }
}

/// In which shapes the fibres were linearised: that of the start, or those after the passes before.
void PartRecorder::take_shape_counts(Noted& out) {
  const auto count = static_cast<int>(passes_.size());
  out.pass.shape_of.assign(part_.world.fibres.size(), 0);
  for (std::size_t f = 0; count > 0 && f < out.pass.shape_of.size(); ++f) {
    const Noted& before = passes_.back();
    if (same_shape(out.shapes[f], before.shapes[f])) {  // its matrix was left as it was
      out.pass.shape_of[f] = before.pass.shape_of[f];
      continue;
    }
    const rods::RodState& start = part_.start_rods[f];
    const rods::RodState there =
        part_.start.rod(static_cast<int>(f))
            .advanced(start, before.pass.velocities[f], part_.motion.dt, part_.next_roots[f], start.root_velocity);
    out.pass.shape_of[f] = count;
    if (!same_shape(out.shapes[f], there)) refuse("a pass that was linearised elsewhere", part_.span.end);
  }
}

void PartRecorder::note(const Pass& pass, const std::vector<rods::RodState>& shapes) {
  const bool whole =
      pass.turned == 0 && (pass.instants.empty() || std::all_of(pass.instants.begin(), pass.instants.end(),
                                                                [&](auto at) { return at == pass.instants.front(); }));
  if (!whole) refuse("a contact that was linearised again by itself", part_.span.end);
  Noted noted;
  noted.pass.velocities = pass.velocities;
  noted.pass.largest_bias = pass.problem.q.size() > 0 ? pass.problem.q.lpNorm<Eigen::Infinity>() : 0.0;
  noted.shapes = shapes;
  noted.warm = warm_of(part_, pass);
  noted.impulse = pass.solution.impulse;
  noted.velocity = pass.solution.velocity;
  noted.mu = pass.problem.mu;
  record_contacts(pass, noted);
  take_shape_counts(noted);
  passes_.push_back(std::move(noted));
}

/// Notes how near contacts are to another case, and how many changed it.
void PartRecorder::watch(const Noted& pass) {
  std::vector<int> cases{0, 0};
  const double speeds = pass.pass.largest_bias;
  double largest = 0.0;
  for (Eigen::Index at = 0; at < pass.impulse.size(); at += 3) largest = std::max(largest, pass.impulse[at]);
  for (Eigen::Index at = 0; at < pass.impulse.size(); at += 3) {
    const Vector3 r = pass.impulse.segment<3>(at), u = pass.velocity.segment<3>(at);
    const double mu = pass.mu[at / 3];
    double off = 1.0;
    switch (friction::classify(r, mu)) {
      case friction::ContactCase::open:
        off = speeds > 0.0 ? u[0] / speeds : 1.0;
        break;
      case friction::ContactCase::stick:
        ++cases[0];
        off = std::min(r[0] / largest, 1.0 - friction::tangential_norm(r) / (mu * r[0]));
        break;
      case friction::ContactCase::slide:
        ++cases[1];
        off = std::min(r[0] / largest, mu > 0.0 && speeds > 0.0 ? friction::tangential_norm(u) / speeds : 1.0);
        break;
    }
    off = std::max(0.0, off);
    if (off >= report_.nearest_kink) continue;
    report_.nearest_kink = off;
    report_.kink_time = part_.span.end;
  }
  if (!cases_.empty()) report_.changes += std::abs(cases[0] - cases_[0]) + std::abs(cases[1] - cases_[1]);
  cases_ = std::move(cases);
}

bool PartRecorder::accept(const Pass& pass, bool slowed, RecordedPart& out) {
  if (slowed) refuse("a step that gained energy and was slowed", part_.span.end);
  std::size_t last = passes_.size();
  while (last > 0 && passes_[last - 1].pass.velocities != pass.velocities) --last;
  if (last == 0) {
    refuse("a step that ended in none of its passes", part_.span.end);
    return false;
  }
  out = {};
  out.to_the_last = last == passes_.size();
  passes_.resize(last);
  watch(passes_.back());
  out.span = part_.span;
  out.h = part_.motion.dt;
  out.obstacles_begin = part_.motion.obstacles_begin;
  out.obstacles_end = part_.motion.obstacles_end;
  out.air = part_.air;
  out.start = part_.start_rods;
  out.end = part_.end_rods;
  for (const rods::RodState& state : part_.state.rods) out.roots_before.push_back(state.root_velocity);
  out.next_roots = part_.next_roots;
  out.slips_before = part_.state.warm.size();
  std::vector<int> loaded(pass.contacts.size(), -1);
  int next = 0;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (passes_.back().impulse[3 * static_cast<Eigen::Index>(i)] > 0.0 &&
        differentiable(pass.at->geometry, pass.contacts[i]))
      loaded[i] = next++;
  }
  for (const std::size_t i : warm_of(part_, pass)) {
    const RecordedContact* own =
        loaded[i] < 0 ? nullptr : &passes_.back().pass.contacts[static_cast<std::size_t>(loaded[i])];
    const bool goes_on = own != nullptr && own->slip && pass.slips[i];
    out.slips.push_back(goes_on ? RecordedSlip{loaded[i], *pass.slips[i]} : RecordedSlip{});
  }
  for (Noted& noted : passes_) out.passes.push_back(std::move(noted.pass));
  passes_.clear();
  return true;
}

}  // namespace tresse::dynamics::detail
