#pragma once

#include <string>
#include <vector>

#include <tresse/scene/scene.hpp>

namespace tresse::scene {

/// What is to be told before a scene is used: the remarks of its imports, and fibres of a radius beyond half their
/// length, one remark for a group. Empty for a sensible scene.
std::vector<Remark> remarks(const Scene& scene);

}  // namespace tresse::scene
