#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

/// Steps that are cut because their end overlaps.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
constexpr double dt = 4e-3;
const rods::Material stiff{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.48, .damping_time = 1e-3};

struct Outcome {
  double deepest = 0.0;  ///< overlap at the ends of steps [m]
  int most_parts = 0;
  int cut_steps = 0;
};

/// A curl whips around a bar, and far away a strand falls. Steps are long and have one pass: whole ones end in
/// the bar.
Outcome whip(int max_halvings) {
  assembly::World world;
  SimulationState state;
  assembly::Fibre curl = test::fibre(6, 0.06, 1e-4, stiff, {}, rods::RootCondition::clamped);
  curl.model = curl.model->with_rest_curvature(Vector3(0, 60, 0).replicate(6, 1));
  test::add(world, state, std::move(curl));
  state.rods[0].coordinates.setZero();
  test::add(world, {"bar", "bar", bodies::Capsule{{0.02, -0.1, -4e-3}, {0.02, 0.1, -4e-3}, 2e-3}, Vector3::Zero(), {}});
  Pose far;
  far.position = {1, 0, 0};
  test::add(world, state, test::fibre(2, 0.02, 1e-4, stiff, far, rods::RootCondition::free));
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.2));
  assembly::set_load(world, assembly::Gravity({0, 0, -gravity}));
  StepOptions options = test::step_options(dt);
  options.relinearisations = options.max_relinearisations = 1;
  options.max_halvings = max_halvings;
  Stepper stepper(std::move(world), options, std::move(state));
  Outcome out;
  for (int i = 1; i <= 60; ++i) {
    const double before = stepper.largest_overlap();
    const StepReport report = stepper.step();
    EXPECT_GE(report.max_penetration, before) << "where the step starts from counts";
    if (report.parts == 1) {
      EXPECT_EQ(report.max_penetration, before);
    }
    EXPECT_EQ(report.step, i);
    EXPECT_DOUBLE_EQ(report.time, i * dt);
    EXPECT_DOUBLE_EQ(stepper.time(), i * dt);
    // The parts add up to the step: free fall gains g dt however it is cut.
    EXPECT_NEAR(stepper.state().rods[1].root_velocity.linear[2], -gravity * i * dt, 1e-12);
    EXPECT_GE(report.parts, 1);
    EXPECT_LE(report.parts, 1 << max_halvings);
    out.deepest = std::max(out.deepest, report.max_penetration);
    out.most_parts = std::max(out.most_parts, report.parts);
    out.cut_steps += report.parts > 1 ? 1 : 0;
  }
  return out;
}

TEST(Parts, AStepWhoseEndOverlapsIsCutAndStillTakesItsTime) {
  const double worth_cutting = test::step_options(dt).halving_overlap;
  const Outcome whole = whip(0);
  EXPECT_EQ(whole.most_parts, 1);
  EXPECT_GT(whole.deepest, 10.0 * worth_cutting);
  const Outcome cut = whip(4);
  EXPECT_GT(cut.cut_steps, 0);
  EXPECT_LT(cut.cut_steps, 30) << "grows back";
  EXPECT_LE(cut.deepest, worth_cutting);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
