#pragma once

#include <functional>
#include <vector>

#include <tresse/contact/broad_phase.hpp>
#include <tresse/contact/ways.hpp>

namespace tresse::contact {

/// Two pieces, or a piece and a mesh, that are not proved to stay apart on the way from one configuration to another.
struct Crossing {
  int a = 0;         ///< index in Geometry::pieces of the second configuration
  int b = 0;         ///< of the second; -1 - k: surface k, a mesh
  double s_a = 0.0;  ///< parameter of the curve, where they come nearest as far as is known
  double s_b = 0.0;
  double time = 0.0;  ///< when: 0 in the first configuration, 1 in the second
};

/// What the search for contacts at the end of a way leaves for its proof.
struct SearchedWay {
  Ways ways;
  std::vector<KnownPair> pairs;  ///< all of piece_pairs() of the second configuration with `ways.beyond`
};

struct PassageOptions {
  BroadPhaseOptions broad_phase{};
  /// Centrelines that come nearer than this share of their touching distance may have gone through each other. Of two
  /// that begin nearer than twice that, half their distance there counts.
  double share = 0.5;
  const SearchedWay* searched = nullptr;  ///< of the same two configurations; null: there was none
  double small = 0.1;                     ///< overlap that is not looked at closely, of the thinner radius; > 0
  double known_gap = 0.0;  ///< least gap so far: what is proved to keep this is not looked at further; <= 0 [m]
};

/// What is proved of the way between two configurations.
struct Passage {
  std::vector<Crossing> crossings;  ///< in the order of the pairs
  /// No gap of all other pairs gets smaller: `known_gap`, or less. Exact to `small` radii of the thinner body where it
  /// is within that, to a fiftieth of its radius beyond. [m]
  double least_gap = 0.0;
};

/// Proves that no two pieces go through each other, nor a piece and a mesh, while their points go straight and evenly
/// from the first configuration to the second, of the same bodies; seen from the mesh where there is one. Pairs that
/// never touch by themselves, as adjacent pieces of a fibre, are left out, and so are those places that `passed_over`
/// takes for such. The same for any number of threads. See docs/theory/passing.md.
Passage find_passage(const Geometry& begin, const Geometry& end, const PassageOptions& options,
                     const std::function<bool(const Crossing&)>& passed_over);

}  // namespace tresse::contact
