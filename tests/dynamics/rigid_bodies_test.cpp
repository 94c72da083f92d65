#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include <oneapi/tbb/global_control.h>
#include <Eigen/Geometry>

#include "support/free_bodies.hpp"

namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double g = 9.81;
constexpr double pi = std::numbers::pi;
constexpr double mass = 0.3;
constexpr double radius = 0.05;

bodies::Obstacle ball(const std::string& name, const Vector3& center, double m = mass, double r = radius) {
  bodies::Obstacle out{name, "steel", bodies::Sphere{center, r}, center, {}};
  out.mass = m;
  return out;
}

bodies::Obstacle rod(const std::string& name, const Vector3& from, const Vector3& to, double r = radius) {
  bodies::Obstacle out{name, "steel", bodies::Capsule{from, to, r}, 0.5 * (from + to), {}};
  out.mass = mass;
  return out;
}

bodies::Obstacle plane(const Vector3& normal) {
  return {"floor", "steel", bodies::Plane{Vector3::Zero(), normal.normalized()}, Vector3::Zero(), {}};
}

using test::momentum_of;
using test::run;

struct Bodies : test::FreeBodies {
  explicit Bodies(double mu = 0.3) : FreeBodies(mu, radius, 1e-3) {}
};

double total_energy(const StepReport& report) {
  return report.energies.kinetic + report.energies.elastic + report.energies.gravity;
}

TEST(RigidBodies, FreeFallIsTheParabolaOfTheScheme) {
  for (const double theta : {1.0, 0.5}) {
    Bodies b;
    bodies::Obstacle thrown = ball("ball", {0, 0, 2});
    thrown.velocity = {{1, 2, 3}, {4, 5, 6}};
    b.add(thrown);
    b.options.theta = theta;
    if (theta < 1.0) b.options.scheme = Scheme::semi_implicit;
    Stepper stepper = b.stepper();
    const int steps = 200;
    const StepReport report = run(stepper, steps);
    const bodies::BodyState& end = stepper.state().bodies[0];
    const double t = steps * b.options.dt;
    // Implicit Euler: g dt^2 n (n + 1) / 2; the trapezoidal rule is exact.
    const double fall = 0.5 * g * t * (t + (2.0 * theta - 1.0) * b.options.dt);
    EXPECT_NEAR((end.pose.position - Vector3(t, 2 * t, 2 + 3 * t - fall)).norm(), 0.0, 1e-13) << theta;
    EXPECT_NEAR((end.velocity.linear - Vector3(1, 2, 3 - g * t)).norm(), 0.0, 1e-13);
    EXPECT_NEAR((end.velocity.angular - Vector3(4, 5, 6)).norm(), 0.0, 1e-13);
    const double kinetic = 0.5 * mass * end.velocity.linear.squaredNorm() + 0.2 * mass * radius * radius * 77.0;
    EXPECT_NEAR(report.energies.kinetic, kinetic, 1e-13);
    EXPECT_NEAR(report.energies.gravity, mass * g * end.pose.position.z(), 1e-12);
  }
}

TEST(RigidBodies, AFreeTopKeepsMomentumAndEnergy) {
  Bodies b;
  bodies::Obstacle top = rod("top", {-0.1, 0, 0}, {0.1, 0, 0}, 0.02);
  top.velocity.angular = {60, 5, -11};
  b.add(top);
  assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
  Stepper stepper = b.stepper();
  const assembly::Vector6 before = momentum_of(stepper, 0);
  const double energy = assembly::kinetic_energy(stepper.kinematics());
  const StepReport report = run(stepper, 2000);
  const assembly::Vector6 after = momentum_of(stepper, 0);
  EXPECT_NEAR((after - before).norm() / before.norm(), 0.0, 1e-12);
  EXPECT_NEAR(report.energies.kinetic / energy, 1.0, 1e-12);
}

