#include <gtest/gtest.h>

#include <support/worlds.hpp>
#include <tresse/math/rotations.hpp>

/// Loads of clamped roots: against weights, lever arms, and a held point in the clamp's place.
namespace TRESSE_TEST_FILE {

using namespace tresse;
using rods::RootCondition;

constexpr double length = 0.3;
constexpr double radius = 1e-3;
constexpr double gravity = 9.81;
const rods::Material cord{.density = 1200.0, .young_modulus = 5e6, .poisson_ratio = 0.3, .damping_time = 0.02};

struct Built {
  assembly::World world;
  dynamics::SimulationState state;
};

/// A straight cord along x, in wind, whose root is away from the world's origin.
Built cord_of(const std::string& model, RootCondition condition) {
  Built out;
  assembly::Fibre fibre;
  const int elements = model == "discrete-elastic-rod" ? 40 : 8;
  const auto rod = test::straight_rod(model, elements, length, radius, cord, condition);
  fibre.model = rod->model();
  fibre.root.position = {0.5, -0.2, 0.1};
  fibre.drag = 0.02;
  const VectorX zero = VectorX::Zero(rod->curvature().size());
  out.state.rods.push_back(rod->shaped(fibre.root, {}, zero, zero));
  out.world.fibres.push_back(std::move(fibre));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(out.world, assembly::Gravity({0.0, 0.0, -gravity}));
  return out;
}

dynamics::Stepper stepper_of(Built built, double dt, double theta = 1.0) {
  dynamics::StepOptions options = test::step_options(dt);
  options.theta = theta;
  options.scheme = theta < 1.0 ? dynamics::Scheme::semi_implicit : dynamics::Scheme::carried;
  return {std::move(built.world), options, std::move(built.state)};
}

dynamics::StepReport run(dynamics::Stepper& stepper, double seconds) {
  dynamics::StepReport report;
  while (stepper.time() < seconds - 1e-9) report = stepper.step();
  EXPECT_TRUE(report.finite);
  return report;
}

class Roots : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, Roots, testing::Values("super-helix", "super-clothoid", "discrete-elastic-rod"),
                         [](const auto& param) {
                           return param.param.substr(0, param.param.find('-')) == "discrete"
                                      ? std::string("discrete_elastic_rod")
                                      : "super_" + param.param.substr(6);
                         });

// At rest the clamp carries the weight and the moment of the weight about the root, which the sum over the points of
// the centreline gives.
TEST_P(Roots, CarryTheWeightAtRest) {
  for (const double theta : {1.0, 0.75}) {
    Built built = cord_of(GetParam(), RootCondition::clamped);
    auto stepper = stepper_of(std::move(built), 4e-3, theta);
    const dynamics::StepReport report = run(stepper, 10.0);
    const rods::Rod& rod = stepper.kinematics().rod(0);
    const double weight = rod.mass() * gravity;
    constexpr int points = 1000;
    double arm = 0.0;
    for (int i = 0; i < points; ++i) arm += (rod.section((i + 0.5) * length / points).position.x() - 0.5) / points;
    // Nodes carry the mass of half an edge on both sides: the arm of their chain is that of its nodes.
    const double nodal = GetParam() == "discrete-elastic-rod" ? 1e-2 : 1e-5;
    ASSERT_EQ(report.roots.size(), 1U);
    EXPECT_LT((report.roots[0].force - Vector3(0.0, 0.0, -weight)).norm(), 1e-6 * weight) << theta;
    EXPECT_NEAR(report.roots[0].torque.y(), weight * arm, nodal * weight * arm) << theta;
    EXPECT_NEAR(report.roots[0].torque.x(), 0.0, 1e-6 * weight * length) << theta;
  }
}

