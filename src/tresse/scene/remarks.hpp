#pragma once

#include <string>
#include <vector>

#include <tresse/scene/scene.hpp>

namespace tresse::scene {

struct Remark {
  Location location;    ///< line 0: not from a file
  std::string message;  ///< one line: what was found, what is expected
};

/// What a valid scene says that is hardly what was meant: fibres of a radius beyond half their length, one remark for a
/// group, and time_step_remarks(). Empty for a sensible scene.
std::vector<Remark> remarks(const Scene& scene);

/// Motions that are too fast for the time step to tell: the slowest swing of a group's fibres, keyframes, turning
/// bodies, gusts. One remark for each.
std::vector<Remark> time_step_remarks(const Scene& scene);

}  // namespace tresse::scene
