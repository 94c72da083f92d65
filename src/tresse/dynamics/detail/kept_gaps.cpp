#include <tresse/dynamics/detail/kept_gaps.hpp>

#include <algorithm>
#include <cmath>

namespace tresse::dynamics::detail {
namespace {

constexpr double close = 0.01;     // of a radius: what nearly touches, and by how much a pair must open
constexpr double farthest = 10.0;  // of a radius: how far a contact may have moved along its first body

/// The nearest entry of the same two bodies; null without one.
const contact::PairIndex::Entry* nearest(const contact::PairIndex& index, const BodyPair& bodies, double s,
                                         double within) {
  const contact::PairIndex::Entry* best = nullptr;
  for (const contact::PairIndex::Entry& entry : index.near(bodies, s, within)) {
    if (!best || std::abs(entry.s_a - s) < std::abs(best->s_a - s)) best = &entry;
  }
  return best;
}

/// Where a warm contact is along its first body.
struct Along {
  BodyPair bodies;
  double s = 0.0;
  double radius = 0.0;
};

Along along(const contact::Geometry& geometry, const assembly::World& world, const WarmContact& warm) {
  const contact::Place& place = warm.place;
  const contact::OnPiece on_a = contact::piece_at(geometry, place.body_a, place.element_a, place.s_a);
  const contact::Piece& a = geometry.pieces[static_cast<std::size_t>(on_a.piece)];
  return {{a.id, assembly::body_of_number(world, place.body_b)}, contact::material_at(a, on_a.s), a.radius};
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
               static_cast<int>(gaps_.size()));
    gaps_.push_back(contact.gap);
  }
  index_.sort();
}

void KeptGaps::take(const Configuration& start, const std::vector<WarmContact>& warm, const assembly::World& world) {
  clear();
  contact::PairIndex before;
  for (std::size_t i = 0; i < warm.size(); ++i) {
    if (!warm[i].kept_gap) continue;
    const Along at = along(start.geometry, world, warm[i]);
    before.add(at.bodies, at.s, static_cast<int>(i));
  }
  if (before.empty()) return;
  before.sort();
  for (const contact::Contact& contact : start.contacts) {
    const double radius = start.geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
    const BodyPair bodies = contact::bodies_of(start.geometry, contact);
    const double s = contact::along_a(start.geometry, contact);
    const auto* entry = nearest(before, bodies, s, farthest * radius);
    if (!entry) continue;
    const double gap = *warm[static_cast<std::size_t>(entry->index)].kept_gap;
    if (contact.gap > std::max(gap, 0.0) + close * radius) continue;
    index_.add(bodies, s, static_cast<int>(gaps_.size()));
    gaps_.push_back(gap);
  }
  index_.sort();
}

void KeptGaps::hand_on(const contact::Geometry& geometry, const assembly::World& world,
                       std::vector<WarmContact>& warm) const {
  if (gaps_.empty()) return;
  for (WarmContact& contact : warm) {
    const Along at = along(geometry, world, contact);
    const auto* entry = nearest(index_, at.bodies, at.s, farthest * at.radius);
    if (entry) contact.kept_gap = gaps_[static_cast<std::size_t>(entry->index)];
  }
}

std::optional<double> KeptGaps::of(const contact::Geometry& geometry, const contact::Contact& contact) const {
  if (gaps_.empty()) return std::nullopt;
  const double radius = geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
  const auto* entry =
      nearest(index_, contact::bodies_of(geometry, contact), contact::along_a(geometry, contact), farthest * radius);
  if (!entry) return std::nullopt;
  return gaps_[static_cast<std::size_t>(entry->index)];
}

}  // namespace tresse::dynamics::detail
