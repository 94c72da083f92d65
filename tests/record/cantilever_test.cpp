#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/statics/equilibrium.hpp>

/// scenes/cantilever.toml against the elastica under its own weight, computed by shooting (tests/data/cantilever).
namespace tresse::record {
namespace TRESSE_TEST_FILE {

struct Choice {
  const char* model;
  int elements;
  double tolerance;  ///< of the aspect ratio drop / reach
};

/// Drop over reach of the tip.
double aspect_ratio(const Choice& choice, double gamma) {
  // The scene's own rod: E = 3 GPa, radius 0.1 mm, 1300 kg/m^3, 0.1 m.
  const double gravity = gamma * 3e9 * 1e-8 / 4.0 / (1300.0 * 1e-3);
  const scene::Scene scene = scene_file::read_scene(std::filesystem::path(TRESSE_SCENES) / "cantilever.toml",
                                                    {{"model", choice.model},
                                                     {"elements", std::to_string(choice.elements)},
                                                     {"gravity", fmt::format("{:.17g}", gravity)}});
  scene::Case built = scene::build(scene);
  const auto made = built.world.fibres[0].model->make_rod();
  rods::Rod& rod = *made;
  const auto found = statics::solve_equilibrium(rod, built.state.rods[0], scene.simulation.gravity, {});
  EXPECT_TRUE(found.stable()) << choice.model << " " << gamma;
  const Vector3 tip = rod.section(rod.length()).position;
  return -tip.z() / tip.x();
}

// A tenth of a per cent for any gravito-bending number from 0.1 to 1000.
TEST(Cantilever, AspectRatioAtAnyHeaviness) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/cantilever/cantilever.json");
  const nlohmann::json data = nlohmann::json::parse(file);
  constexpr double asked = 1e-3;
  for (const Choice& choice : {Choice{"super-clothoid", 10, 2e-4}, Choice{"super-helix", 40, asked},
                               Choice{"discrete-elastic-rod", 80, asked}, Choice{"mass-spring", 80, asked}}) {
    for (const auto& p : data["planar"]["points"]) {
      const double expected = p["H_over_L"].get<double>() / p["W_over_L"].get<double>();
      const double gamma = p["Gamma"];
      EXPECT_NEAR(aspect_ratio(choice, gamma), expected, choice.tolerance * expected) << choice.model << " " << gamma;
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
