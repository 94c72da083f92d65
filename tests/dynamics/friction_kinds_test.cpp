#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <support/free_bodies.hpp>

/// Friction of what sticks above that of what slides, and along the arc length.
namespace TRESSE_TEST_FILE {

using namespace tresse;

constexpr double g = 9.81;
constexpr rods::Material nylon{.density = 1140.0, .young_modulus = 2.7e9, .poisson_ratio = 0.39, .damping_time = 0.0};

std::shared_ptr<assembly::Coulomb> law(double friction, double kinetic) {
  return std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, friction), MatrixX{},
                                             MatrixX::Constant(1, 1, kinetic));
}

/// A straight fibre along a slope, in touch.
struct OnSlope {
  assembly::World world;
  dynamics::SimulationState state;
  dynamics::StepOptions options = test::step_options(1e-3);
  double slope = 0.0;

  OnSlope(double of_slope, const std::string& model, int elements, double r = 1e-3) : slope(of_slope) {
    constexpr double length = 0.05;
    assembly::set_load(world, assembly::Gravity({0, 0, -g}));
    // At the surface friction would press the lower end harder, and the coefficient of each part would weigh otherwise.
    world.contact_at = assembly::ContactAt::centreline;
    const Matrix3 frame = Eigen::AngleAxisd(slope, Vector3::UnitY()).toRotationMatrix();
    const auto rod = test::straight_rod(model, elements, length, r, nylon, rods::RootCondition::free);
    const VectorX natural = rod->rest_curvature();
    state.rods.push_back(rod->shaped({r * frame.col(2), frame}, {}, natural, VectorX::Zero(natural.size())));
    assembly::Fibre fibre;
    fibre.model = rod->model();
    fibre.root = {r * frame.col(2), frame};
    world.fibres.push_back(std::move(fibre));
    test::add(world,
              bodies::Obstacle{"slope", "steel", bodies::Plane{Vector3::Zero(), frame.col(2)}, Vector3::Zero(), {}});
    options.margin = 0.05 * r;
  }
  Vector3 down() const { return {std::cos(slope), 0, -std::sin(slope)}; }
  dynamics::Stepper stepper() { return {world, options, state}; }
};

double speed(const dynamics::Stepper& stepper, const Vector3& down) {
  Vector3 linear, angular;
  const rods::Rod& rod = stepper.kinematics().rod(0);
  rod.momentum(linear, angular);
  return linear.dot(down) / rod.mass();
}

TEST(KineticFriction, AFibreOnASlopeHoldsToTheStaticOneAndSlidesWithTheOther) {
  constexpr double sticks = 0.5, slides = 0.3;
  for (const double part : {0.999, 1.001}) {
    OnSlope on(std::atan(part * sticks), "super-helix", 4);
    on.world.law = law(sticks, slides);
    dynamics::Stepper stepper = on.stepper();
    constexpr int steps = 100;
    test::run(stepper, steps);
    const double expected = part < 1.0 ? 0.0 : steps * 1e-3 * g * (std::sin(on.slope) - slides * std::cos(on.slope));
    EXPECT_NEAR(speed(stepper, on.down()), expected, 1e-9) << part;
  }
}

TEST(KineticFriction, WhatSlidesKeepsSlidingUntilItStops) {
  constexpr double sticks = 0.5, slides = 0.3;
  for (const double tangent : {0.4, 0.2}) {
    OnSlope on(std::atan(tangent), "super-helix", 4);
    on.world.law = law(sticks, slides);
    constexpr double pushed = 0.05;
    on.state.rods[0].root_velocity.linear = pushed * on.down();
    dynamics::Stepper stepper = on.stepper();
    const double gain = g * (std::sin(on.slope) - slides * std::cos(on.slope));
    test::run(stepper, 20);
    EXPECT_NEAR(speed(stepper, on.down()), pushed + 0.02 * gain, 1e-9) << tangent;
    test::run(stepper, 80);
    EXPECT_NEAR(speed(stepper, on.down()), tangent > slides ? pushed + 0.1 * gain : 0.0, 1e-9) << tangent;
  }
}

bodies::Obstacle sledge(const Vector3& from, const Vector3& to, double r, double mass) {
  bodies::Obstacle out{"sledge", "steel", bodies::Capsule{from, to, r}, 0.5 * (from + to), {}};
  out.mass = mass;
  return out;
}