TEST(RigidBodies, ABallFallsAndRests) {
  Bodies b;
  b.add(plane({0, 0, 1}));
  b.add(ball("ball", {0, 0, 0.1}));
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 400);
  const bodies::BodyState& end = stepper.state().bodies[0];
  EXPECT_NEAR(end.pose.position.z(), radius, 1e-12);
  EXPECT_NEAR(end.velocity.linear.norm(), 0.0, 1e-12);
  EXPECT_NEAR(report.obstacles[0].force.z(), -mass * g, 1e-9 * mass * g);
  EXPECT_NEAR(report.obstacles[1].force.z(), mass * g, 1e-9 * mass * g);
  ASSERT_EQ(stepper.contacts().size(), 1U);
  EXPECT_EQ(stepper.contacts()[0].a.body, (BodyId{BodyKind::rigid_body, 1}));
  EXPECT_EQ(stepper.contacts()[0].b.body, (BodyId{BodyKind::obstacle, 0}));
  EXPECT_EQ(report.work_external, 0.0);
}

/// Speed of a ball that slides and then rolls on a level plane, until `time`.
struct Bowl {
  Vector3 velocity, angular;
  double when = 0.0;  // it began to roll [s]
  double energy = 0.0;
};

Bowl bowl(double mu, double speed, double time, double dt) {
  Bodies b(mu);
  b.options.dt = dt;
  b.add(plane({0, 0, 1}));
  bodies::Obstacle thrown = ball("ball", {0, 0, radius});
  thrown.velocity.linear = {speed, 0, 0};
  b.add(thrown);
  Stepper stepper = b.stepper();
  Bowl out;
  while (stepper.time() < time) {
    const StepReport report = run(stepper, 1);
    if (out.when == 0.0 && stepper.contacts().at(0).slip < 1e-9) out.when = stepper.time();
    out.energy = report.energies.kinetic;
  }
  const bodies::BodyState& end = stepper.state().bodies[0];
  out.velocity = end.velocity.linear;
  out.angular = end.velocity.angular;
  return out;
}

// A sliding ball rolls after 2 v / (7 mu g), at 5/7 of its speed, and goes on so without loss.
TEST(RigidBodies, SlidingTurnsIntoRolling) {
  const double mu = 0.2;
  const double speed = 2.0;
  const double when = 2.0 * speed / (7.0 * mu * g);
  const double dt = 1e-3;
  const Bowl at = bowl(mu, speed, when + 0.01, dt);
  EXPECT_NEAR(at.when, when, 1.001 * dt);
  EXPECT_NEAR((at.velocity - Vector3(5.0 / 7.0 * speed, 0, 0)).norm(), 0.0, 1e-10 * speed);
  EXPECT_NEAR((at.angular - Vector3(0, 5.0 / 7.0 * speed / radius, 0)).norm(), 0.0, 1e-10 * speed / radius);
  const Bowl later = bowl(mu, speed, when + 1.0, dt);
  EXPECT_NEAR(later.energy / at.energy, 1.0, 1e-9);
}

/// Acceleration of a ball let go on a plane at `angle`, and its slip at the end.
std::pair<double, double> downhill(double mu, double angle) {
  Bodies b(mu);
  const Vector3 normal(std::sin(angle), 0, std::cos(angle));
  const Vector3 down(std::cos(angle), 0, -std::sin(angle));
  b.add(plane(normal));
  b.add(ball("ball", radius * normal));
  Stepper stepper = b.stepper();
  run(stepper, 300);
  return {stepper.state().bodies[0].velocity.linear.dot(down) / stepper.time(), stepper.contacts().at(0).slip};
}

TEST(RigidBodies, ABallOnAnInclineRollsOrSlides) {
  const double angle = 0.6;
  const double critical = 2.0 / 7.0 * std::tan(angle);
  for (const double mu : {1.02 * critical, 2.0}) {
    const auto [acceleration, slip] = downhill(mu, angle);
    EXPECT_NEAR(acceleration, 5.0 / 7.0 * g * std::sin(angle), 1e-9 * g) << mu;
    EXPECT_LT(slip, 1e-9);
  }
  for (const double mu : {0.98 * critical, 0.0}) {
    const auto [acceleration, slip] = downhill(mu, angle);
    EXPECT_NEAR(acceleration, g * (std::sin(angle) - mu * std::cos(angle)), 1e-9 * g) << mu;
    EXPECT_GT(slip, 0.01);
  }
}

