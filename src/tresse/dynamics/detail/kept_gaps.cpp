#include <tresse/dynamics/detail/kept_gaps.hpp>

#include <algorithm>
#include <cmath>

namespace tresse::dynamics::detail {
namespace {

constexpr double close = 0.01;     // of a radius: what nearly touches, and by how much a pair must open
constexpr double farthest = 10.0;  // of a radius: how far a contact may have moved along its first body

/// The entry of the same two bodies that is nearest along both; null without one.
const contact::PairIndex::Entry* nearest(const contact::PairIndex& index, const BodyPair& bodies, double s_a,
                                         double s_b, double within) {
  const contact::PairIndex::Entry* best = nullptr;
  double least = 0.0;
  for (const contact::PairIndex::Entry& entry : index.near(bodies, s_a, within)) {
    const double distance = std::abs(entry.s_a - s_a) + std::abs(entry.s_b - s_b);
    if (best && !(distance < least)) continue;
    best = &entry;
    least = distance;
  }
  return best;
}

BodyPair bodies_of(const contact::Geometry& geometry, const assembly::World& world, const WarmContact& warm,
                   const contact::Along& at) {
  return {geometry.pieces[static_cast<std::size_t>(at.a)].id, assembly::body_of_number(world, warm.place.body_b)};
}

}  // namespace

void KeptGaps::clear() {
  index_.clear();
  gaps_.clear();
}

void KeptGaps::begin(const Configuration& start) {
  clear();
  for (const contact::Contact& contact : start.contacts) {
    const double radius = start.geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
    if (contact.gap > close * radius) continue;
    index_.add(contact::bodies_of(start.geometry, contact), contact::along_a(start.geometry, contact),
               static_cast<int>(gaps_.size()), contact::along_b(start.geometry, contact));
    gaps_.push_back(contact.gap);
  }
  index_.sort();
}

void KeptGaps::take(const Configuration& start, const std::vector<WarmContact>& warm, const assembly::World& world) {
  clear();
  contact::PairIndex before;
  for (std::size_t i = 0; i < warm.size(); ++i) {
    if (!warm[i].kept_gap) continue;
    const contact::Along at = contact::along(start.geometry, warm[i].place);
    before.add(bodies_of(start.geometry, world, warm[i], at), at.s_a, static_cast<int>(i), at.s_b);
  }
  if (before.empty()) return;
  before.sort();
  for (const contact::Contact& contact : start.contacts) {
    const double radius = start.geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
    const BodyPair bodies = contact::bodies_of(start.geometry, contact);
    const double s_a = contact::along_a(start.geometry, contact), s_b = contact::along_b(start.geometry, contact);
    const auto* entry = nearest(before, bodies, s_a, s_b, farthest * radius);
    if (!entry) continue;
    const double gap = *warm[static_cast<std::size_t>(entry->index)].kept_gap;
    if (contact.gap > std::max(gap, 0.0) + close * radius) continue;
    index_.add(bodies, s_a, static_cast<int>(gaps_.size()), s_b);
    gaps_.push_back(gap);
  }
  index_.sort();
}

void KeptGaps::hand_on(const contact::Geometry& geometry, const assembly::World& world,
                       std::vector<WarmContact>& warm) const {
  if (gaps_.empty()) return;
  for (WarmContact& contact : warm) {
    const contact::Along at = contact::along(geometry, contact.place);
    const double radius = geometry.pieces[static_cast<std::size_t>(at.a)].radius;
    const auto* entry = nearest(index_, bodies_of(geometry, world, contact, at), at.s_a, at.s_b, farthest * radius);
    if (entry) contact.kept_gap = gaps_[static_cast<std::size_t>(entry->index)];
  }
}

std::optional<double> KeptGaps::of(const contact::Geometry& geometry, const contact::Contact& contact) const {
  if (gaps_.empty()) return std::nullopt;
  const double radius = geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
  const auto* entry = nearest(index_, contact::bodies_of(geometry, contact), contact::along_a(geometry, contact),
                              contact::along_b(geometry, contact), farthest * radius);
  if (!entry) return std::nullopt;
  return gaps_[static_cast<std::size_t>(entry->index)];
}

}  // namespace tresse::dynamics::detail
