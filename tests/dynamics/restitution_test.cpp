#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include <support/free_bodies.hpp>

/// Impacts that rebound.
namespace TRESSE_TEST_FILE {

using namespace tresse;

constexpr double g = 9.81;
constexpr double radius = 0.01;
constexpr rods::Material rubber{.density = 1000.0, .young_modulus = 1e6, .poisson_ratio = 0.4, .damping_time = 0.0};

bodies::Obstacle ball(const std::string& name, const Vector3& center) {
  bodies::Obstacle out{name, "steel", bodies::Sphere{center, radius}, center, {}};
  out.mass = 0.1;
  return out;
}

bodies::Obstacle level_floor() {
  return {"floor", "steel", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}};
}

std::shared_ptr<assembly::Coulomb> law(double friction, double restitution) {
  return std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, friction), MatrixX::Constant(1, 1, restitution));
}

/// What is dropped, by the height of its middle above where it touches the floor.
struct Drop {
  dynamics::Stepper stepper;
  std::function<double(const dynamics::Stepper&)> height;
  dynamics::StepReport report;
  double excess = 0.0;  ///< largest energy from nothing [J]

  double step() {
    report = stepper.step();
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.solver_status, Status::converged);
    excess = std::max(excess, report.energy_excess);
    return height(stepper);
  }
  double energy() const { return report.energies.kinetic + report.energies.elastic + report.energies.gravity; }
  /// The height that it reaches after its first impact.
  double rebound() {
    double last = height(stepper);
    for (bool rising = false;;) {
      const double z = step();
      if (rising && z < last) return last;
      rising = rising || z > last;
      last = z;
    }
  }
};

Drop dropped_ball(double e, double dt, double h) {
  test::FreeBodies b(0.3, radius, dt);
  b.world.law = law(0.3, e);
  b.add(level_floor());
  b.add(ball("ball", {0, 0, radius + h}));
  return {b.stepper(), [](const auto& s) { return s.state().bodies[0].pose.position.z() - radius; }, {}};
}

dynamics::StepOptions fibre_options(double dt) {
  dynamics::StepOptions options = test::step_options(dt);
  options.margin = 5e-5;
  options.overlap_tolerance = 2e-6;
  options.halving_overlap = 1e-5;
  return options;
}

/// A fibre whose lower end, or all of it, is `h` above the floor.
Drop dropped_fibre(double e, double friction, double dt, double h, double pitch, const rods::Material& material) {
  constexpr double r = 1e-3, length = 0.05;
  assembly::World world;
  dynamics::SimulationState state;
  world.law = law(friction, e);
  assembly::set_load(world, assembly::Gravity({0, 0, -g}));
  const Matrix3 frame = Eigen::AngleAxisd(-pitch, Vector3::UnitY()).toRotationMatrix();
  test::add(world, state, test::fibre(4, length, r, material, {{0, 0, r + h}, frame}, rods::RootCondition::free));
  test::add(world, level_floor());
  const double middle = r + 0.5 * length * std::sin(pitch);
  return {dynamics::Stepper(std::move(world), fibre_options(dt), std::move(state)),
          [middle](const auto& s) { return s.kinematics().rod(0).section(0.5 * length).position.z() - middle; },
          {}};
}

TEST(Restitution, WhatFallsReachesTheSquareOfItOfItsHeightToFirstOrder) {
  constexpr double h = 0.05;
  const double speed = std::sqrt(2.0 * g * h);
  using Make = std::function<Drop(double, double, double)>;
  const Make makes[] = {
      dropped_ball, [](double e, double dt, double z) { return dropped_fibre(e, 0.3, dt, z, 0.0, rubber); },
      [](double e, double dt, double z) { return dropped_fibre(e, 0.3, dt, z, 0.5 * std::numbers::pi, rubber); }};
  for (const Make& make : makes) {
    for (const double e : {0.3, 0.5, 0.8}) {
      double last = 0.0;
      for (const double dt : {1e-3, 5e-4, 2.5e-4}) {
        // An impact is up to one step early: the mean over when in a step it falls shows the order.
        double mean = 0.0;
        constexpr int phases = 8;
        for (int k = 0; k < phases; ++k) {
          const double from = h + speed * dt * k / phases;
          Drop drop = make(e, dt, from);
          mean += (drop.rebound() - e * e * from) / phases;
          EXPECT_LT(drop.excess, 1e-6 * drop.energy());
        }
        EXPECT_GT(mean, 0.0);
        EXPECT_LT(mean, (1.0 - e * e) * speed * dt) << e << " " << dt;
        if (last > 0.0) {
          EXPECT_LT(mean, 0.6 * last) << e << " " << dt;
        }
        last = mean;
      }
    }
  }
}

