#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "support/free_bodies.hpp"

namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double g = 9.81;
constexpr double size = 0.02, tube = 0.003, mass = 0.05;

bodies::Obstacle ring(const std::string& name, const Vector3& center, const Vector3& axis, double m = mass) {
  bodies::Obstacle out{name, "steel", bodies::Ring{center, axis.normalized(), size, tube}, center, {}};
  out.mass = m;
  return out;
}

using test::momentum_of;
using test::run;

struct Rings : test::FreeBodies {
  explicit Rings(double mu = 0.3) : FreeBodies(mu, tube, 5e-4) {}
};

// Dropped on its edge it falls over, and comes to rest flat: three contacts carry it.
TEST(Rings, ARingFallsFlatOnAFloor) {
  Rings b(0.5);
  b.add({"floor", "steel", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}});
  b.add(ring("ring", {0, 0, 0.03}, {1, 0.2, 1.5}));
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 3000);
  const bodies::BodyState& end = stepper.state().bodies[0];
  const Vector3 axis = end.pose.frame * stepper.world().free_bodies[0].solid.axis;
  EXPECT_NEAR(end.velocity.linear.norm(), 0.0, 1e-6);
  EXPECT_NEAR(end.pose.position.z(), tube, 2e-4 * tube);
  EXPECT_NEAR(std::abs(axis.z()), 1.0, 1e-6);
  EXPECT_NEAR(report.obstacles[0].force.z(), -mass * g, 1e-6 * mass * g);
  EXPECT_NEAR(report.obstacles[1].force.z(), mass * g, 1e-6 * mass * g);
}

// A hoop that rolls upright keeps its speed: v = (R + r) w, and the contact does no work.
TEST(Rings, AHoopRolls) {
  Rings b(0.8);
  b.add({"floor", "steel", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}});
  bodies::Obstacle hoop = ring("hoop", {0, 0, size + tube}, {0, 1, 0});
  const double speed = 0.3;
  hoop.velocity = {{speed, 0, 0}, {0, speed / (size + tube), 0}};
  b.add(hoop);
  Stepper stepper = b.stepper();
  run(stepper, 1000);
  const bodies::BodyState& end = stepper.state().bodies[0];
  EXPECT_NEAR(end.velocity.linear.x(), speed, 1e-3 * speed);
  EXPECT_NEAR(end.velocity.angular.y() * (size + tube), speed, 1e-3 * speed);
  EXPECT_NEAR(end.pose.position.x(), 0.5 * speed, 1e-3);
  EXPECT_NEAR(end.pose.position.z(), size + tube, 1e-3 * tube);
}

// Rings that meet where nothing else acts keep their momenta.
TEST(Rings, TwoThatMeetKeepTheirMomenta) {
  Rings b;
  assembly::set_load(b.world, assembly::Gravity(Vector3::Zero()));
  bodies::Obstacle thrown = ring("thrown", {0, 0, 0}, {1, 2, -1});
  thrown.velocity = {{0.5, 0.1, 0}, {3, -8, 5}};
  b.add(thrown);
  b.add(ring("hit", {0.06, 0.02, 0.004}, {0.2, 1, 0.3}, 2.0 * mass));
  Stepper stepper = b.stepper();
  const auto total = [&] {
    assembly::Vector6 sum = momentum_of(stepper, 0) + momentum_of(stepper, 1);
    for (const bodies::BodyState& body : stepper.state().bodies) {
      const double m = &body == &stepper.state().bodies[0] ? mass : 2.0 * mass;
      sum.tail<3>() += body.pose.position.cross(m * body.velocity.linear);
    }
    return sum;
  };
  const assembly::Vector6 before = total();
  bool met = false;
  for (int i = 0; i < 600; ++i) {
    run(stepper, 1);
    met = met || !stepper.contacts().empty();
  }
  EXPECT_TRUE(met);
  EXPECT_GT(stepper.state().bodies[1].velocity.linear.norm(), 1e-2);
  const assembly::Vector6 after = total();
  EXPECT_NEAR((after - before).head<3>().norm() / before.head<3>().norm(), 0.0, 1e-12);
  // The impulse acts at one point of both, which the step moves on: to first order in it.
  EXPECT_NEAR((after - before).tail<3>().norm() / before.tail<3>().norm(), 0.0, 5e-2);
}

// Links of a chain: each hangs in the one above it, and the topmost in one that is held.
TEST(Rings, AChainHangsByItsLinks) {
  Rings b(0.2);
  constexpr int links = 3;
  const double pitch = 2.0 * (size - tube);
  b.add(ring("held", {0, 0, 0}, {1, 0, 0}, 0.0));
  for (int i = 1; i <= links; ++i)
    b.add(ring("link " + std::to_string(i), {0, 0, -i * (pitch - 1e-4)},
               i % 2 == 1 ? Vector3(0, 1, 0) : Vector3(1, 0, 0)));
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 2000);
  EXPECT_NEAR(report.obstacles[0].force.z(), -links * mass * g, 1e-4 * links * mass * g);
  for (int i = 0; i < links; ++i) {
    const bodies::BodyState& link = stepper.state().bodies[static_cast<std::size_t>(i)];
    EXPECT_NEAR(link.pose.position.z(), -(i + 1) * pitch, 1e-3 * tube) << i;
    EXPECT_NEAR(link.velocity.linear.norm(), 0.0, 1e-4) << i;
  }
  for (const ContactReport& contact : stepper.contacts()) {
    if (contact.force.norm() < 1e-3 * mass * g) continue;
    EXPECT_GT(std::abs(contact.normal.z()), 0.999);
  }
}

