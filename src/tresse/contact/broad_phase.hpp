#pragma once

#include <vector>

#include <tresse/contact/pieces.hpp>

namespace tresse::contact {

/// Two pieces (indices into Geometry::pieces, a < b) whose grown boxes overlap; or piece a and plane k, as b = -1 - k.
struct CandidatePair {
  int a = 0;
  int b = 0;
};

struct BroadPhaseOptions {
  bool self_contact = true;   ///< pieces of one fibre
  bool fibre_contact = true;  ///< pieces of different fibres
};

/// Sweep and prune along the axis of largest spread over boxes grown by radius and reach. Fibres come before obstacles
/// in a pair. Pieces of one fibre pair up only where a tube of their curvature could touch itself, see docs/contact.md.
/// Sorted by (a, b).
std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options);

}  // namespace tresse::contact
