#pragma once

#include <string>
#include <vector>

#include <tresse/scene/build.hpp>

namespace tresse::scene {

/// A number of a scene, and the direction in which a run is varied as it grows by one.
struct NamedVariation {
  std::string name;  ///< as its key with those of its tables: "materials.cable.young_modulus"
  double value = 0.0;
  std::string unit;
  dynamics::Variation direction{};
};

/// The numbers of a scene by which a run has derivatives, in the scene's order: of each material, of each group of
/// fibres (natural curvatures by component, all along; the place of a root that is prescribed), gravity, wind, and
/// friction: its default where no other coefficient is given, else all of them, relative. `built`: of the scene.
std::vector<NamedVariation> variations(const Scene& scene, const Case& built);

}  // namespace tresse::scene
