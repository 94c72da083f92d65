#include <gtest/gtest.h>

#include <cmath>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>

namespace tresse::scene {
namespace TRESSE_TEST_FILE {

FibreGroup hair(const std::string& name) {
  FibreGroup out;
  out.name = out.material_name = name;
  out.model = RodModel::super_helix;
  out.material = {.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.4, .damping_time = 0.01};
  out.element_lengths.assign(3, 0.01);
  out.sections.assign(3, rods::CrossSection::circle(1e-4));
  out.natural_curvature.assign(3, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  return out;
}

/// What a fibre would stretch is along it: across the axis that it slides along a hold does not give way.
TEST(Build, AHoldThatSlidesIsStiffAcrossItsAxis) {
  Scene scene;
  scene.fibres = {hair("held")};
  Hold fixed, sliding, aslant;
  fixed.name = "fixed", sliding.name = "sliding", aslant.name = "aslant";
  fixed.at = sliding.at = aslant.at = 0.03;
  sliding.slide = Vector3::UnitX();
  aslant.slide = Vector3(std::sqrt(0.5), std::sqrt(0.5), 0.0);
  scene.fibres[0].holds = {fixed, sliding, aslant};
  const Case built = build(scene);
  EXPECT_NEAR(built.world.holds[0].compliance, 0.03 / (1e9 * M_PI * 1e-8), 1e-9);
  EXPECT_EQ(built.world.holds[1].compliance, 0.0);
  EXPECT_NEAR(built.world.holds[2].compliance, 0.5 * built.world.holds[0].compliance, 1e-15);
}

/// As a copy of a wisp stands beside it: there its root stays. One that is driven goes where its motion says.
TEST(SetOutFrom, ClampedRootsStayWhereTheStateHasThem) {
  const Vector3 aside(0.0, 0.02, 0.0), speed(0.1, 0.0, 0.0);
  Scene scene;
  scene.fibres = {hair("still"), hair("driven")};
  scene.fibres[1].root.motion.velocity = speed;
  Case built = build(scene);
  dynamics::SimulationState state = built.state;
  state.rods[0].root.position += aside;
  set_out_from(built, std::move(state));
  const double dt = built.options.dt;
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  for (int i = 0; i < 5; ++i) static_cast<void>(stepper.step());
  EXPECT_EQ(stepper.state().rods[0].root.position, aside);
  EXPECT_LT((stepper.state().rods[1].root.position - 5.0 * dt * speed).norm(), 1e-15);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
