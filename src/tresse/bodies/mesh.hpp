#pragma once

#include <string_view>

#include <tresse/bodies/kind.hpp>

namespace tresse::bodies {

/// A surface from files, whose names the scene keeps with the other keys.
struct Mesh {
  static constexpr std::string_view word = "mesh";
  static constexpr bool from_file = true;

  std::shared_ptr<const Surface> surface;
  double thickness = 0.0;  ///< added on every side; >= 0 [m]

  Vector3 own_point() const { return Vector3::Zero(); }
  Parts parts() const { return {.shells = {{surface, thickness}}}; }
};

}  // namespace tresse::bodies