TEST(Restitution, OfOneKeepsEnergyToFirstOrder) {
  constexpr double h = 0.05;
  for (const double dt : {1e-3, 5e-4}) {
    for (const bool fibre : {false, true}) {
      Drop drop = fibre ? dropped_fibre(1.0, 0.0, dt, h, 0.0, rubber) : dropped_ball(1.0, dt, h);
      drop.step();
      const double before = drop.energy();
      const double fall = before * h / (h + (fibre ? 1e-3 : radius));
      for (int i = 0; i < static_cast<int>(0.5 / dt); ++i) {  // three impacts
        drop.step();
        EXPECT_NEAR(drop.energy(), before, (fibre ? 30.0 : 12.0) * dt * fall) << dt << " " << i;
      }
      EXPECT_LT(drop.excess, 1e-6 * before);
    }
  }
}

TEST(Restitution, AStiffRodThatFallsOnItsEndTurnsAsARigidOne) {
  constexpr double h = 0.05, pitch = 0.5, dt = 2e-4, length = 0.05, r = 1e-3;
  rods::Material steel = rubber;
  steel.young_modulus = 2e13;
  for (const double e : {0.5, 1.0}) {
    Drop drop = dropped_fibre(e, 0.0, dt, h, pitch, steel);
    double last = 0.0, before = 0.0;
    for (double change = 0.0; change < 0.05; last = before) {
      drop.step();
      Vector3 linear, angular;
      drop.stepper.kinematics().rod(0).momentum(linear, angular);
      before = linear.z() / drop.stepper.kinematics().rod(0).mass();
      change = before - last;
      if (change < 0.05) continue;
      const double arm = 0.5 * length * std::cos(pitch);
      const double inertia = length * length / 12.0 + 0.25 * r * r;
      const double expected = last + (1.0 + e) * -last / (1.0 + arm * arm / inertia);
      EXPECT_NEAR(before, expected, 2e-2 * std::abs(last)) << e;
    }
  }
}

TEST(Restitution, TwoBallsThatMeetPartWithIt) {
  for (const double e : {0.0, 0.4, 1.0}) {
    test::FreeBodies b(0.3, radius, 1e-3);
    b.world.law = law(0.3, e);
    assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
    bodies::Obstacle thrown = ball("a", {0, 0, 0});
    thrown.velocity.linear = {1.0, 0, 0};
    b.add(thrown);
    b.add(ball("b", {0.0523, 0, 0}));
    dynamics::Stepper stepper = b.stepper();
    test::run(stepper, 100);
    EXPECT_NEAR(stepper.state().bodies[0].velocity.linear.x(), 0.5 * (1.0 - e), 1e-9) << e;
    EXPECT_NEAR(stepper.state().bodies[1].velocity.linear.x(), 0.5 * (1.0 + e), 1e-9) << e;
  }
}

TEST(Restitution, AnObstacleThatMovesThrows) {
  for (const double e : {0.5, 1.0}) {
    test::FreeBodies b(0.3, radius, 1e-3);
    b.world.law = law(0.3, e);
    assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
    bodies::Obstacle bat = level_floor();
    bat.motion.velocity = {0, 0, 0.7};
    b.add(bat);
    b.add(ball("ball", {0, 0, radius + 0.0123}));
    dynamics::Stepper stepper = b.stepper();
    const dynamics::StepReport report = test::run(stepper, 50);
    EXPECT_NEAR(stepper.state().bodies[0].velocity.linear.z(), (1.0 + e) * 0.7, 1e-12) << e;
    EXPECT_LT(report.energy_excess, 1e-12);
  }
}

/// Steps until all that bounces is over, and then demands rest, step by step.
void expect_rest(dynamics::Stepper& stepper, int steps) {
  double excess = 0.0;
  for (int i = 0; i < steps; ++i) {
    const dynamics::StepReport report = test::run(stepper, 1);
    excess = std::max(excess, report.energy_excess);
    if (i > steps - 100) {
      EXPECT_LT(report.energies.kinetic, 1e-16) << i;
    }
  }
  EXPECT_LT(excess, 1e-9);
}

