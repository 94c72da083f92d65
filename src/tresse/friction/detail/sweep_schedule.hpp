#pragma once

#include <vector>

#include <tresse/friction/problem.hpp>

namespace tresse::friction::detail {

/// An order of an island's contacts for sweeps on several threads: clusters of contacts one after the other, colours of
/// clusters that share no body. Within a colour clusters may run at the same time; the result is that of one after the
/// other.
struct SweepSchedule {
  std::vector<int> cluster_begin;  ///< (clusters + 1) first contact of each cluster, in the island's new order
  std::vector<int> colour_begin;   ///< (colours + 1) first cluster of each colour
};

/// Puts an island's contacts in such an order. Bodies are numbered along the island (breadth first from one of its far
/// ends, @cite cuthill1969) and cut into stretches that hold about as many contacts each; a cluster is the contacts of
/// two stretches, most of them neighbours, so that a few colours do. Doesn't depend on the number of threads.
SweepSchedule make_schedule(const FactoredProblem& problem, std::vector<int>& island);

}  // namespace tresse::friction::detail