/// How far the top ball of three has sunk in half a second: two that touch on a floor, and one on them.
double pyramid_sinks(double mu) {
  Bodies b(mu);
  b.add(plane({0, 0, 1}));
  const double up = radius * (1.0 + std::sqrt(3.0));
  b.add(ball("left", {-radius, 0, radius}));
  b.add(ball("right", {radius, 0, radius}));
  b.add(ball("top", {0, 0, up}));
  Stepper stepper = b.stepper();
  run(stepper, 500);
  return (up - stepper.state().bodies[2].pose.position.z()) / radius;
}

// Of three equal balls the two below are pushed apart at 30 degrees from the vertical. About the point where such a
// ball meets the floor the force from above has no moment if it passes there, so friction at both has the angle of 15
// degrees: tan 15 between the balls, and less on the floor, where the load is half as much again.
TEST(RigidBodies, APyramidStandsAboveTheCriticalFriction) {
  const double critical = std::tan(pi / 12.0);
  EXPECT_LT(pyramid_sinks(1.02 * critical), 1e-6);
  EXPECT_GT(pyramid_sinks(0.98 * critical), 0.01);
}

struct Collision {
  double linear = 0.0, angular = 0.0;  // what is lost of the total momenta, relative
};

/// Two balls meet off centre with friction.
Collision collide(double dt, int relinearisations) {
  Bodies b(0.4);
  b.options.dt = dt;
  b.options.relinearisations = b.options.max_relinearisations = relinearisations;
  assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
  bodies::Obstacle first = ball("first", {-0.2, 0, 0});
  first.velocity = {{1.5, 0.2, 0}, {3, -2, 5}};
  bodies::Obstacle second = ball("second", {0.05, 0.04, 0.02}, 2.0 * mass, 1.3 * radius);
  second.velocity = {{-0.3, 0, 0.1}, {0, 4, 1}};
  b.add(first);
  b.add(second);
  Stepper stepper = b.stepper();
  const auto total = [&] {
    assembly::Vector6 sum = assembly::Vector6::Zero();
    for (std::size_t k = 0; k < stepper.state().bodies.size(); ++k) {
      assembly::Vector6 own = momentum_of(stepper, k);
      own.tail<3>() += stepper.state().bodies[k].pose.position.cross(Vector3(own.head<3>()));
      sum += own;
    }
    return sum;
  };
  const assembly::Vector6 before = total();
  const Vector3 velocity = stepper.state().bodies[0].velocity.linear;
  double energy = assembly::kinetic_energy(stepper.kinematics());
  for (int i = 0; i < static_cast<int>(0.2 / dt); ++i) {
    const double now = run(stepper, 1).energies.kinetic;
    EXPECT_LE(now, energy * (1.0 + 1e-12));
    energy = now;
  }
  EXPECT_GT((stepper.state().bodies[0].velocity.linear - velocity).norm(), 0.1);
  const assembly::Vector6 after = total();
  return {(after - before).head<3>().norm() / before.head<3>().norm(),
          (after - before).tail<3>().norm() / before.tail<3>().norm()};
}

// With the lever arms of the start of the step, a contact at one point of both keeps the angular momentum too; those of
// its end are off by what the balls move in the step.
TEST(RigidBodies, CollisionsKeepMomentum) {
  const Collision exact = collide(1e-3, 0);
  EXPECT_LT(exact.linear, 1e-12);
  EXPECT_LT(exact.angular, 1e-12);
  double last = 0.0;
  for (const double dt : {1e-3, 1e-4, 1e-5}) {
    const Collision at_end = collide(dt, 1);
    EXPECT_LT(at_end.linear, 1e-12);
    if (last > 0.0) {
      EXPECT_NEAR(at_end.angular / last, 0.1, 0.1) << dt;
    }
    last = at_end.angular;
  }
}

// A capsule dropped at a slant comes to rest on both its ends, half its weight on each.
TEST(RigidBodies, ACapsuleLiesOnBothItsEnds) {
  Bodies b(0.5);
  b.add(plane({0, 0, 1}));
  b.add(rod("rod", {-0.1, 0, 0.12}, {0.1, 0.02, 0.16}, 0.02));
  Stepper stepper = b.stepper();
  run(stepper, 3000);
  const bodies::BodyState& end = stepper.state().bodies[0];
  EXPECT_NEAR(end.pose.position.z(), 0.02, 1e-9);
  const Vector3 axis = end.pose.frame * stepper.world().free_bodies[0].solid.axis;
  EXPECT_NEAR(axis.z(), 0.0, 1e-8);
  ASSERT_EQ(stepper.contacts().size(), 2U);
  double sum = 0.0;
  for (const ContactReport& contact : stepper.contacts()) sum -= contact.force.z();
  EXPECT_NEAR(std::abs(sum), mass * g, 1e-6 * mass * g);
}

