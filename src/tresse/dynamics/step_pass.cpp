#include <map>

#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics {
namespace {

using Key = std::array<int, 4>;

/// Names the two pieces of a contact across steps: body and element of both. Element -1: a plane.
Key key_of(const contact::Geometry& geometry, const contact::Contact& contact) {
  const contact::Piece& a = geometry.pieces[contact.a];
  if (contact.b < 0) return {a.body, a.element, geometry.planes[-1 - contact.b].body, -1};
  const contact::Piece& b = geometry.pieces[contact.b];
  return {a.body, a.element, b.body, b.element};
}

/// The gap that the end of the step must reach: zero, or for a deep penetration what the bounded push-out speed allows.
double wanted_gap(double start_gap, const StepOptions& options) {
  return std::min(0.0, start_gap + options.push_out_speed * options.dt);
}

}  // namespace

void Stepper::Pass::detect(const assembly::World& world, const contact::Geometry& geometry,
                           const std::vector<contact::CandidatePair>& pairs, const assembly::FreeMotion& motion,
                           const StepOptions& options, const Pass* previous) {
  instant = previous ? assembly::Instant::end : assembly::Instant::begin;
  std::multimap<Key, double> known_gaps;
  if (previous) {
    for (std::size_t i = 0; i < previous->contacts.size(); ++i) {
      known_gaps.emplace(key_of(geometry, previous->contacts[i]), previous->start_gap[i]);
    }
  }
  std::vector<contact::Contact> found = contact::detect(geometry, pairs, options.detection);
  if (previous && previous->overlap > options.overlap_tolerance) add_lost_contacts(geometry, *previous, found);
  for (const contact::Contact& contact : found) {
    max_penetration = std::max(max_penetration, -contact.gap);
    const Vector3 free = assembly::relative_velocity(world, geometry, contact, motion.velocities, motion, instant);
    double travelled = 0.0;  // of the gap, from the start of the step to this configuration, linearised
    double gap_at_start = contact.gap;
    if (previous) {
      travelled =
          options.dt * assembly::relative_velocity(world, geometry, contact, previous->velocities, motion, instant)[0];
      // A contact first met at the end of the step was open at its start, whatever the linearisation says.
      const auto known = known_gaps.find(key_of(geometry, contact));
      gap_at_start = known == known_gaps.end() ? std::max(0.0, contact.gap - travelled) : known->second;
      overlap = std::max(overlap, wanted_gap(gap_at_start, options) - contact.gap);
    }
    if (contact.gap - travelled > options.margin + options.dt * free.norm()) continue;
    contacts.push_back(contact);
    start_gap.push_back(gap_at_start);
    bias.push_back((contact.gap - travelled - wanted_gap(gap_at_start, options)) / options.dt);
  }
}

/// Two linearisations can each find one contact and lose the other's, for ever. What carried a load in the last pass
/// and is not found any more near its place is kept at its abscissae: that pair of points must not overlap either.
void Stepper::Pass::add_lost_contacts(const contact::Geometry& geometry, const Pass& previous,
                                      std::vector<contact::Contact>& found) {
  const std::size_t count = found.size();
  for (std::size_t i = 0; i < previous.contacts.size(); ++i) {
    const contact::Contact& old = previous.contacts[i];
    if (previous.solution.impulse[3 * static_cast<Eigen::Index>(i)] <= 0.0) continue;
    const double near = 4.0 * geometry.pieces[old.a].radius;
    const bool still_there = std::any_of(
        found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), [&](const contact::Contact& contact) {
          const double here = geometry.pieces[contact.a].begin + contact.s_a;
          const double there = geometry.pieces[old.a].begin + old.s_a;
          return geometry.pieces[contact.a].body == geometry.pieces[old.a].body && std::abs(here - there) < near &&
                 (contact.b < 0 || old.b < 0 ? contact.b == old.b
                                             : geometry.pieces[contact.b].body == geometry.pieces[old.b].body);
        });
    if (!still_there) found.push_back(contact::at_same_place(geometry, old));
  }
}

void Stepper::Pass::take_impulses(const std::vector<WarmContact>& warm, const contact::Geometry& geometry) {
  std::multimap<Key, const WarmContact*> known;
  for (const WarmContact& contact : warm) known.emplace(contact.key, &contact);
  guess = VectorX::Zero(3 * static_cast<Eigen::Index>(contacts.size()));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto found = known.find(key_of(geometry, contacts[i]));
    if (found == known.end()) continue;
    guess.segment<3>(3 * static_cast<Eigen::Index>(i)) = contacts[i].frame.transpose() * found->second->impulse;
    known.erase(found);
  }
}

std::vector<WarmContact> Stepper::Pass::impulses(const contact::Geometry& geometry) const {
  std::vector<WarmContact> out;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vector3 impulse = solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (impulse.isZero(0.0)) continue;
    out.push_back({key_of(geometry, contacts[i]), contacts[i].frame * impulse});
  }
  return out;
}

}  // namespace tresse::dynamics
