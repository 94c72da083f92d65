#pragma once

#include <functional>
#include <vector>

#include <tresse/contact/crossings.hpp>

namespace tresse::contact {

/// Two pieces, or a piece and a surface, that are not proved to keep a gap above zero on the way from one configuration
/// to another.
struct Touch {
  Crossing at;              ///< of planes `b` is the surface as well
  bool from_begin = false;  ///< nor where the way begins: a shorter one would not be proved either
};

struct TouchOptions {
  BroadPhaseOptions broad_phase{};
  const SearchedWay* searched = nullptr;  ///< of the same two configurations; null: there was none
};

/// All pairs that are not proved to keep a gap above zero at every point and all the time, while their points go
/// straight and evenly from the first configuration to the second, of the same bodies; seen from a plane or a mesh
/// where there is one. What is not told is proved. Places that make no contact by themselves, as those of a fibre that
/// are near because little of it lies between, do not count, nor do those that `passed_over` takes for such: it is
/// asked at the corners of stretches, and wants to hold in between where it holds there. In the order of the pairs,
/// planes last; the same for any number of threads. See docs/theory/touching.md.
std::vector<Touch> find_touches(const Geometry& begin, const Geometry& end, const TouchOptions& options,
                                const std::function<bool(const Crossing&)>& passed_over);

}  // namespace tresse::contact
