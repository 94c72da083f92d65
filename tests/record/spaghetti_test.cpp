#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// Spaghetti as mass-spring chains of 16 nodes, both ends free, dropped across each other on a plate
/// (Bertails-Descoubes et al. 2011, section 5.1.3, in small), from scene text on.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

constexpr const char* scene_text = R"(
[simulation]
time_step = "1 ms"
duration = 1
[materials.pasta]
density = 1500
young_modulus = "3 GPa"
poisson_ratio = 0.3
damping_time = "0.5 ms"
[friction]
default = 0.3
[[fibres]]
name = "lower"
model = "mass-spring"
material = "pasta"
length = "26 cm"
elements = 15
radius = "0.9 mm"
root = { condition = "free", position = [-0.13, 0, "1.5 mm"] }
grid = { count = 2, spacing = "12 cm", jitter = "1 mm", axis_1 = [0, 1, 0], axis_2 = [0, 0, 1] }
[[fibres]]
name = "upper"
model = "mass-spring"
material = "pasta"
length = "26 cm"
elements = 15
radius = "0.9 mm"
natural_curvature = 2
root = { condition = "free", position = [-0.09, -0.09, "12 mm"], tangent = [1, 1, 0], normal = [1, -1, 0.1], velocity = [0, 0, -0.2] }
[[fibres]]
name = "side"
model = "mass-spring"
material = "pasta"
length = "26 cm"
elements = 15
radius = "0.9 mm"
root = { condition = "free", position = [-0.06, -0.13, "5 mm"], tangent = [0, 1, 0] }
grid = { count = 2, spacing = "8 cm", axis_1 = [1, 0, 0], axis_2 = [0, 0, 1] }
[[obstacles]]
name = "plate"
shape = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
)";

double weight(const assembly::World& world) {
  double out = 0.0;
  for (const assembly::Fibre& fibre : world.fibres) out += fibre.model->mass() * assembly::gravity_of(world).norm();
  return out;
}

TEST(Spaghetti, ComeToRestOnAPlate) {
  const scene::Scene scene = scene_file::parse_scene(scene_text, "spaghetti.toml");
  scene::Case built = scene::build(scene);
  ASSERT_EQ(built.world.fibres.size(), 5U);
  EXPECT_EQ(built.world.fibres[0].model->dof(), 48);
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  const double load = weight(stepper.world());
  dynamics::StepReport report;
  VectorX before;
  int missed = 0;
  double deepest = 0.0;
  for (int i = 0; i < 1000; ++i) {
    report = stepper.step();
    ASSERT_TRUE(report.finite) << i;
    ASSERT_EQ(report.motion_status, Status::converged) << i;
    missed += report.solver_status == Status::converged ? 0 : 1;
    deepest = std::max(deepest, report.max_penetration);
    if (i == 799) before = stepper.state().rods[2].coordinates;
  }
  const double moved = (stepper.state().rods[2].coordinates - before).lpNorm<Eigen::Infinity>();
  const double carried = -report.obstacles[0].force.z() / load;
  if (std::getenv("TRESSE_TEST_PRINT") != nullptr) {
    std::printf(
        "spaghetti: plate carries %.6f of the weight, kinetic %.1e J, moved %.1e m in 0.2 s, deepest %.1e m, "
        "%d steps unsolved\n",
        carried, report.energies.kinetic, moved, deepest, missed);
  }
  EXPECT_NEAR(carried, 1.0, 1e-3);
  EXPECT_LT(report.energies.kinetic, 1e-12);
  EXPECT_LT(moved, 1e-6);
  EXPECT_LT(deepest, 0.01 * 0.9e-3);
  EXPECT_EQ(missed, 0);
  // The upper one lies across: above the plate by a diameter where it crosses.
  double highest = 0.0;
  const rods::Rod& upper = stepper.kinematics().rod(2);
  for (int i = 0; i <= 50; ++i) highest = std::max(highest, upper.section(upper.length() * i / 50).position.z());
  EXPECT_GT(highest, 2.5 * 0.9e-3);
}

TEST(Spaghetti, WhatPointsCannotSayIsRefused) {
  const std::string text = scene_text;
  const auto message = [&](const std::string& from, const std::string& to) -> std::string {
    std::string changed = text;
    changed.replace(changed.rfind(from), from.size(), to);
    try {
      static_cast<void>(scene::build(scene_file::parse_scene(changed, "spaghetti.toml")));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  using std::string;
  EXPECT_NE(message("natural_curvature = 2", "natural_curvature = [1, 0, 2]").find("mass-spring"), string::npos);
  EXPECT_NE(message("radius = \"0.9 mm\"", "section = { half_axis_1 = 1e-3, half_axis_2 = 2e-3 }").find("mass-spring"),
            string::npos);
  EXPECT_NE(message("natural_curvature = 2", "growth = { factor = 2, end = 1 }").find("mass-spring"), string::npos);
  EXPECT_EQ(message("natural_curvature = 2", "initial_curvature = [1, 0, 2]"), "");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
