#pragma once

#include <vector>

#include <tresse/contact/broad_phase.hpp>

namespace tresse::contact {

/// Two pieces that were apart at two instants, and whose centrelines came within half their touching distance on the
/// way, as they do where one goes through the other.
struct Crossing {
  int a = 0;  ///< index in Geometry::pieces of the second configuration
  int b = 0;
  double s_a = 0.0;  ///< parameter of the curve
  double s_b = 0.0;
};

/// Crossings between two configurations of the same bodies, whose points go straight and evenly from the first to the
/// second. Looks at `pairs` of pieces of the second, but not at those with a surface nor at those that move by less
/// than their touching distance against each other. In the order of the pairs; the same for any number of threads.
std::vector<Crossing> find_crossings(const Geometry& begin, const Geometry& end,
                                     const std::vector<CandidatePair>& pairs);

}  // namespace tresse::contact
