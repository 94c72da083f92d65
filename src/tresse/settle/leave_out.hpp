#pragma once

#include <string>
#include <vector>

#include <tresse/scene/build.hpp>

namespace tresse::settle {

/// A fibre that is left out since it overlaps something at the start.
struct LeftOut {
  int group = 0;        ///< index in the scene
  int member = 0;       ///< number in its group, as FibreGroup::leave_out counts
  std::string message;  ///< one line: which fibre, what it overlaps and by how much
};

/// Leaves fibres out of a scene until nothing overlaps, and builds it anew: `scene.fibres[..].leave_out` names them
/// then. Of two fibres that overlap it is the one that overlaps more others, or the later one; what grows on it goes
/// with it. `pushing`: fibres are pushed apart first, and again whenever some were left out. Free bodies stay, so that
/// one that overlaps an obstacle still does. Throws InvalidInput where no fibre would be left, nor a free body.
std::vector<LeftOut> leave_out(scene::Scene& scene, scene::Case& built, bool pushing);

}  // namespace tresse::settle
