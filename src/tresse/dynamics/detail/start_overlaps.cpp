#include <tresse/dynamics/detail/start_overlaps.hpp>

#include <algorithm>
#include <cmath>

namespace tresse::dynamics::detail {

void StartOverlaps::note(const Configuration& start, double dt, const StepOptions& options) {
  deep_.clear();
  jammed_.clear();
  overlaps_.clear();
  for (const contact::Contact& contact : start.contacts) {
    if (contact.gap >= 0.0) continue;
    const contact::Place place = contact::place_of(start.geometry, contact);
    double& deepest = overlaps_[{place.body_a, place.body_b}];
    deepest = std::max(deepest, -contact.gap);
    // A part of a step corrects its share: the speed is that of a correction over the whole step at most.
    const double wanted = std::min(contact.gap * (1.0 - dt / options.dt), contact.gap + options.push_out_speed * dt);
    if (wanted >= 0.0) continue;
    const double s_a = contact::material_at(start.geometry.pieces[contact.a], contact.s_a);
    deep_.push_back({place.body_a, place.body_b, s_a, wanted});
  }
  std::stable_sort(deep_.begin(), deep_.end(),
                   [](const DeepContact& x, const DeepContact& y) { return x.bodies() < y.bodies(); });
}

bool StartOverlaps::is_jammed(const contact::Geometry& geometry, const contact::Contact& contact) const {
  if (jammed_.empty()) return false;
  const contact::Place place = contact::place_of(geometry, contact);
  const contact::Piece& a = geometry.pieces[contact.a];
  return std::any_of(jammed_.begin(), jammed_.end(), [&](const DeepContact& x) {
    return x.bodies() == std::pair(place.body_a, place.body_b) &&
           std::abs(x.s_a - contact::material_at(a, contact.s_a)) < a.radius;
  });
}

double StartOverlaps::wanted_gap(const contact::Geometry& geometry, const contact::Contact& contact) const {
  double wanted = 0.0;
  if (deep_.empty()) return wanted;
  const contact::Piece& a = geometry.pieces[contact.a];
  const contact::Place place = contact::place_of(geometry, contact);
  const std::pair bodies(place.body_a, place.body_b);
  const auto first = std::lower_bound(deep_.begin(), deep_.end(), bodies,
                                      [](const DeepContact& x, const auto& y) { return x.bodies() < y; });
  for (auto deep = first; deep != deep_.end() && deep->bodies() == bodies; ++deep) {
    if (std::abs(deep->s_a - contact::material_at(a, contact.s_a)) < 10.0 * a.radius + a.travel.farthest()) {
      wanted = std::min(wanted, deep->wanted_gap);
    }
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

void StartOverlaps::note_jammed(const contact::Geometry& geometry, const contact::Contact& contact) {
  const contact::Place place = contact::place_of(geometry, contact);
  const double s_a = contact::material_at(geometry.pieces[contact.a], contact.s_a);
  jammed_.push_back({place.body_a, place.body_b, s_a, contact.gap});
}

double StartOverlaps::depth_at_start(const contact::Place& place) const {
  const auto found = overlaps_.find({place.body_a, place.body_b});
  return found == overlaps_.end() ? 0.0 : found->second;
}

}  // namespace tresse::dynamics::detail
