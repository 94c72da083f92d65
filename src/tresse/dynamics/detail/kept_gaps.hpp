#pragma once

#include <optional>
#include <vector>

#include <tresse/dynamics/detail/contact_finder.hpp>

namespace tresse::dynamics::detail {

/// Gaps that pairs have when a run begins, and keep as the wanted ones until they have opened once: those that overlap
/// or are nearer than a hundredth of the radius of their first body. Each goes along with its contact, from the warm
/// contacts of one part of a step to those of the next.
class KeptGaps {
 public:
  void clear();
  /// Of the state that a run begins at.
  void begin(const Configuration& start);
  /// Of what a state holds. A pair has opened if its gap is above both zero and the wanted one by more than a hundredth
  /// of the radius, or if it is no more among the contacts; it is forgotten then.
  void take(const Configuration& start, const std::vector<WarmContact>& warm, const assembly::World& world);
  /// Writes them into the warm contacts that belong to them.
  void hand_on(const contact::Geometry& geometry, const assembly::World& world, std::vector<WarmContact>& warm) const;

  /// That of a contact, none: it keeps none. [m]
  std::optional<double> of(const contact::Geometry& geometry, const contact::Contact& contact) const;

 private:
  contact::PairIndex index_;
  std::vector<double> gaps_;
};

}  // namespace tresse::dynamics::detail