/// A sledge on a belt that pulls it against the tip of a light cantilever: a spring.
TEST(KineticFriction, AMassOnABeltSticksAndSlips) {
  constexpr double sticks = 0.4, slides = 0.25, r = 0.01, mass = 0.1, belt_speed = 0.05;
  constexpr double length = 0.8, fibre_radius = 1.5e-3;
  const double stiffness = 63.0;  // [N/m]
  const double at = length - 0.005;
  rods::Material spring = nylon;
  spring.density = 10.0;
  spring.young_modulus = stiffness * at * at * at / 3.0 / (0.25 * std::numbers::pi * std::pow(fibre_radius, 4));
  test::FreeBodies b(0.0, r, 2.5e-4);
  MatrixX friction = MatrixX::Zero(3, 3), kinetic = friction;
  friction(1, 2) = friction(2, 1) = sticks;
  kinetic(1, 2) = kinetic(2, 1) = slides;
  b.world.law = std::make_shared<assembly::Coulomb>(friction, MatrixX{}, kinetic);
  const Matrix3 hanging = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vector3::UnitY()).toRotationMatrix();
  test::add(b.world, b.state,
            test::fibre(6, length, fibre_radius, spring, {{0, 0, r + at}, hanging}, rods::RootCondition::clamped));
  const double end = -fibre_radius - r;
  b.add(sledge({end - 0.1, 0, r}, {end, 0, r}, r, mass));
  b.world.obstacle_material.back() = 1;
  bodies::Obstacle belt{"belt", "steel", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}};
  belt.motion.velocity = {belt_speed, 0, 0};
  b.add(belt);
  b.world.obstacle_material.back() = 2;
  b.options.margin = 5e-5;
  dynamics::Stepper stepper = b.stepper();

  const double weight = mass * g;
  const double frequency = std::sqrt(stiffness / mass);
  const double most = sticks * weight / stiffness, middle = slides * weight / stiffness;
  const double slip = 2.0 / frequency * (std::numbers::pi - std::atan(frequency * (most - middle) / belt_speed));
  const double period = 2.0 * (most - middle) / belt_speed + slip;
  const double amplitude = std::hypot(most - middle, belt_speed / frequency);
  const double start = stepper.state().bodies[0].pose.position.x();
  double highest = 0.0, lowest = 1.0, last = 0.0;
  std::vector<double> begins;  // of sticking
  bool stuck = true;
  for (int i = 0; i < 4800; ++i) {
    test::run(stepper, 1);
    const double x = stepper.state().bodies[0].pose.position.x() - start;
    const double v = stepper.state().bodies[0].velocity.linear.x();
    const bool sticks_now = std::abs(v - belt_speed) < 1e-6;
    if (sticks_now && !stuck) begins.push_back(stepper.time());
    stuck = sticks_now;
    if (begins.size() > 1) {  // after what the start has left
      highest = std::max(highest, x);
      lowest = std::min(lowest, x);
    }
    last = x;
  }
  ASSERT_GT(begins.size(), 2u) << last;
  EXPECT_NEAR(highest, middle + amplitude, 0.02 * middle);
  EXPECT_NEAR(lowest, middle - amplitude, 0.04 * middle);
  EXPECT_NEAR((begins.back() - begins[1]) / (static_cast<double>(begins.size()) - 2.0), period, 0.02 * period);
}

TEST(KineticFriction, TwoBlocksThatPushEachOther) {
  constexpr double r = 0.01, length = 0.1, mass = 0.1;
  constexpr double upper[] = {0.3, 0.2}, lower[] = {0.6, 0.4};  // static and kinetic
  for (const double tangent : {0.44, 0.46}) {                   // together they hold to 0.45
    const double slope = std::atan(tangent);
    const Matrix3 frame = Eigen::AngleAxisd(slope, Vector3::UnitY()).toRotationMatrix();
    const auto place = [&](double along) -> Vector3 { return along * frame.col(0) + r * frame.col(2); };
    test::FreeBodies b(0.0, r, 1e-3);
    MatrixX friction = MatrixX::Zero(3, 3), kinetic = friction;
    friction(0, 2) = friction(2, 0) = upper[0];
    friction(1, 2) = friction(2, 1) = lower[0];
    kinetic(0, 2) = kinetic(2, 0) = upper[1];
    kinetic(1, 2) = kinetic(2, 1) = lower[1];
    b.world.law = std::make_shared<assembly::Coulomb>(friction, MatrixX{}, kinetic);
    b.add(sledge(place(0.0), place(length), r, mass));
    b.add(sledge(place(length + 2.0 * r), place(2.0 * length + 2.0 * r), r, mass));
    b.add({"slope", "steel", bodies::Plane{Vector3::Zero(), frame.col(2)}, Vector3::Zero(), {}});
    b.world.obstacle_material = {0, 1, 2};
    dynamics::Stepper stepper = b.stepper();
    test::run(stepper, 100);
    const double mean = 0.5 * (upper[1] + lower[1]);
    const double expected = tangent < 0.45 ? 0.0 : 0.1 * g * (std::sin(slope) - mean * std::cos(slope));
    for (const bodies::BodyState& body : stepper.state().bodies)
      EXPECT_NEAR(body.velocity.linear.dot(frame.col(0)), expected, 1e-7) << tangent;
  }
}