// A free cord whose first point and frame are held swings as a clamped one. The load of the held point comes from its
// equation, that of the root from the balance of momentum.
TEST_P(Roots, CarryWhatAHeldPointWould) {
  if (GetParam() == "discrete-elastic-rod") GTEST_SKIP() << "its held points have no frame";
  Built clamped = cord_of(GetParam(), RootCondition::clamped);
  Built held = cord_of(GetParam(), RootCondition::free);
  for (auto* world : {&clamped.world, &held.world}) assembly::set_load(*world, assembly::Air({0.0, 2.0, 0.0}));
  held.world.holds.emplace_back();
  held.world.holds[0].clamped = true;
  held.world.holds[0].pose = held.world.fibres[0].root;
  auto with_root = stepper_of(std::move(clamped), 5e-4);
  auto with_hold = stepper_of(std::move(held), 5e-4);
  double largest = 0.0, off = 0.0, largest_torque = 0.0, torque_off = 0.0;
  while (with_root.time() < 0.5) {
    const dynamics::RootLoad root = with_root.step().roots.at(0);
    const dynamics::StepReport other = with_hold.step();
    const dynamics::HoldLoad& hold = other.holds.at(0);
    EXPECT_EQ(other.roots.at(0).force.norm(), 0.0);
    if (with_root.time() < 0.01) continue;  // the start is a jolt
    largest = std::max(largest, hold.force.norm());
    largest_torque = std::max(largest_torque, hold.torque.norm());
    off = std::max(off, (root.force - hold.force).norm());
    torque_off = std::max(torque_off, (root.torque - hold.torque).norm());
  }
  EXPECT_GT(largest, 0.01);
  EXPECT_LT(off, 0.01 * largest);
  EXPECT_LT(torque_off, 0.01 * largest_torque);
}

// Root, held tip and an obstacle share the weight of a trunk and its branch; the load of both is the trunk's.
TEST(Roots, BalanceWithHoldsBranchesAndContacts) {
  Built built;
  assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  test::add(built.world, built.state, test::fibre(8, length, radius, cord, {}, RootCondition::clamped));
  assembly::Fibre branch = test::fibre(4, 0.1, radius, cord, {}, RootCondition::carried);
  branch.attachment = {0, 3, 0.0, {Vector3::Zero(), math::rotation_exp({0.0, 0.0, 1.0})}};
  test::add(built.world, built.state, std::move(branch));
  const bodies::Capsule bar{{0.15, -0.05, -0.025}, {0.15, 0.05, -0.025}, 0.01};
  test::add(built.world, bodies::Obstacle{"bar", "", bar, Vector3::Zero(), {}});
  for (assembly::Fibre& fibre : built.world.fibres) fibre.drag = 0.1;
  const auto made = built.world.fibres[0].model->make_rod();
  rods::Rod& trunk = *made;
  trunk.update(built.state.rods[0]);
  assembly::Hold clip;
  clip.name = "clip";
  clip.piece = 7;
  clip.share = 1.0;
  clip.compliance = length / (cord.young_modulus * 3.14 * radius * radius);
  clip.pose = {trunk.section(length).position, trunk.section(length).frame};
  clip.motion.keyframes = {{}, {1.0, {-0.02, 0.0, 0.0}, Vector3::Zero()}};
  built.world.holds.push_back(clip);
  const double weight = (trunk.mass() + built.world.fibres[1].model->mass()) * gravity;
  auto stepper = stepper_of(std::move(built), 2e-3);
  run(stepper, 8.0);
  Vector3 mean = Vector3::Zero();
  double pressed = 0.0;
  constexpr int steps = 100;
  for (int i = 0; i < steps; ++i) {
    const dynamics::StepReport report = stepper.step();
    EXPECT_EQ(report.roots.at(1).force.norm(), 0.0);
    mean += (report.roots.at(0).force + report.holds[0].force + report.obstacles[0].force) / steps;
    pressed += report.obstacles[0].force.norm() / steps;
  }
  EXPECT_GT(pressed, 0.05 * weight);
  EXPECT_LT((mean + Vector3(0.0, 0.0, weight)).norm(), 1e-3 * weight);
}

}  // namespace TRESSE_TEST_FILE
