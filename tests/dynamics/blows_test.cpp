#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <support/worlds.hpp>

/// Fibres thrown at a bar faster than a step can follow.
namespace {

using namespace tresse;

constexpr double radius = 40e-6;
constexpr double bar_radius = 0.5e-3;
constexpr rods::Material hair{.density = 1320.0, .young_modulus = 3.9e9, .poisson_ratio = 0.4, .damping_time = 0.0};

struct Blow {
  bool through = false;  ///< the fibre is below the bar at last
  bool told = false;     ///< a report said so
};

Blow thrown(double speed, int elements) {
  assembly::World world;
  dynamics::SimulationState state;
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.0));
  assembly::set_load(world, assembly::Gravity(Vector3::Zero()));
  const Vector3 root(-0.04, 0.0, bar_radius + radius + 0.3e-3 * speed);
  test::add(world, state,
            test::fibre(elements, 0.1, radius, hair, {root, Matrix3::Identity()}, rods::RootCondition::free));
  state.rods[0].root_velocity.linear = {0.0, 0.0, -speed};
  bodies::Obstacle bar;
  bar.shape = bodies::Capsule{{0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}, bar_radius};
  test::add(world, bar);
  dynamics::Stepper stepper(std::move(world), test::step_options(1e-3), std::move(state));
  Blow out;
  const auto step = [&] {
    const dynamics::StepReport report = stepper.step();
    out.told = out.told || report.crossing || !report.finite || report.max_penetration > 0.1 * radius;
    return report.finite;
  };
  for (int i = 0; i < 4 && step(); ++i) {
  }
  const rods::Rod& rod = stepper.kinematics().rod(0);
  double highest = -1.0;  // of its points over, or under, the bar's axis: its ends may swing below
  for (double s = 0.0; s <= 0.1; s += 5e-5) {
    const Vector3 point = rod.section(s).position;
    if (std::abs(point.x()) < 1e-4) highest = std::max(highest, point.z());
  }
  out.through = highest < 0.0;
  step();  // which tells how deep the fourth has left them
  return out;
}

TEST(Blows, SlowOnesAreStopped) {
  for (const double speed : {0.5, 1.0, 2.0, 5.0}) {
    for (const int elements : {4, 12}) EXPECT_FALSE(thrown(speed, elements).through) << speed << " " << elements;
  }
}

TEST(Blows, NoneGoesThroughInSilence) {
  for (const double speed : {10.0, 20.0, 30.0, 60.0}) {
    for (const int elements : {4, 8, 12}) {
      const Blow blow = thrown(speed, elements);
      EXPECT_TRUE(blow.told || !blow.through) << speed << " " << elements;
    }
  }
}

}  // namespace
