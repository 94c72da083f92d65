#pragma once

#include <vector>

#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/near_pairs.hpp>
#include <tresse/contact/detection.hpp>

namespace tresse::contact {

/// Contacts of one configuration after another. What is proved of a pair of pieces, that they are so far apart, holds
/// until they could have met: such pairs are not looked at again before. The contacts found are those of detect() over
/// all candidate_pairs(), bit for bit, whatever was searched before. See docs/contact.md, "From step to step".
class ContactSearch {
 public:
  ContactSearch(const BroadPhaseOptions& broad_phase, const DetectionOptions& detection)
      : broad_phase_(broad_phase), detection_(detection) {}

  /// As detect() with the same `followed`.
  std::vector<Contact> find(const Geometry& scene, const std::vector<Place>& followed);

  /// What the last find() did.
  struct Effort {
    std::size_t pairs = 0;     ///< near each other: kept from search to search
    std::size_t examined = 0;  ///< pairs that could have met
    bool rebuilt = false;      ///< the pairs were gathered anew
  };
  const Effort& effort() const { return effort_; }

 private:
  /// Of a pair: where b is, seen from a.
  struct View {
    Vector3 offset = Vector3::Zero();  ///< of the middles (3) [m]
    Eigen::Quaterniond turn = Eigen::Quaterniond::Identity();
    double deformation = 0.0;  ///< of both together [m]
  };
  /// A pair and what is known of it: the centrelines were at least `apart` when the view was this.
  struct NearPair {
    CandidatePair pair;
    double apart = 0.0;  ///< 0: nothing proved, or a contact [m]
    View view;
  };

  bool same_pieces(const Geometry& scene) const;
  void move_to(const Geometry& scene);
  void gather(const Geometry& scene);
  View view_of(const CandidatePair& pair) const;
  double closed_in(const NearPair& near) const;
  void add_pairs(const Geometry& scene, const detail::Groups::Changes& changes);
  std::vector<detail::Candidate> examine_all(const Geometry& scene, std::vector<NearPair>& pairs);
  bool examine(const Geometry& scene, NearPair& near, std::vector<detail::Candidate>& out);

  BroadPhaseOptions broad_phase_;
  DetectionOptions detection_;
  std::vector<Piece> pieces_;  ///< of the last search
  std::vector<detail::Track> tracks_;
  detail::Groups groups_;  ///< of the pieces when the pairs were gathered
  detail::NearPairs near_pairs_;
  std::vector<NearPair> pairs_;     ///< sorted
  std::vector<NearPair> added_;     ///< of strays, since the pairs were gathered; sorted
  std::vector<NearPair> gathered_;  ///< memory of gather()
  Effort effort_;
};

}  // namespace tresse::contact
