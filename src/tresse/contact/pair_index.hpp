#pragma once

#include <span>
#include <vector>

#include <tresse/contact/detection.hpp>

namespace tresse::contact {

/// Contacts by their two bodies and by where they are along the first: finds the ones of the same bodies in another
/// configuration.
class PairIndex {
 public:
  struct Entry {
    BodyPair bodies;
    double s_a = 0.0;  ///< arc length of a's material, as made [m]
    int index = 0;     ///< the caller's
  };

  void clear() { entries_.clear(); }
  void add(const BodyPair& bodies, double s_a, int index) { entries_.push_back({bodies, s_a, index}); }
  /// To be called after the last add() and before the first search.
  void sort();
  bool empty() const { return entries_.empty(); }

  /// Those of two bodies, by arc length.
  std::span<const Entry> of(const BodyPair& bodies) const;
  /// Those of them with s_a - reach <= Entry::s_a < s_a + reach. [m]
  std::span<const Entry> near(const BodyPair& bodies, double s_a, double reach) const;

 private:
  std::vector<Entry> entries_;
};

/// The bodies of a contact and where it is along a's material [m].
BodyPair bodies_of(const Geometry& scene, const Contact& contact);
inline double along_a(const Geometry& scene, const Contact& contact) {
  return material_at(scene.pieces[static_cast<std::size_t>(contact.a)], contact.s_a);
}

}  // namespace tresse::contact
