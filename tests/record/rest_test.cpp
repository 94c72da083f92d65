#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/statics/world_equilibrium.hpp>

/// Two codes, one rest: where a damped motion ends is the equilibrium that Newton's method finds, contact included.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

constexpr char kScene[] = R"([parameters]
model = "super-helix"
elements = 8
curvature = 0
[simulation]
time_step = 5e-3
[materials.cord]
density = 1200
young_modulus = "2 MPa"
poisson_ratio = 0.4
damping_time = "0.1 s"
[friction]
default = 0
[contact]
relinearisations = 4  # of an elasticity that is not linear two leave 4e-5 of the force at this time step
[[fibres]]
name = "cord"
model = "${model}"
material = "cord"
length = "20 cm"
elements = "${elements}"
radius = "1.5 mm"
natural_curvature = [0, "${curvature}", 0]
drag = "0.05 N s/m^2"
root = { position = [0, 0, 0], tangent = [1, 0, 0], normal = [0, 0, 1] }
[[obstacles]]
name = "bar"
shape = "cylinder"
center = [0.08, 0, -0.03]
axis = [0, 1, 0]
radius = "5 mm"
length = "10 cm"
)";

class Rest : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Rest, OfADampedMotionIsTheEquilibrium) {
  const auto& [model, elements] = GetParam();
  for (const std::string curvature : {"0", "6"}) {
    const scene::Scene scene = scene_file::parse_scene(
        kScene, "rest.toml", {{"model", model}, {"elements", elements}, {"curvature", curvature}});
    scene::Case built = scene::build(scene);
    scene::Case moving = scene::build(scene);
    statics::WorldEquilibriumOptions options;
    options.margin = built.options.margin;
    options.broad_phase = built.options.broad_phase;
    assembly::Kinematics at(built.world);
    const statics::WorldEquilibrium found = statics::solve_equilibrium(at, built.state.rods, options);
    ASSERT_TRUE(found.stable()) << found.residual;
    ASSERT_EQ(found.contacts.size(), 1U) << "the cord rests on the bar";

    dynamics::Stepper stepper(std::move(moving.world), moving.options, std::move(moving.state));
    dynamics::StepReport report;
    do {
      report = stepper.step();
      ASSERT_TRUE(report.finite);
    } while (report.energies.kinetic > 1e-26 && report.time < 30.0);
    ASSERT_LE(report.energies.kinetic, 1e-26);

    const rods::Rod& expected = at.rod(0);
    const rods::Rod& rod = stepper.kinematics().rod(0);
    double apart = 0.0;
    for (int i = 1; i <= 20; ++i) {
      const double share = i / 20.0;
      apart = std::max(
          apart,
          (rod.section(share * rod.length()).position - expected.section(share * expected.length()).position).norm());
    }
    EXPECT_LT(apart, 1e-7 * rod.length()) << model << " " << curvature;
    double force = 0.0;
    for (const dynamics::ContactReport& contact : stepper.contacts()) force += contact.force.norm();
    EXPECT_NEAR(force, found.contacts[0].force.norm(), 1e-5 * force) << model << " " << curvature;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Rest,
                         testing::Values(std::pair{"super-helix", "8"}, std::pair{"super-clothoid", "4"},
                                         std::pair{"discrete-elastic-rod", "30"}),
                         [](const auto& param) {
                           std::string name = param.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
