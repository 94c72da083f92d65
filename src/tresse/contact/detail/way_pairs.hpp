#pragma once

#include <vector>

#include <tresse/contact/crossings.hpp>

namespace tresse::contact::detail {

/// All pairs of pieces, and of pieces and meshes, that may have come near on the way between two configurations; what
/// is proved of them at its end with `searched`, else nothing. `ways`: those between the two, not empty; `searched`:
/// null where there was no search.
std::vector<KnownPair> pairs_on_way(const Geometry& begin, const Geometry& end, const Ways& ways,
                                    const BroadPhaseOptions& options, const SearchedWay* searched);

}  // namespace tresse::contact::detail
