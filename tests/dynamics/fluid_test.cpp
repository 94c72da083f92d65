#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/fluid/resistance.hpp>

#include "support/worlds.hpp"

/// Fibres in a viscous fluid.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double length = 0.1, radius = 1e-3, density = 2000.0, eta = 0.5;
constexpr int elements = 20;
constexpr double per_length = density * std::numbers::pi * radius * radius;

const rods::Material stiff{.density = density, .young_modulus = 1e9, .poisson_ratio = 0.4, .damping_time = 0.0};

assembly::Fibre rod(const std::string& model, rods::RootCondition condition, const rods::Material& material) {
  assembly::Fibre out;
  out.model = test::straight_rod(model, elements, length, radius, material, condition)->model();
  return out;
}

Stepper in_fluid(assembly::World world, SimulationState state, double dt, double viscosity,
                 fluid::Coupling coupling = fluid::Coupling::collocation) {
  assembly::immerse(world, {.viscosity = viscosity, .regularisation = 1.02, .coupling = coupling});
  StepOptions options = test::step_options(dt);
  options.fluid_tolerance = 1e-9;
  return Stepper(std::move(world), options, std::move(state));
}

/// Straight.
SimulationState at_rest(const assembly::World& world) {
  SimulationState out;
  for (const assembly::Fibre& fibre : world.fibres) {
    const rods::RodModel& made = *fibre.model;
    const auto rod = made.make_rod();
    out.rods.push_back(rod->shaped(fibre.root, {}, VectorX::Zero(made.rest_curvature().size()),
                                   VectorX::Zero(made.rest_curvature().size())));
  }
  return out;
}

Matrix3X ends(const Stepper& stepper, int fibre) {
  Matrix3X out(3, elements + 1);
  stepper.kinematics().rod(fibre).end_positions(out);
  return out;
}

class Fluid : public testing::TestWithParam<const char*> {};

// A heavy stiff rod, free, sinks across itself as fast as the resistance of its nodes has it: the force on its sum is
// its weight. 0.24749 viscosity and speed, for 0.1 m in 20 segments.
TEST_P(Fluid, ARodSinksWithTheSpeedOfItsResistance) {
  assembly::World world;
  world.fibres.push_back(rod(GetParam(), rods::RootCondition::free, stiff));
  assembly::set_load(world, assembly::Gravity(Vector3(0.0, 0.0, -9.81)));
  Stepper stepper = in_fluid(world, at_rest(world), 5e-3, eta);
  StepReport report;
  for (int i = 0; i < 400; ++i) report = stepper.step();
  const double before = ends(stepper, 0).row(2).mean();
  report = stepper.step();
  const double speed = (before - ends(stepper, 0).row(2).mean()) / 5e-3;
  const double weight = per_length * length * 9.81;
  EXPECT_NEAR(report.fluid[0].force.z(), weight, 1e-6 * weight);
  // The rod bends a little, and is not moved as one.
  EXPECT_NEAR(speed, weight / (0.24749 * eta), 2e-3 * weight / (0.24749 * eta));
  EXPECT_LE(report.nonlinear_residual, 1e-9);
}

