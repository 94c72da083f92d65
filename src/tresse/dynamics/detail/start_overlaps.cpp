#include <tresse/dynamics/detail/start_overlaps.hpp>

#include <algorithm>
#include <cmath>

namespace tresse::dynamics::detail {

void StartOverlaps::note(const Configuration& start, double dt, const StepOptions& options) {
  deep_.clear();
  wanted_gaps_.clear();
  jammed_.clear();
  deepest_.clear();
  for (const contact::Contact& contact : start.contacts) {
    if (contact.gap >= 0.0) continue;
    const BodyPair bodies = contact::bodies_of(start.geometry, contact);
    double& deepest = deepest_[bodies];
    deepest = std::max(deepest, -contact.gap);
    const std::optional<double> kept = kept_.of(start.geometry, contact);
    // A part of a step corrects its share: the speed is that of a correction over the whole step at most.
    const double wanted = std::min(contact.gap * (1.0 - dt / options.dt), contact.gap + options.push_out_speed * dt);
    if (wanted >= (kept ? *kept : 0.0)) continue;
    deep_.add(bodies, contact::along_a(start.geometry, contact), static_cast<int>(wanted_gaps_.size()));
    wanted_gaps_.push_back(wanted);
  }
  deep_.sort();
}

void StartOverlaps::note_jammed(const contact::Geometry& geometry, const std::vector<contact::Contact>& contacts) {
  for (const contact::Contact& contact : contacts)
    jammed_.add(contact::bodies_of(geometry, contact), contact::along_a(geometry, contact), 0);
  jammed_.sort();
}

bool StartOverlaps::is_jammed(const contact::Geometry& geometry, const contact::Contact& contact) const {
  if (jammed_.empty()) return false;
  const double s = contact::along_a(geometry, contact);
  const std::span<const contact::PairIndex::Entry> known = jammed_.of(contact::bodies_of(geometry, contact));
  return std::any_of(known.begin(), known.end(),
                     [&](const auto& entry) { return std::abs(entry.s_a - s) < geometry.pieces[contact.a].radius; });
}

double StartOverlaps::wanted_gap(const contact::Geometry& geometry, const contact::Contact& contact) const {
  double wanted = kept_.of(geometry, contact).value_or(-contact.slack);
  if (deep_.empty()) return wanted;
  const contact::Piece& a = geometry.pieces[contact.a];
  const double s = contact::along_a(geometry, contact);
  for (const contact::PairIndex::Entry& entry : deep_.of(contact::bodies_of(geometry, contact))) {
    if (std::abs(entry.s_a - s) < 10.0 * a.radius + a.travel.farthest())
      wanted = std::min(wanted, wanted_gaps_[static_cast<std::size_t>(entry.index)]);
  }
  return wanted;
}

double StartOverlaps::shortfall(const Configuration& end) const {
  double largest = 0.0;
  for (const contact::Contact& contact : end.contacts) {
    if (contact.gap < -largest && !is_jammed(end.geometry, contact))
      largest = std::max(largest, wanted_gap(end.geometry, contact) - contact.gap);
  }
  return largest;
}

bool StartOverlaps::sides_lost(const Configuration& end) const {
  return std::any_of(end.contacts.begin(), end.contacts.end(), [&](const contact::Contact& contact) {
    const double radius_b = contact::skin_at(end.geometry, contact.b);
    const double half = 0.5 * (end.geometry.pieces[contact.a].radius + radius_b);
    return contact.gap < -half && contact.gap < wanted_gap(end.geometry, contact) - half &&
           !is_jammed(end.geometry, contact);
  });
}

bool StartOverlaps::sinks(const Configuration& end, double tolerated) const {
  constexpr double much = 0.1;
  return std::any_of(end.contacts.begin(), end.contacts.end(), [&](const contact::Contact& contact) {
    const double most = std::max(tolerated, much * end.geometry.pieces[contact.a].radius);
    return contact.gap < -most && contact.gap < wanted_gap(end.geometry, contact) - most &&
           !is_jammed(end.geometry, contact);
  });
}

double StartOverlaps::depth_at_start(const BodyPair& bodies) const {
  const auto found = deepest_.find(bodies);
  return found == deepest_.end() ? 0.0 : found->second;
}

}  // namespace tresse::dynamics::detail
