#pragma once

#include <tresse/observe/frame.hpp>

#include "render/scene.hpp"

namespace tresse::render {

/// One frame of a trajectory as a scene to draw: fibres as stored, obstacles moved to where they are in the frame.
Scene scene_of(const observe::TrajectoryLayout& layout, const observe::Frame& frame);

}  // namespace tresse::render