// Swinging and turning it stays in the ring in which it hangs.
TEST(Rings, ALinkThatSwingsStaysLinked) {
  Rings b(0.1);
  b.add(ring("held", {0, 0, 0}, {1, 0, 0}, 0.0));
  bodies::Obstacle link = ring("link", {0, 0, -2.0 * (size - tube) + 1e-4}, {0, 1, 0});
  link.velocity = {{0.3, 0.4, 0}, {2, 5, 10}};
  b.add(link);
  Stepper stepper = b.stepper();
  for (int i = 0; i < 2000; ++i) {
    const StepReport report = run(stepper, 1);
    EXPECT_LT(report.max_penetration, 0.05 * tube) << i;
    const bodies::BodyState& body = stepper.state().bodies[0];
    ASSERT_LE(body.pose.position.norm(), 2.0 * (size - tube) + 0.05 * tube) << i;
    // The centre circle of one goes once through the disc of the other.
    const Vector3 axis = body.pose.frame * stepper.world().free_bodies[0].solid.axis;
    const Vector3 across = axis.cross(Vector3::UnitX());
    if (across.norm() < 1e-6) continue;
    const Vector3 along = across.normalized();  // where the two planes meet
    const Vector3 in_plane = axis.cross(along);
    // Points of the link's circle in the plane x = 0.
    const double shift = -body.pose.position.x() / in_plane.x();
    ASSERT_LT(std::abs(shift), size);
    const double half = std::sqrt(size * size - shift * shift);
    int inside = 0;
    for (const double side : {-half, half}) {
      const Vector3 at = body.pose.position + shift * in_plane + side * along;
      inside += at.norm() < size ? 1 : 0;
    }
    ASSERT_EQ(inside, 1) << i;
  }
}

// A stiff fibre laid over a level ring, off its middle: it rests on the two points of the circle below it, each of
// which carries half of its weight.
TEST(Rings, AFibreRestsOnTheCircleAtTwoPlaces) {
  Rings b(0.3);
  b.add(ring("ring", {0, 0, 0}, {0, 0, 1}, 0.0));
  constexpr double length = 0.1, radius = 5e-4, beside = 0.012;
  const rods::Material stiff{.density = 1000.0, .young_modulus = 1e12, .poisson_ratio = 0.3, .damping_time = 1e-3};
  Pose root;
  root.position = {-0.5 * length, beside, tube + radius + 1e-5};
  test::add(b.world, b.state, test::fibre(4, length, radius, stiff, root, rods::RootCondition::free));
  b.options.margin = 0.1 * radius;
  b.options.overlap_tolerance = 1e-4 * radius;
  b.options.halving_overlap = 1e-2 * radius;
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 400);
  const double weight = b.world.fibres[0].model->mass() * g;
  EXPECT_NEAR(report.obstacles[0].force.z(), -weight, 1e-6 * weight);
  const double half = std::sqrt(size * size - beside * beside);
  int carrying = 0;
  for (const ContactReport& contact : stepper.contacts()) {
    if (contact.force.norm() < 1e-2 * weight) continue;
    ++carrying;
    EXPECT_NEAR(std::abs(contact.point_b.x()), half, 1e-3 * size);
    EXPECT_NEAR(contact.point_b.head<2>().norm(), size, 1e-9);
    EXPECT_NEAR(std::abs(contact.force.z()), 0.5 * weight, 1e-3 * weight);
  }
  EXPECT_EQ(carrying, 2);
}

// A free ring on a stiff fibre that sticks out of a wall hangs there, and the fibre carries it.
TEST(Rings, ARingHangsOnAFibre) {
  Rings b(0.5);
  constexpr double length = 0.06, radius = 1e-3;
  const rods::Material stiff{.density = 1000.0, .young_modulus = 1e11, .poisson_ratio = 0.3, .damping_time = 1e-3};
  test::add(b.world, b.state, test::fibre(6, length, radius, stiff, {}, rods::RootCondition::clamped));
  b.add(ring("ring", {0.03, 0, -(size - tube - radius) + 2e-5}, {1, 0, 0}));
  b.options.margin = 0.1 * radius;
  b.options.overlap_tolerance = 1e-4 * radius;
  b.options.halving_overlap = 1e-2 * radius;
  Stepper stepper = b.stepper();
  const StepReport report = run(stepper, 2000);
  EXPECT_NEAR(report.obstacles[0].force.z(), mass * g, 1e-3 * mass * g);
  EXPECT_NEAR(stepper.state().bodies[0].velocity.linear.norm(), 0.0, 1e-3);
  // It lowers the fibre as a load on a cantilever does.
  const double sag = mass * g * std::pow(0.03, 3) / (3.0 * 1e11 * 0.25 * std::numbers::pi * std::pow(radius, 4));
  EXPECT_NEAR(stepper.state().bodies[0].pose.position.z(), -(size - tube - radius) - sag, 0.05 * sag);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
