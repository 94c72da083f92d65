#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/worlds.hpp"

/// Where in the step forces are taken: order, energy, time reversal, and contact forces that mean the same.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
const rods::Material undamped{.density = 1300.0, .young_modulus = 1e7, .poisson_ratio = 0.4};

struct Built {
  assembly::World world;
  SimulationState state;
};

/// A clamped rod, straight and horizontal, let go.
Built swing(rods::RootCondition condition = rods::RootCondition::clamped) {
  Built out;
  assembly::set_load(out.world, assembly::Gravity({0, 0, -gravity}));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  test::add(out.world, out.state, test::fibre(4, 0.1, 5e-4, undamped, {}, condition));
  return out;
}

struct Choice {
  Scheme scheme;
  double theta;
};

Stepper stepper_of(Built built, double dt, const Choice& choice) {
  StepOptions options = test::step_options(dt);
  options.scheme = choice.scheme;
  options.theta = choice.theta;
  options.nonlinear_tolerance = 1e-13;
  return {std::move(built.world), options, std::move(built.state)};
}

double total(const rods::RodEnergies& e) { return e.kinetic + e.elastic + e.gravity; }

/// Largest change of the energy on the way, of the largest elastic energy; nothing takes any.
double energy_drift(const Choice& choice, double dt, double end) {
  Stepper stepper = stepper_of(swing(), dt, choice);
  double drift = 0.0;
  double elastic = 0.0;
  for (int i = 0; i < static_cast<int>(std::lround(end / dt)); ++i) {
    const StepReport report = stepper.step();
    drift = std::max(drift, std::abs(total(report.energies)));  // at first it is zero
    elastic = std::max(elastic, report.energies.elastic);
  }
  return drift / elastic;
}

TEST(Theta, TheMidpointRuleKeepsEnergyAndEulerLosesIt) {
  constexpr double seconds = 5.0;
  const double midpoint = energy_drift({Scheme::nonlinear, 0.5}, 1e-3, seconds);
  const double euler = energy_drift({Scheme::nonlinear, 1.0}, 1e-3, seconds);
  EXPECT_LT(midpoint, 1e-3);
  EXPECT_GT(euler, 0.1);
  EXPECT_LT(energy_drift({Scheme::nonlinear, 0.5}, 5e-4, seconds), 0.4 * midpoint) << "second order";
}

Vector3 tip_after(const Choice& choice, double dt, double end) {
  Stepper stepper = stepper_of(swing(), dt, choice);
  for (int i = 0; i < static_cast<int>(std::lround(end / dt)); ++i) EXPECT_TRUE(stepper.step().finite);
  const rods::Rod& rod = stepper.kinematics().rod(0);
  return rod.section(rod.length()).position;
}

TEST(Theta, OrderIsTwoAtTheMiddleAndOneElsewhere) {
  const auto order = [](const Choice& choice) {
    std::array<Vector3, 3> tip;
    for (int k = 0; k < 3; ++k) tip[k] = tip_after(choice, 5e-4 / (1 << k), 0.05);
    return std::log2((tip[0] - tip[1]).norm() / (tip[1] - tip[2]).norm());
  };
  EXPECT_NEAR(order({Scheme::nonlinear, 0.5}), 2.0, 0.1);
  EXPECT_NEAR(order({Scheme::nonlinear, 1.0}), 1.0, 0.1);
  EXPECT_NEAR(order({Scheme::nonlinear, 0.75}), 1.0, 0.1);
  EXPECT_NEAR(order({Scheme::semi_implicit, 0.5}), 1.0, 0.2) << "gravity is that of the start";
}

// A free rod that curls and spins: back to where it came from once its velocities are turned round.
TEST(Theta, TheMidpointRuleRunsBackwards) {
  Built built = swing(rods::RootCondition::free);
  rods::RodState& start = built.state.rods[0];
  start.root_velocity = {{0.1, 0.2, -0.1}, {5.0, -3.0, 8.0}};
  for (int i = 0; i < start.rates.size(); ++i) start.rates[i] = 30.0 * std::sin(1.0 + i);
  const rods::RodState first = start;
  constexpr int steps = 50;
  constexpr double dt = 5e-4;
  const Choice midpoint{Scheme::nonlinear, 0.5};
  Stepper forth = stepper_of(std::move(built), dt, midpoint);
  for (int i = 0; i < steps; ++i) ASSERT_TRUE(forth.step().finite);
  Built turned = swing(rods::RootCondition::free);
  turned.state.rods = forth.state().rods;
  rods::RodState& state = turned.state.rods[0];
  EXPECT_GT((state.coordinates - first.coordinates).norm(), 0.05);
  EXPECT_GT((state.root.frame - first.root.frame).norm(), 0.2);
  state.rates = -state.rates;
  state.root_velocity = {-state.root_velocity.linear, -state.root_velocity.angular};
  Stepper back = stepper_of(std::move(turned), dt, midpoint);
  for (int i = 0; i < steps; ++i) ASSERT_TRUE(back.step().finite);
  // The frame moves by the exponential of the mean angular velocity in world axes, which is its own inverse.
  const rods::RodState& last = back.state().rods[0];
  EXPECT_LT((last.coordinates - first.coordinates).norm(), 1e-7 * forth.state().rods[0].coordinates.norm());
  EXPECT_LT((last.root.position - first.root.position).norm(), 1e-9);
  EXPECT_LT((last.root.frame - first.root.frame).norm(), 1e-7);
}

// What lies on a floor presses on it with its weight, wherever in the step forces are taken.
TEST(Theta, ARestingFibreWeighsWhatItWeighs) {
  for (const double theta : {0.6, 0.75, 1.0}) {
    Built built = swing(rods::RootCondition::free);
    built.state.rods[0].root.position = {0, 0, 5e-4};
    test::add(built.world,
              bodies::Obstacle{"floor", "", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}});
    const double weight = built.world.fibres[0].model->mass() * gravity;
    Stepper stepper = stepper_of(std::move(built), 1e-3, {Scheme::semi_implicit, theta});
    StepReport report;
    double mean = 0.0;
    constexpr int steps = 400;
    for (int i = 0; i < steps; ++i) {
      report = stepper.step();
      ASSERT_TRUE(report.finite);
      if (i >= steps / 2) mean -= report.obstacles[0].force.z() / (steps / 2);
    }
    EXPECT_NEAR(mean, weight, 0.01 * weight) << theta;
    EXPECT_LT(report.max_penetration, 1e-6);
  }
}

TEST(Theta, IsCheckedOnEntry) {
  for (const double theta : {0.49, 1.01, std::nan("")}) {
    EXPECT_THROW((void)stepper_of(swing(), 1e-3, {Scheme::semi_implicit, theta}), std::exception);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
