#pragma once

#include <array>
#include <string>
#include <string_view>

#include "render/scene.hpp"

namespace tresse::render {

struct Camera {
  Vector3 position = {0, -1, 0};    ///< [m]
  Vector3 target = {0, 0, 0};       ///< point in the middle of the picture [m]
  Vector3 up = {0, 0, 1};           ///< not along the view; need not be orthogonal to it
  double field_of_view_deg = 24.0;  ///< of the picture's height; in (0, 170)
};

/// Sides that a camera can stand on: the eye is at -y for "front", at +x for "right" and "side", above for "top"; of a
/// scene in the plane (x, y) at +z for "front", y being up. Upright pictures, of "top" and "bottom" with the back
/// above.
inline constexpr std::array<std::string_view, 7> sides{"front", "back", "left", "right", "side", "top", "bottom"};

struct FramingOptions {
  double aspect = 1.6;              ///< width over height; > 0
  double field_of_view_deg = 24.0;  ///< in (0, 170)
  bool close_up = false;            ///< the region of the contacts instead of everything
  std::string side{};               ///< one of `sides`, straight from there; empty: as suits the scene
};

/// Fibres up to this number are drawn close to their contacts unless asked otherwise: in a picture of everything, a
/// single hair is a scratch.
inline constexpr std::size_t close_up_fibres = 20;

/// A camera that sees all that matters, three quarters from the side and a little from above; flat scenes are seen from
/// the front. Throws InvalidInput for an empty scene or options out of range.
Camera frame(const Scene& scene, const FramingOptions& options);

/// A wide ground that the scene's lowest point along `up` stands on; planes do not count. Throws InvalidInput for an
/// empty scene.
Ground ground_under(const Scene& scene, const Vector3& up);

}  // namespace tresse::render