TEST(KineticFriction, GoesOnFromAStateWithTheSameBits) {
  OnSlope on(std::atan(0.4), "super-helix", 4);
  on.world.law = law(0.5, 0.3);
  on.state.rods[0].root_velocity.linear = 0.05 * on.down();
  dynamics::Stepper stepper = on.stepper();
  test::run(stepper, 10);
  const dynamics::SimulationState between = stepper.state();
  EXPECT_TRUE(
      std::any_of(between.warm.begin(), between.warm.end(), [](const auto& contact) { return contact.slides; }));
  dynamics::Stepper again(on.world, on.options, between);
  test::run(stepper, 10);
  test::run(again, 10);
  EXPECT_EQ(speed(stepper, on.down()), speed(again, on.down()));
}

TEST(FrictionAlongTheLength, WeighsEachPart) {
  constexpr int edges = 50;
  constexpr double shaft = 0.1, tip = 0.6;
  const double slope = std::atan(0.5);
  for (const int edge : {37, 44}) {  // the tip begins in its middle: nodes bear the weight of half an edge on each side
    OnSlope on(slope, "discrete-elastic-rod", edges, 1e-4);  // all nodes touch: they are 10 radii apart
    on.world.law = law(0.9, 0.9);                            // of no matter
    const double part = (edge + 0.5) / edges;
    on.world.fibres[0].friction = {{part, shaft, shaft}, {1.0, tip, tip}};
    dynamics::Stepper stepper = on.stepper();
    test::run(stepper, 50);
    const double mean = part * shaft + (1.0 - part) * tip;
    EXPECT_NEAR(speed(stepper, on.down()), 0.05 * g * (std::sin(slope) - mean * std::cos(slope)), 1e-6) << edge;
  }
}

TEST(FrictionAlongTheLength, OfTwoTheLargerCountsAndBeyondTheLastThePairs) {
  OnSlope on(0.0, "super-helix", 4);
  on.world.law = law(0.3, 0.3);
  on.world.fibres[0].friction = {{0.4, 0.1, 0.1}, {0.6, 0.7, 0.5}};
  on.world.fibres[0].growth = {2.0, 0.0, 1e-9};  // regions grow with it
  const Matrix3 across = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vector3::UnitZ()).toRotationMatrix();
  assembly::Fibre other = test::fibre(1, 0.02, 1e-3, nylon, {{0.0875, -0.01, 3e-3}, across}, rods::RootCondition::free);
  other.friction = {{1.0, 0.4, 0.2}};
  test::add(on.world, on.state, other);
  other.root.position.x() = 0.055;
  test::add(on.world, on.state, other);
  dynamics::Stepper stepper = on.stepper();
  std::vector<double> coefficients;
  stepper.observe_kept_problems([&](const auto& kept) {
    coefficients.assign(kept.problem.mu.data(), kept.problem.mu.data() + kept.problem.mu.size());
  });
  test::run(stepper, 2);
  const std::vector<dynamics::ContactReport>& contacts = stepper.contacts();
  ASSERT_EQ(contacts.size(), coefficients.size());
  int between = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const double share = contacts[i].a.s / 0.1;  // of the length that it has grown to
    const int met = contacts[i].b.body.is_fibre() ? contacts[i].b.body.index : 0;
    ASSERT_EQ(contacts[i].a.body.index, 0);
    between += met > 0 ? 1 : 0;
    const double own = share < 0.4 ? 0.1 : share < 0.6 ? 0.7 : 0.3;  // beyond the last end that of the materials
    EXPECT_EQ(coefficients[i], met == 1 ? 0.4 : own) << share << " " << met;
  }
  EXPECT_EQ(between, 2);
}

}  // namespace TRESSE_TEST_FILE
