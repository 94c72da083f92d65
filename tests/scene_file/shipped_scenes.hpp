#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file {

/// The folder of the scenes that the project ships.
inline const std::filesystem::path kScenes = TRESSE_SCENES;

inline const bodies::Obstacle& obstacle(const scene::Scene& scene, const std::string& name) {
  for (const scene::Obstacle& candidate : scene.obstacles) {
    if (candidate.body.name == name) return candidate.body;
  }
  throw std::runtime_error("no obstacle " + name);
}

}  // namespace tresse::scene_file
