#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include <support/worlds.hpp>
#include <tresse/math/rotations.hpp>

/// Contact at the surface of rods: what friction does to those that can turn, and the balance of angular momentum.
namespace TRESSE_TEST_FILE {

using namespace tresse;
using assembly::ContactAt;
using rods::RootCondition;

constexpr double radius = 1e-3;
constexpr double length = 0.05;
const rods::Material nylon{.density = 1140.0, .young_modulus = 3e9, .poisson_ratio = 0.39, .damping_time = 1e-3};

struct Rods {
  assembly::World world;
  dynamics::SimulationState state;
  dynamics::StepOptions options;

  Rods(double mu, double dt, ContactAt at) : options(test::step_options(dt)) {
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
    world.contact_at = at;
    assembly::set_load(world, assembly::Gravity(Vector3::Zero()));
  }
  void add(const std::string& model, const Pose& root, const Twist& motion, RootCondition condition) {
    assembly::Fibre fibre;
    const auto rod = test::straight_rod(model, 4, length, radius, nylon, condition);
    fibre.model = rod->model();
    fibre.root = root;
    const VectorX zero = VectorX::Zero(rod->curvature().size());
    state.rods.push_back(rod->shaped(root, motion, zero, zero));
    world.fibres.push_back(std::move(fibre));
  }
  dynamics::Stepper stepper() const { return {world, options, state}; }
};

Twist momentum_of(const dynamics::Stepper& stepper) {
  Twist out;
  for (int f = 0; f < static_cast<int>(stepper.world().fibres.size()); ++f) {
    Vector3 linear, angular;
    stepper.kinematics().rod(f).momentum(linear, angular);
    out.linear += linear;
    out.angular += angular;
  }
  return out;
}

class SurfaceContact : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, SurfaceContact,
                         testing::Values("super-helix", "super-clothoid", "discrete-elastic-rod"), [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// What two rods that fly into each other gain of angular momentum, over the friction times the distance of their axes.
/// The step is so short that where the contact goes within it does not count.
double gained(const std::string& model, ContactAt at) {
  constexpr double mu = 0.4, dt = 1e-7;
  Rods rods(mu, dt, at);
  const Matrix3 across = math::rotation_exp({0.0, 0.0, 0.5 * M_PI});
  rods.add(model, {{-0.4 * length, 0, 0}, Matrix3::Identity()}, {{0.03, 0.1, 0}, {20, 0, 0}}, RootCondition::free);
  rods.add(model, {{0, -0.3 * length, 2.0 * radius}, across}, {{0.2, 0, -0.1}, {0, 0, 0}}, RootCondition::free);
  auto stepper = rods.stepper();
  const Twist before = momentum_of(stepper);
  const dynamics::StepReport report = stepper.step();
  EXPECT_EQ(report.contacts, 1);
  const Twist after = momentum_of(stepper);
  const assembly::ContactReport& contact = stepper.contacts().at(0);
  const Vector3 across_normal = contact.force - contact.force.dot(contact.normal) * contact.normal;
  EXPECT_GT(across_normal.norm(), 0.1 * contact.force.norm());
  EXPECT_LT((after.linear - before.linear).norm(), 1e-10 * contact.force.norm() * dt);
  return (after.angular - before.angular).norm() / (2.0 * radius * across_normal.norm() * dt);
}

TEST_P(SurfaceContact, TwoRodsKeepTheirAngularMomentum) {
  EXPECT_LT(gained(GetParam(), ContactAt::surface), 1e-4);
  EXPECT_NEAR(gained(GetParam(), ContactAt::centreline), 1.0, 0.05);  // friction on the axes is a couple
}

/// A bar that drags the surface of a clamped rod twists it. What the books say of the root is what the rod's first
/// section carries by its strain.
TEST_P(SurfaceContact, ADraggedRodIsTwisted) {
  Rods rods(1.0, 1e-3, ContactAt::surface);
  rods.add(GetParam(), {}, {}, RootCondition::clamped);
  bodies::Obstacle bar{"bar",
                       "steel",
                       bodies::Capsule{{0.8 * length, -0.1, -4e-3}, {0.8 * length, 0.1, -4e-3}, 3e-3},
                       Vector3(0.8 * length, 0, -4e-3),
                       {}};
  bar.motion.velocity = Vector3(0, 1e-3, 2e-3);
  test::add(rods.world, bar);
  auto stepper = rods.stepper();
  dynamics::StepReport report;
  for (int i = 0; i < 100; ++i) report = stepper.step();
  ASSERT_EQ(report.contacts, 1);
  const assembly::ContactReport& contact = stepper.contacts().at(0);
  const double lever = radius * contact.force.y();
  const double twist = stepper.kinematics().rod(0).section(0.0).moment[0];
  EXPECT_GT(std::abs(twist), 0.5 * std::abs(lever));
  EXPECT_NEAR(report.roots.at(0).torque.x(), twist, 0.03 * std::abs(lever));  // an element has one moment
  // The torque on the bar, about where its middle is now.
  const Vector3 middle = bar.reference + 0.1 * bar.motion.velocity;
  const Vector3 at = contact.point_a + (radius + 0.5 * contact.gap) * contact.normal;
  EXPECT_LT((report.obstacles.at(0).torque - (at - middle).cross(contact.force)).norm(),
            1e-6 * contact.force.norm() * radius);
}

}  // namespace TRESSE_TEST_FILE
