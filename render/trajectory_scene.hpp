#pragma once

#include <tresse/io/frame.hpp>

#include "render/scene.hpp"

namespace tresse::render {

/// One frame of a trajectory as a scene to draw: fibres as stored, obstacles moved to where they are in the frame.
Scene scene_of(const io::TrajectoryLayout& layout, const io::Frame& frame);

}  // namespace tresse::render