// Two equal capsules side by side in a trough of two planes carry a third along them.
TEST(RigidBodies, CapsulesLieOnCapsules) {
  Bodies b(0.3);
  b.add(plane({1, 0, 1}));
  bodies::Obstacle other = plane({-1, 0, 1});
  other.name = "other";
  b.add(other);
  const double r = 0.02;
  const double x = r;
  const double z = r + r * std::sqrt(2.0);  // touches the plane x + z = 0 turned down: distance (z - |x|) / sqrt 2 = r
  b.add(rod("left", {-x, -0.1, z}, {-x, 0.1, z}, r));
  b.add(rod("right", {x, -0.1, z}, {x, 0.1, z}, r));
  b.add(rod("top", {0, -0.08, z + std::sqrt(3.0) * r}, {0, 0.12, z + std::sqrt(3.0) * r}, r));
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 1000);
  EXPECT_NEAR(stepper.state().bodies[2].pose.position.z(), z + std::sqrt(3.0) * r, 1e-8);
  for (const bodies::BodyState& body : stepper.state().bodies) EXPECT_LT(body.velocity.linear.norm(), 1e-7);
  EXPECT_NEAR((report.obstacles[0].force + report.obstacles[1].force).z(), -3.0 * mass * g, 1e-6 * mass * g);
}

// Dropped capsules with friction: energy only falls, and the books close on what contact dissipates.
TEST(RigidBodies, EnergyOnlyFalls) {
  Bodies b(0.4);
  b.add(plane({0, 0, 1}));
  for (int i = 0; i < 6; ++i) {
    const Matrix3 turn = Eigen::AngleAxisd(0.9 * i, Vector3(1, 2, 0.5).normalized()).toRotationMatrix();
    const Vector3 middle(0.02 * std::cos(2.1 * i), 0.02 * std::sin(2.1 * i), 0.12 + 0.12 * i);
    bodies::Obstacle part =
        rod("rod" + std::to_string(i), middle - turn * Vector3(0.04, 0, 0), middle + turn * Vector3(0.04, 0, 0), 0.02);
    part.velocity.angular = turn * Vector3(5.0 + i, 2, 1);
    b.add(part);
  }
  b.options.margin = 1e-3;
  Stepper stepper = b.stepper();
  double energy = assembly::kinetic_energy(stepper.kinematics()) + assembly::gravity_energy(stepper.kinematics());
  const double scale = energy;
  double worst = 0.0;
  double depth = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const StepReport report = run(stepper, 1);
    worst = std::max(worst, total_energy(report) - energy);
    energy = total_energy(report);
    depth = std::max(depth, report.max_penetration);
  }
  EXPECT_LT(worst, 1e-3 * scale);
  EXPECT_LT(depth, 0.02 * 0.02);
}