// What a rod loses of its speed each step, implicitly: along itself nothing bends it, and it comes to rest by the
// smallest factor that its resistance and the step allow, at any viscosity.
TEST_P(Fluid, SpeedDecaysImplicitly) {
  for (const double viscosity : {1e-3, 1.0, 1e4}) {
    assembly::World world;
    world.fibres.push_back(rod(GetParam(), rods::RootCondition::free, stiff));
    SimulationState state = at_rest(world);
    constexpr double dt = 1e-3;
    if (std::string(GetParam()) == "discrete-elastic-rod") {
      VectorX& rates = state.rods[0].rates;
      rates.setZero();
      for (Eigen::Index k = 0; k <= elements; ++k) rates[k == 0 ? 0 : 4 * k] = 1.0;
    }
    state.rods[0].root_velocity.linear = Vector3::UnitX();
    Stepper stepper = in_fluid(world, state, dt, viscosity);
    const double before = ends(stepper, 0).row(0).mean();
    static_cast<void>(stepper.step());
    const double speed = (ends(stepper, 0).row(0).mean() - before) / dt;
    // The rod is stiff along itself: one speed for all, resisted by the sum of its nodes.
    const double decay = 1.0 / (1.0 + dt * 0.15272 * viscosity / (per_length * length));
    EXPECT_NEAR(speed, decay, (viscosity < 1e3 ? 1e-4 : 2e-2) * decay) << viscosity;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Fluid, testing::Values("super-helix", "super-clothoid", "discrete-elastic-rod"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Of a free world in a fluid: what it loses of energy is the work of the fluid, which never gives any where the
// coupling is symmetric; and what it loses of momentum is the fluid's impulse.
TEST(Fluid, TakesEnergyAndMomentumAsItsBooksSay) {
  const rods::Material soft{.density = density, .young_modulus = 1e6, .poisson_ratio = 0.4, .damping_time = 0.0};
  assembly::World world;
  for (int k = 0; k < 2; ++k) {
    assembly::Fibre fibre = rod("super-helix", rods::RootCondition::free, soft);
    fibre.root.position = Vector3(0.0, 0.0, 8e-3 * k);
    world.fibres.push_back(fibre);
  }
  SimulationState state = at_rest(world);
  state.rods[0].root_velocity = {Vector3(0.1, 0.3, 0.0), Vector3(2.0, 5.0, 1.0)};
  state.rods[1].rates = VectorX::Constant(3 * elements, 40.0);
  constexpr double dt = 2e-4;
  Stepper stepper = in_fluid(world, state, dt, 0.05, fluid::Coupling::symmetric);
  const auto momentum = [&] {
    Vector3 out = Vector3::Zero();
    for (int f = 0; f < 2; ++f) {
      Vector3 linear, angular;
      stepper.kinematics().rod(f).momentum(linear, angular);
      out += linear;
    }
    return out;
  };
  const auto energy = [&] { return stepper.energies().kinetic + stepper.energies().elastic; };
  double work = 0.0;
  for (int i = 0; i < 50; ++i) {
    const Vector3 start = momentum();
    const double kept = energy();
    const StepReport report = stepper.step();
    const Vector3 impulse = dt * (report.fluid[0].force + report.fluid[1].force);
    EXPECT_LT((momentum() - start - impulse).norm(), 1e-6 * start.norm() + 1e-12) << i;
    const double done = report.work_external - work;
    work = report.work_external;
    EXPECT_LT(done, 0.0);
    EXPECT_LE(energy(), kept + done + 1e-9 * kept) << i;
  }
}

// Bodies that move alike in one fluid drag each other along: two sink faster than one.
TEST(Fluid, TwoSinkFasterThanOne) {
  const auto speed = [](int count) {
    assembly::World world;
    for (int k = 0; k < count; ++k) {
      assembly::Fibre fibre = rod("discrete-elastic-rod", rods::RootCondition::free, stiff);
      fibre.root.position = Vector3(0.0, 1e-2 * k, 0.0);
      world.fibres.push_back(fibre);
    }
    assembly::set_load(world, assembly::Gravity(Vector3(0.0, 0.0, -9.81)));
    Stepper stepper = in_fluid(world, at_rest(world), 5e-3, eta);
    for (int i = 0; i < 200; ++i) static_cast<void>(stepper.step());
    const double before = ends(stepper, 0).row(2).mean();
    static_cast<void>(stepper.step());
    return (before - ends(stepper, 0).row(2).mean()) / 5e-3;
  };
  EXPECT_GT(speed(2), 1.2 * speed(1));
}

TEST(Fluid, WhatItCannotBeWithIsRefused) {
  assembly::World world;
  world.fibres.push_back(rod("super-helix", rods::RootCondition::free, stiff));
  EXPECT_THROW(assembly::immerse(world, {.viscosity = -1.0}), InvalidInput);
  assembly::immerse(world, {.viscosity = 1.0});
  StepOptions options = test::step_options(1e-3);
  options.scheme = Scheme::semi_implicit;
  options.theta = 0.5;
  EXPECT_THROW(Stepper(world, options, at_rest(world)), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
