#pragma once

#include <optional>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/contact/broad_phase.hpp>
#include <tresse/contact/detection.hpp>

namespace tresse::contact {

namespace detail {
struct Candidate;
}

/// Contacts of one configuration after another. What is proved of a pair of pieces, that they are so far apart, holds
/// until they could have met: such pairs are not looked at again before. The contacts found are those of detect() over
/// all candidate_pairs(), bit for bit, whatever was searched before. See docs/theory/contact.md, "From step to step".
class ContactSearch {
 public:
  ContactSearch(const BroadPhaseOptions& broad_phase, const DetectionOptions& detection)
      : broad_phase_(broad_phase), detection_(detection) {}

  /// As detect() with the same `followed`; throws InvalidInput unless each is_place(). Pairs are looked at as far as
  /// piece_pairs() with the same `beyond` has them.
  std::vector<Contact> find(const Geometry& scene, const std::vector<Place>& followed,
                            const std::vector<double>& beyond = {});

  /// The pairs of pieces that the last find() looked at, in order, with what is proved of them; none where it kept
  /// nothing.
  std::optional<std::vector<KnownPair>> known_pairs() const;

  /// What the last find() did.
  struct Effort {
    std::size_t pairs = 0;     ///< of pieces that the broad phase leaves
    std::size_t examined = 0;  ///< of these, not proved apart by an earlier search
  };
  const Effort& effort() const { return effort_; }

 private:
  /// Where a piece is, and what it may do during the step.
  struct Track {
    Travel travel;
    double radius = 0.0;                                        ///< [m]
    Eigen::Quaterniond frame = Eigen::Quaterniond::Identity();  ///< turns with the piece
    double deformation = 0.0;  ///< all that its points ever moved beyond its rigid motion, summed over the searches [m]
  };
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
    double left = 0.0;   ///< of `apart` in the last search; of a contact the distance [m]
    bool exact = false;  ///< whether `left` is the distance
  };

  bool looks_at_all(const Geometry& scene) const;
  bool same_pieces(const Geometry& scene) const;
  void move_to(const Geometry& scene);
  void take_pairs(const std::vector<CandidatePair>& near);
  View view_of(const CandidatePair& pair) const;
  double closed_in(const NearPair& near) const;
  std::vector<detail::Candidate> examine_all(const Geometry& scene);
  bool examine(const Geometry& scene, NearPair& near, std::vector<detail::Candidate>& out);

  BroadPhaseOptions broad_phase_;
  DetectionOptions detection_;
  std::vector<Piece> pieces_;  ///< of the last search
  std::vector<Track> tracks_;
  std::vector<NearPair> pairs_;   ///< of the last search, sorted
  std::vector<NearPair> before_;  ///< memory of take_pairs()
  Effort effort_;
};

}  // namespace tresse::contact