TEST(Restitution, AStackComesToRestAndStays) {
  test::FreeBodies b(0.3, radius, 1e-3);
  b.world.law = law(0.3, 0.5);
  b.add(level_floor());
  for (int i = 0; i < 4; ++i) b.add(ball("ball", {0, 0, radius * (1.0 + 2.0 * i) + 0.01 * (i + 1)}));
  dynamics::Stepper stepper = b.stepper();
  expect_rest(stepper, 1200);
  EXPECT_NEAR(stepper.state().bodies[3].pose.position.z(), 7.0 * radius, 1e-6 * radius);
}

TEST(Restitution, APileOfRodsComesToRestAndStays) {
  test::FreeBodies b(0.3, radius, 1e-3);
  b.world.law = law(0.5, 0.5);
  b.add(level_floor());
  for (int i = 0; i < 6; ++i) {  // crosswise, two by two
    const int level = i / 2;
    const Vector3 along = level % 2 == 0 ? Vector3::UnitX() : Vector3::UnitY();
    const Vector3 across = Vector3::UnitZ().cross(along);
    const Vector3 middle = (i % 2 == 0 ? 0.03 : -0.03) * across + (radius + 0.03 * level + 0.01) * Vector3::UnitZ();
    bodies::Obstacle rod{
        "rod", "steel", bodies::Capsule{middle - 0.05 * along, middle + 0.05 * along, radius}, middle, {}};
    rod.mass = 0.1;
    b.add(rod);
  }
  dynamics::Stepper stepper = b.stepper();
  expect_rest(stepper, 1000);
}

TEST(Restitution, FibresThatFallOnEachOtherGainNothing) {
  for (const int count : {6, 14}) {  // few, and so many that what turns is repaired
    assembly::World world;
    dynamics::SimulationState state;
    world.law = law(0.5, 0.5);
    assembly::set_load(world, assembly::Gravity({0, 0, -g}));
    constexpr double r = 1e-3, length = 0.05;
    rods::Material material = rubber;
    material.damping_time = 1e-3;
    for (int i = 0; i < count; ++i) {
      const Matrix3 frame = Eigen::AngleAxisd(1.1 * i, Vector3::UnitZ()).toRotationMatrix();
      const Vector3 root = frame * Vector3(-0.5 * length, 0, 0) + Vector3(0, 0, r + 0.01 + 3.0 * r * i);
      test::add(world, state, test::fibre(4, length, r, material, {root, frame}, rods::RootCondition::free));
    }
    test::add(world, level_floor());
    dynamics::StepOptions options = fibre_options(1e-3);
    if (count > 10) options.relinearisations = 0;
    options.overlap_tolerance = 4e-5, options.halving_overlap = 9e-5;
    dynamics::Stepper stepper(std::move(world), options, std::move(state));
    double excess = 0.0, highest = 0.0;
    int parts = 0;
    for (int i = 0; i < 400; ++i) {
      const dynamics::StepReport report = test::run(stepper, 1);
      highest = std::max(highest, report.energies.kinetic);
      excess = std::max(excess, report.energy_excess);
      parts += report.parts;
      if (i > 330) {  // until then some roll off
        EXPECT_LT(report.energies.kinetic, 0.05 * highest) << count << " " << i;
      }
    }
    EXPECT_LT(excess, 1e-6 * highest) << count;
    EXPECT_LT(parts, 420) << count;
  }
}

TEST(Restitution, WhatMeetsMoreSlowlyThanTheThresholdStays) {
  for (const double threshold : {0.9, 1.1}) {
    test::FreeBodies b(0.3, radius, 1e-3);
    b.world.law = law(0.3, 0.5);
    b.options.restitution_threshold = threshold;
    b.add(level_floor());
    b.add(ball("ball", {0, 0, radius + 0.0512}));  // it falls at 1.00 m/s
    dynamics::Stepper stepper = b.stepper();
    test::run(stepper, 108);
    EXPECT_EQ(stepper.state().bodies[0].velocity.linear.z() > 0.4, threshold < 1.0);
  }
}

}  // namespace TRESSE_TEST_FILE