// A light ball in a shaft of frictionless walls stands on a cantilever and bends it as its weight does; the beam's own
// weight is an eighth of what is seen.
TEST(RigidBodies, ABallBendsACantileverAsItsWeightDoes) {
  Bodies b(0.0);
  const double length = 0.1;
  const double thin = 1e-3;
  const double ball_radius = 5e-3;
  const rods::Material material{10.0, 1e9, 0.4, 0.01};
  const Pose root;  // along x
  test::add(b.world, b.state, test::fibre(30, length, thin, material, root, rods::RootCondition::clamped));
  const double stiffness = 1e9 * pi / 4.0 * std::pow(thin, 4);
  const double weight = 3.0 * stiffness * 2e-4 / std::pow(length, 3);
  const double x = 0.0965;  // the walls clear the beam
  const double top = ball_radius + thin;
  b.add(ball("ball", {x, 0, top}, weight / g, ball_radius));
  for (const Vector3& normal : {Vector3(-1, 0, 0), Vector3(0, 1, 0), Vector3(0, -1, 0)}) {
    bodies::Obstacle wall = plane(normal);
    wall.name += std::to_string(b.world.obstacles.size());
    std::get<bodies::Plane>(wall.shape).point = Vector3(x, 0, 0) - ball_radius * normal;
    b.add(wall);
  }
  b.options.margin = 1e-4;
  b.options.overlap_tolerance = 1e-6 * thin;
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 1500);
  const double slope = weight * x * x / (2.0 * stiffness);
  const double a = x - top * slope;  // where it stands: off the ball's middle by the slope
  const double load = 10.0 * pi * thin * thin * g;
  const double own = load * a * a * (6.0 * length * length - 4.0 * length * a + a * a) / (24.0 * stiffness);
  const double sunk = top - stepper.state().bodies[0].pose.position.z();
  EXPECT_NEAR(sunk / (weight * a * a * a / (3.0 * stiffness) + own), 1.0, 2e-3);
  // Upright force on the ball: its weight, all of it from the beam.
  EXPECT_NEAR(report.obstacles[0].force.z(), weight, 1e-6 * weight);
  EXPECT_LT(stepper.state().bodies[0].velocity.linear.norm(), 1e-8);
}

/// A ball flies into a loose strand. What is lost of the momentum of the two, relative.
double ball_meets_strand(double dt) {
  Bodies b(0.5);
  b.options.dt = dt;
  assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
  const rods::Material material{1200.0, 1e7, 0.4, 0.0};
  test::add(b.world, b.state,
            test::fibre(8, 0.2, 2e-3, material, {{-0.1, 0, 0}, Matrix3::Identity()}, rods::RootCondition::free));
  bodies::Obstacle thrown = ball("ball", {0.03, -0.01, 0.03}, 0.01, 0.01);
  thrown.velocity = {{0.1, 0.1, -1.0}, {10, 0, 30}};
  b.add(thrown);
  b.options.margin = 1e-4;
  Stepper stepper = b.stepper();
  const Vector3 start = 0.01 * thrown.velocity.linear;
  const double scale = assembly::kinetic_energy(stepper.kinematics());
  double energy = scale;
  while (stepper.time() < 0.0399) {
    energy = total_energy(run(stepper, 1));
  }
  EXPECT_LT(energy, 0.99 * scale);  // what slides and what is stopped
  Vector3 linear, angular;
  stepper.kinematics().rod(0).momentum(linear, angular);
  EXPECT_GT(linear.norm(), 0.05 * start.norm());
  return (linear + 0.01 * stepper.state().bodies[0].velocity.linear - start).norm() / start.norm();
}

// What one gains of momentum the other loses: carrying a rod's velocity to another shape keeps its momentum.
TEST(RigidBodies, AStrandAndABallExchangeMomentum) {
  EXPECT_LT(ball_meets_strand(1e-3), 1e-12);
  EXPECT_LT(ball_meets_strand(1e-4), 1e-12);
}

// All that a run needs is in the state: a run cut in two ends with the same bits.
TEST(RigidBodies, ARunCutInTwoIsTheSame) {
  const auto scene = [] {
    Bodies b(0.3);
    b.add(plane({0.1, 0, 1}));
    b.add(rod("rod", {-0.1, 0, 0.12}, {0.1, 0.02, 0.16}, 0.02));
    b.add(ball("ball", {0.01, 0, 0.3}));
    return b;
  };
  Bodies whole = scene();
  Stepper one = whole.stepper();
  run(one, 300);
  Bodies first = scene();
  Stepper half = first.stepper();
  run(half, 170);
  Stepper other(half.world(), first.options, half.state());
  run(other, 130);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(one.state().bodies[k].pose.position, other.state().bodies[k].pose.position);
    EXPECT_EQ(one.state().bodies[k].pose.frame, other.state().bodies[k].pose.frame);
    EXPECT_EQ(one.state().bodies[k].velocity.linear, other.state().bodies[k].velocity.linear);
    EXPECT_EQ(one.state().bodies[k].velocity.angular, other.state().bodies[k].velocity.angular);
  }
}

