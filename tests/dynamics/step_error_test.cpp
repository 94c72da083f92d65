#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "support/worlds.hpp"

/// Steps that are cut where they would be off by more than wanted.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double dt = 1e-2;
constexpr double end = 0.25;
const rods::Material soft{.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4};

/// A rod that falls from level, and a ball that falls beside it.
Stepper swing(double step, std::optional<double> step_error, double theta = 1.0) {
  assembly::World world;
  SimulationState state;
  assembly::set_load(world, assembly::Gravity({0.0, 0.0, -9.81}));
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  test::add(world, state, test::fibre(8, 0.2, 1e-3, soft, {}, rods::RootCondition::clamped));
  bodies::Obstacle ball{"ball", "", bodies::Sphere{{0.0, 1.0, 0.0}, 0.01}, {0.0, 1.0, 0.0}, {}};
  ball.mass = 0.1;
  test::add(world, ball);
  test::free_bodies(world, state);
  StepOptions options = test::step_options(step);
  options.step_error = step_error;
  options.theta = theta;
  if (theta < 1.0) options.scheme = Scheme::semi_implicit;
  options.max_halvings = 10;
  options.broad_phase.self_contact = false;
  return {std::move(world), options, std::move(state)};
}

struct Outcome {
  Vector3 tip;
  double ball = 0.0;  ///< height
  int parts = 0;
  int most = 0, fewest = 1 << 20;
  double error = 0.0;  ///< largest estimated
};

Outcome run(Stepper stepper) {
  Outcome out;
  for (int i = 0; i < static_cast<int>(std::lround(end / stepper.options().dt)); ++i) {
    const StepReport report = stepper.step();
    EXPECT_TRUE(report.finite);
    out.parts += report.parts;
    out.most = std::max(out.most, report.parts);
    out.fewest = std::min(out.fewest, report.parts);
    out.error = std::max(out.error, report.step_error);
  }
  const rods::Rod& rod = stepper.kinematics().rod(0);
  out.tip = rod.section(rod.length()).position;
  out.ball = stepper.state().bodies[0].pose.position.z();
  return out;
}

/// Of smooth motion a part's error goes with the square of its length, their sum with the length: with a hundredth of
/// the error wanted, ten times the parts and a tenth of the error.
TEST(StepError, FewerErrorsForMoreParts) {
  const Vector3 truth = 2.0 * run(swing(2e-5, {})).tip - run(swing(4e-5, {})).tip;
  const Outcome coarse = run(swing(dt, 1e-4));
  const Outcome fine = run(swing(dt, 1e-6));
  EXPECT_LE(coarse.error, 1e-4);
  EXPECT_LE(fine.error, 1e-6);
  EXPECT_GT(fine.error, 0.1e-6) << "steps no shorter than they need to be";
  EXPECT_NEAR(static_cast<double>(fine.parts) / coarse.parts, 10.0, 3.0);
  const double gain = (coarse.tip - truth).norm() / (fine.tip - truth).norm();
  EXPECT_NEAR(gain, 10.0, 4.0);
  EXPECT_GE(fine.most, 2 * fine.fewest) << "where the rod moves fast";
}

/// Of free fall a part's error is known: g h^2 / 2.
TEST(StepError, IsThatOfFreeFall) {
  Stepper stepper = swing(dt, 1.0);
  const StepReport first = stepper.step();
  EXPECT_EQ(first.parts, 1);
  EXPECT_GE(first.step_error, 0.5 * 9.81 * dt * dt * (1.0 - 1e-9));
  EXPECT_LE(first.step_error, 0.55 * 9.81 * dt * dt) << "the rod's tip falls a little faster";
  const Outcome out = run(swing(dt, 1e-6));
  const double parts = out.parts;
  // The sum of g h^2 / 2 over equal parts; theirs differ with the rod's motion.
  EXPECT_LT(std::abs(out.ball + 0.5 * 9.81 * end * end), 1e-6 * parts);
  EXPECT_GT(std::abs(out.ball + 0.5 * 9.81 * end * end), 0.01 * 1e-6 * parts);
}

TEST(StepError, OfAThetaNearTheMiddleIsLess) {
  Stepper euler = swing(dt, 1.0);
  Stepper middle = swing(dt, 1.0, 0.55);
  EXPECT_NEAR(middle.step().step_error / euler.step().step_error, 0.1, 0.01);
}

TEST(StepError, IsCheckedOnEntry) {
  EXPECT_THROW((void)swing(dt, -1.0), std::exception);
  EXPECT_THROW((void)swing(dt, std::nan("")), std::exception);
  EXPECT_THROW((void)swing(dt, 1e-6, 0.5), std::exception);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
