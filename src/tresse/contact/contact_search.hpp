#pragma once

#include <vector>

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
  /// Where a piece is and what it may do during the step.
  struct Track {
    Vector3 centre;            ///< its middle (3) [m]
    Vector3 drift;             ///< Piece::drift (3) [m]
    double range = 0.0;        ///< radius and reach [m]
    double deformation = 0.0;  ///< all that its points ever moved beyond its middle, summed over the searches [m]
  };
  /// A pair and what is known of it: the centrelines were at least `apart` when the offset of their middles and their
  /// deformation were these.
  struct NearPair {
    CandidatePair pair;
    double apart = 0.0;  ///< 0: nothing proved, or a contact [m]
    Vector3 offset = Vector3::Zero();
    double deformation = 0.0;
  };

  bool same_pieces(const Geometry& scene) const;
  void move_to(const Geometry& scene);
  bool must_gather() const;
  void gather(const Geometry& scene);
  double closed_in(const NearPair& near) const;

  BroadPhaseOptions broad_phase_;
  DetectionOptions detection_;
  std::vector<Piece> pieces_;  ///< of the last search
  std::vector<Track> tracks_;
  std::vector<Track> gathered_;  ///< tracks when the pairs were gathered
  double skin_ = 0.0;            ///< with which they were
  std::vector<NearPair> pairs_;
  Effort effort_;
};

}  // namespace tresse::contact
