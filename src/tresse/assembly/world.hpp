#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tresse/bodies/shapes.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::assembly {

/// One fibre of the world.
struct Fibre {
  std::unique_ptr<rods::Rod> rod;  ///< model and current kinematics
  Pose root;                       ///< reference pose of the root
  bodies::Motion root_motion;      ///< clamped roots only
  std::string material_name;       ///< key of the friction table
  int group = 0;                   ///< index of the scene's fibre group
  double drag = 0.0;               ///< [N s/m^2]
};

/// Fibres, obstacles and the surroundings they share. Built from a scene; everything that steps or solves works on it.
struct World {
  std::vector<Fibre> fibres;
  std::vector<bodies::Obstacle> obstacles;
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  Vector3 wind = Vector3::Zero();     ///< (3) [m/s]
};

}  // namespace tresse::assembly