// What contact is reported to exert is what the bodies' momenta change by, step by step: capsules, balls and a fibre.
TEST(RigidBodies, ForcesAreWhatMomentumChangesBy) {
  Bodies b(0.4);
  const Pose root{{-0.1, 0.005, 0.05}, Matrix3::Identity()};
  test::add(b.world, b.state, test::fibre(6, 0.2, 2e-3, {1200.0, 1e8, 0.4, 0.01}, root, rods::RootCondition::clamped));
  b.add(plane({0.1, 0, 1}));
  b.add(rod("rod", {-0.05, 0.01, 0.12}, {0.05, 0.02, 0.16}, 0.02));
  b.add(ball("ball", {0.03, 0.0, 0.25}, 0.1, 0.02));
  b.add(rod("low", {0.0, -0.05, 0.026}, {0.0, 0.05, 0.026}, 0.015));
  b.options.margin = 1e-4;
  Stepper stepper = b.stepper();
  int checked = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<assembly::Vector6> before;
    for (std::size_t k = 0; k < stepper.state().bodies.size(); ++k) before.push_back(momentum_of(stepper, k));
    const StepReport report = run(stepper, 1);
    if (report.parts > 1) continue;
    for (std::size_t k = 0; k < before.size(); ++k) {
      const assembly::FreeBody& body = stepper.world().free_bodies[k];
      const assembly::Vector6 change = momentum_of(stepper, k) - before[k];
      const ObstacleLoad& load = report.obstacles[static_cast<std::size_t>(body.obstacle)];
      const Vector3 weight = body.solid.mass * assembly::gravity_of(b.world);
      const double scale = body.solid.mass * g * b.options.dt;
      EXPECT_NEAR((change.head<3>() - b.options.dt * (load.force + weight)).norm(), 0.0, 1e-10 * scale) << i;
      EXPECT_NEAR((change.tail<3>() - b.options.dt * load.torque).norm(), 0.0, 1e-10 * scale * 0.05) << i;
      checked += load.contacts > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(checked, 500);
}

// A floor that rises with a ball on it: what the ball gains, and loses as it is caught, is the floor's work.
TEST(RigidBodies, AMovingObstacleWorksOnThem) {
  Bodies b;
  bodies::Obstacle floor = plane({0, 0, 1});
  floor.motion.velocity = {0.05, 0, 0.2};
  b.add(floor);
  b.add(ball("ball", {0, 0, radius}));
  Stepper stepper = b.stepper();
  const double start = assembly::gravity_energy(stepper.kinematics());
  const StepReport caught = run(stepper, 1);
  const double lost = caught.work_external - (total_energy(caught) - start);
  EXPECT_GT(lost, 0.5 * mass * 0.04 * (1.0 - 1e-9));  // all that the normal speed has, and friction's share
  StepReport report = run(stepper, 200);
  // Rolling has set in long before; until then friction takes its share.
  const double energy = total_energy(report);
  const double work = report.work_external;
  report = run(stepper, 200);
  EXPECT_NEAR(report.work_external - work, mass * g * 0.2 * 200 * b.options.dt, 1e-9);
  EXPECT_NEAR((total_energy(report) - energy) / (report.work_external - work), 1.0, 1e-9);
}

TEST(RigidBodies, SameBitsForAnyNumberOfThreads) {
  const auto ends = [](std::size_t threads) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    Bodies b(0.3);
    b.add(plane({0, 0, 1}));
    // More than a hundred, so that the tree and the groups are used.
    for (int i = 0; i < 120; ++i) {
      const double jitter = 0.1 * radius * std::sin(7.0 * i);
      b.add(ball("ball" + std::to_string(i), {2.2 * radius * (i % 4) + jitter, 2.2 * radius * (i / 4 % 5) - jitter,
                                              1.1 * radius + 2.2 * radius * (i / 20)}));
    }
    b.options.relinearisations = 0;
    Stepper stepper = b.stepper();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(stepper.step().finite);
    return stepper.state();
  };
  const SimulationState one = ends(1);
  const SimulationState two = ends(2);
  ASSERT_EQ(one.bodies.size(), two.bodies.size());
  for (std::size_t k = 0; k < one.bodies.size(); ++k) {
    EXPECT_EQ(one.bodies[k].pose.position, two.bodies[k].pose.position);
    EXPECT_EQ(one.bodies[k].pose.frame, two.bodies[k].pose.frame);
    EXPECT_EQ(one.bodies[k].velocity.angular, two.bodies[k].velocity.angular);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
