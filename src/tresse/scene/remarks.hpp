#pragma once

#include <string>
#include <vector>

#include <tresse/scene/scene.hpp>

namespace tresse::scene {

/// What is to be told before a scene is used: the remarks of its imports, fibres of a radius beyond half their length,
/// one remark for a group, and time_step_remarks(). Empty for a sensible scene.
std::vector<Remark> remarks(const Scene& scene);

/// Those of them that do not depend on time steps.
std::vector<Remark> shape_remarks(const Scene& scene);

/// Motions that are too fast for the time step to tell: the slowest swing of a group's fibres, keyframes, turning
/// bodies, gusts. One remark for each.
std::vector<Remark> time_step_remarks(const Scene& scene);

}  // namespace tresse::scene
