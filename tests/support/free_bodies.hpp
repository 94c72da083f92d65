#pragma once

#include <gtest/gtest.h>

#include <tresse/assembly/free_body_motion.hpp>
#include <tresse/dynamics/stepper.hpp>

#include "worlds.hpp"

/// Rigid bodies that fall, touch and come to rest.
namespace tresse::test {

struct FreeBodies {
  assembly::World world;
  dynamics::SimulationState state;
  dynamics::StepOptions options;

  /// Of about this `radius` [m], one coefficient of friction for all.
  FreeBodies(double mu, double radius, double dt) : options(step_options(dt)) {
    assembly::set_load(world, assembly::Gravity({0, 0, -9.81}));
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
    options.margin = 0.05 * radius;
    options.overlap_tolerance = 1e-5 * radius;
    options.halving_overlap = 1e-2 * radius;
  }
  void add(bodies::Obstacle obstacle) { test::add(world, std::move(obstacle)); }
  dynamics::Stepper stepper() {
    free_bodies(world, state);
    return dynamics::Stepper(world, options, state);
  }
};

/// Steps and checks that every step is sound.
inline dynamics::StepReport run(dynamics::Stepper& stepper, int steps) {
  dynamics::StepReport report;
  for (int i = 0; i < steps; ++i) {
    report = stepper.step();
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.solver_status, Status::converged) << report.step << " " << report.residual;
  }
  return report;
}

/// Of a free body where it is.
inline assembly::Vector6 momentum_of(const dynamics::Stepper& stepper, std::size_t body) {
  return assembly::momentum(stepper.world().free_bodies[body].solid, stepper.state().bodies[body]);
}

}  // namespace tresse::test
