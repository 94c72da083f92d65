#pragma once

#include <optional>
#include <vector>

#include <tresse/contact/broad_phase.hpp>
#include <tresse/contact/detail/groups.hpp>
#include <tresse/contact/detail/link_tree.hpp>

namespace tresse::contact::detail {

/// Pairs to be kept for as long as their groups hold: two pieces of neighbouring groups nearer than what is theirs and
/// between the groups, and some more, those two of whose short capsules are. Pieces of one fibre pair up whether or not
/// they can touch yet; otherwise as candidate_pairs().
class NearPairs {
 public:
  /// Where the pieces are now, which is where the groups were formed. Sorted.
  std::vector<CandidatePair> gather(const Geometry& scene, const BroadPhaseOptions& options, const Groups& groups);
  /// Those of strays whose own() and of groups whose range has grown since, where the pieces were then. Sorted; kept
  /// pairs are among them.
  std::vector<CandidatePair> after(const Geometry& scene, const BroadPhaseOptions& options, const Groups& groups,
                                   const Groups::Changes& changes) const;

 private:
  double lacks(const Groups& groups, int piece) const {
    return groups.own(piece) - growth_[static_cast<std::size_t>(piece)];
  }
  std::vector<CandidatePair> between(const Geometry& scene, const BroadPhaseOptions& options, const Groups& groups,
                                     const Groups::Parting& parting) const;

  std::optional<LinkTree> tree_;
  std::vector<double> growth_;  // (pieces) of the boxes in the tree [m]
};

}  // namespace tresse::contact::detail
