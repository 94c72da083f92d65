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
    double s_b = 0.0;  ///< along b's, of those who ask for it [m]
  };

  void clear() { entries_.clear(); }
  void add(const BodyPair& bodies, double s_a, int index, double s_b = 0.0) {
    entries_.push_back({bodies, s_a, index, s_b});
  }
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

/// The bodies of a contact and where it is along the material of a, and of b; 0 on a surface. [m]
BodyPair bodies_of(const Geometry& scene, const Contact& contact);
inline double along_a(const Geometry& scene, const Contact& contact) {
  return material_at(scene.pieces[static_cast<std::size_t>(contact.a)], contact.s_a);
}
double along_b(const Geometry& scene, const Contact& contact);

/// The same of a contact of an earlier configuration.
struct Along {
  int a = 0;  ///< its piece
  double s_a = 0.0, s_b = 0.0;
};
Along along(const Geometry& scene, const Place& place);

}  // namespace tresse::contact
