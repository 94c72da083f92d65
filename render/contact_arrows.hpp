#pragma once

#include <vector>

#include <tresse/observe/frame.hpp>

#include "render/scene.hpp"

namespace tresse::render {

struct ArrowStyle {
  double metres_per_newton = 1.0;  ///< length of an arrow over its force; >= 0 [m/N]
  double radius = 1e-3;            ///< of an arrow's shaft; > 0 [m]
};

/// The forces of a frame's contacts: a ball where the fibre is touched and a shaft along the force on it, blue where
/// the contact sticks, red where it slides; open contacts have none.
std::vector<Marker> contact_arrows(const observe::Frame& frame, const ArrowStyle& style);

/// The largest force of a frame's contacts. [N]
double largest_contact_force(const observe::Frame& frame);

}  // namespace tresse::render
