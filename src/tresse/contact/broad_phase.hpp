#pragma once

#include <vector>

#include <tresse/contact/pieces.hpp>

namespace tresse::contact {

/// Two pieces (indices into Geometry::pieces, a < b) that may be near each other; or piece a and surface k, as b = -1 -
/// k.
struct CandidatePair {
  int a = 0;
  int b = 0;

  bool operator<(const CandidatePair& other) const { return a != other.a ? a < other.a : b < other.b; }
};

/// A pair, and what is proved of it in one configuration.
struct KnownPair {
  CandidatePair pair;
  double apart = 0.0;  ///< the centrelines are at least that far apart; 0: nothing is proved [m]
  bool exact = false;  ///< `apart` is their distance, whatever was searched before

  bool operator<(const KnownPair& other) const { return pair < other.pair; }
};

struct BroadPhaseOptions {
  bool self_contact = true;   ///< pieces of one fibre
  bool fibre_contact = true;  ///< pieces of different fibres
};

/// Whether the pieces are so few that looking at all of them costs less than any bookkeeping.
bool few_pieces(const Geometry& scene);

/// Whether two pieces of one fibre, a before b, are so far apart along it that they could touch; see
/// docs/theory/contact.md.
bool can_touch_itself(const Geometry& scene, int a, int b);

/// Pairs of a piece that moves and a plane or mesh that it may reach; sorted by (a, b).
std::vector<CandidatePair> surface_pairs(const Geometry& scene);

/// All pairs of pieces that may touch during the step, and some more that are within their meeting distance. Fibres
/// come before obstacles in a pair, free ones before others; two prescribed ones never pair up. Pieces of one fibre
/// pair up where can_touch_itself(). Sorted by (a, b); the same for any number of threads. `beyond`: where it is not
/// empty, how much farther than that each piece reaches [m].
std::vector<CandidatePair> piece_pairs(const Geometry& scene, const BroadPhaseOptions& options,
                                       const std::vector<double>& beyond = {});

/// Those of piece_pairs() that one of `some` belongs to, pieces in rising order; not sorted. For a few.
std::vector<CandidatePair> pairs_with(const Geometry& scene, const std::vector<int>& some,
                                      const BroadPhaseOptions& options);

/// piece_pairs() and surface_pairs(), sorted by (a, b).
std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options);

}  // namespace tresse::contact
