#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include <support/worlds.hpp>
#include <tresse/assembly/tree.hpp>
#include <tresse/math/rotations.hpp>

/// Held points: their forces against beams and columns, virtual work, and the balance of all forces.
namespace TRESSE_TEST_FILE {

using namespace tresse;
using rods::RootCondition;

constexpr double length = 0.3;
constexpr double radius = 1e-3;
constexpr double gravity = 9.81;
const rods::Material cord{.density = 1200.0, .young_modulus = 5e6, .poisson_ratio = 0.0, .damping_time = 0.02};
const double bending = cord.young_modulus * std::numbers::pi / 4.0 * std::pow(radius, 4);  // EI [N m^2]

const double stretching = cord.young_modulus * std::numbers::pi * radius * radius;  // EA [N]

struct Built {
  assembly::World world;
  dynamics::SimulationState state;
};

/// A cord along x, bent by `curvature` = (twist, k1, k2) all along.
Built cord_of(const std::string& model, int elements, const Vector3& curvature = Vector3::Zero(),
              RootCondition condition = RootCondition::clamped, const rods::Material& material = cord) {
  Built out;
  assembly::Fibre fibre;
  fibre.model = test::straight_rod(model, elements, length, radius, material, condition)->model();
  fibre.drag = 0.02;
  const int given = model == "super-clothoid" ? elements + 1 : elements;
  const VectorX start = fibre.model->curvature_of_elements(curvature.replicate(given, 1));
  out.state.rods.push_back(fibre.model->make_rod()->shaped({}, {}, start, VectorX::Zero(start.size())));
  out.world.fibres.push_back(std::move(fibre));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  return out;
}

/// Holds the tip, or what is `from_tip` elements before it, where the state has it.
assembly::Hold& hold(Built& built, bool clamped, int from_tip = 0, int fibre = 0) {
  const auto made = built.world.fibres[fibre].model->make_rod();
  rods::Rod& rod = *made;
  rod.update(built.state.rods[fibre]);
  assembly::Hold out;
  out.name = "clip";
  out.fibre = fibre;
  out.piece = rod.piece_count() - 1 - from_tip;
  out.share = 1.0;
  out.clamped = clamped;
  if (rod.linear_elasticity()) out.compliance = rod.piece_begin(out.piece + 1) / stretching;
  const rods::RodSection section = rod.section(rod.piece_begin(out.piece + 1));
  out.pose = {section.position, section.frame};
  return built.world.holds.emplace_back(out);
}

bodies::Motion move_to(const Vector3& displacement, double end, const Vector3& rotation = Vector3::Zero()) {
  bodies::Motion out;
  out.keyframes = {{}, {end, displacement, rotation}};
  return out;
}

dynamics::StepReport run(dynamics::Stepper& stepper, double seconds) {
  dynamics::StepReport report;
  while (stepper.time() < seconds - 1e-9) {
    report = stepper.step();
    if (!report.finite) break;
  }
  EXPECT_TRUE(report.finite);
  return report;
}

dynamics::Stepper stepper_of(Built built, double dt, double theta = 1.0,
                             dynamics::Scheme scheme = dynamics::Scheme::carried) {
  dynamics::StepOptions options = test::step_options(dt);
  options.theta = theta;
  options.scheme = scheme;
  return {std::move(built.world), options, std::move(built.state)};
}

class HeldCord : public testing::TestWithParam<std::string> {
 protected:
  int elements(int curved) const { return GetParam() == "discrete-elastic-rod" ? 5 * curved : curved; }
};

INSTANTIATE_TEST_SUITE_P(Models, HeldCord, testing::Values("super-helix", "super-clothoid", "discrete-elastic-rod"),
                         [](const auto& param) {
                           return param.param.substr(0, param.param.find('-')) == "discrete"
                                      ? std::string("discrete_elastic_rod")
                                      : "super_" + param.param.substr(6);
                         });

// A cantilever whose tip is pushed sideways: 3 EI d / L^3, to the square of d / L.
TEST_P(HeldCord, TheTipPushesBackAsACantilever) {
  const double d = 1e-3;
  Built built = cord_of(GetParam(), elements(12));
  assembly::Hold& clip = hold(built, false);
  clip.slide = Vector3::UnitX();
  clip.motion = move_to({0.0, 0.0, d}, 1.0);
  auto stepper = stepper_of(std::move(built), 5e-3);
  const dynamics::StepReport report = run(stepper, 4.0);
  const double expected = 3.0 * bending * d / std::pow(length, 3);
  EXPECT_NEAR(report.holds[0].force.z(), -expected, 0.005 * expected);
  EXPECT_NEAR(report.holds[0].force.y(), 0.0, 1e-9 * expected);
  EXPECT_LT(report.holds[0].error, 1e-10 * length);
}

// Both ends clamped, one led sideways: 12 EI d / L^3 and half of that times the length.
TEST(Holds, AClampGuidesABeam) {
  const double d = 1e-3;
  for (const std::string model : {"super-helix", "super-clothoid"}) {
    Built built = cord_of(model, 16);
    assembly::Hold& clip = hold(built, true);
    clip.slide = Vector3::UnitX();
    clip.motion = move_to({0.0, 0.0, d}, 1.0);
    auto stepper = stepper_of(std::move(built), 5e-3);
    const dynamics::StepReport report = run(stepper, 4.0);
    const double force = 12.0 * bending * d / std::pow(length, 3);
    EXPECT_NEAR(report.holds[0].force.z(), -force, 0.01 * force) << model;
    // To bend the tip back to level the clamp turns it about +y, so that the tip turns the clamp about -y.
    EXPECT_NEAR(std::abs(report.holds[0].torque.y()), 0.5 * force * length, 0.01 * 0.5 * force * length) << model;
    EXPECT_NEAR(report.holds[0].torque.x(), 0.0, 1e-9 * force * length) << model;
  }
}

// A twisted rod between a clamp and one that slides stays straight up to tan x = x, x = M L / 2 EI: 8.9868 EI / L
// (Greenhill 1883). Where it does a small bend dies out, beyond it grows.
TEST(Holds, CriticalTwist) {
  constexpr double critical = 8.986819;  // M L / EI; the torsional stiffness GJ is EI here
  for (const std::string model : {"super-helix", "super-clothoid"}) {
    const double tolerance = model == "super-helix" ? 1e-3 : 1e-4;
    const auto growth = [&](double angle) {
      Built built = cord_of(model, model == "super-helix" ? 40 : 16, {angle / length, 0.0, 0.0});
      VectorX& rates = built.state.rods[0].rates;
      for (Eigen::Index i = 1; i < rates.size(); i += 3) rates[i] = 0.5;
      hold(built, true).slide = Vector3::UnitX();
      auto stepper = stepper_of(std::move(built), 5e-3);
      const double middle = run(stepper, 4.0).energies.kinetic;
      const dynamics::StepReport end = run(stepper, 8.0);
      EXPECT_NEAR(end.holds[0].torque.x() / (-bending * angle / length), 1.0, 1e-3) << model;
      return std::log(end.energies.kinetic / middle);
    };
    const double below = growth(0.995 * critical);
    const double beyond = growth(1.005 * critical);
    EXPECT_LT(below, 0.0) << model;
    EXPECT_GT(beyond, 0.0) << model;
    // The growth is a smooth function of the twist: between the two its zero is that of the chord to second order.
    const double found = critical * (0.995 + 0.01 * below / (below - beyond));
    EXPECT_NEAR(found, critical, tolerance * critical) << model;
  }
}

// Clamped at one end, pinned at the other: 20.19 EI / L^2 once it has buckled a little.
TEST_P(HeldCord, AColumnCarriesItsBucklingLoad) {
  const double approach = 1e-3 * length;
  Built built = cord_of(GetParam(), elements(16), {0.0, 0.0, 0.002});
  hold(built, false).motion = move_to({-approach, 0.0, 0.0}, 2.0);
  auto stepper = stepper_of(std::move(built), 5e-3);
  const dynamics::StepReport report = run(stepper, 8.0);
  const double expected = 20.1907 * bending / (length * length);
  EXPECT_NEAR(report.holds[0].force.norm(), expected, 0.01 * expected);
}

// Virtual work: between two places of rest what the hold did is the energy gained. The cord sags under its weight.
TEST_P(HeldCord, ItsForceIsTheGradientOfTheEnergyAtRest) {
  double energy[3];
  Vector3 force = Vector3::Zero();
  const double d = 2e-4;
  const Vector3 direction = Vector3(1.0, 0.5, -0.7).normalized();
  for (int k = -1; k <= 1; ++k) {
    Built built = cord_of(GetParam(), elements(8), {0.0, 1.0, 3.0});
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
    hold(built, false).motion = move_to(Vector3(-0.04, 0.0, 0.01) + k * d * direction, 1.0);
    auto stepper = stepper_of(std::move(built), 5e-3);
    const dynamics::StepReport report = run(stepper, 8.0);
    EXPECT_LT(report.energies.kinetic, 1e-13);
    const assembly::Hold& clip = stepper.world().holds[0];
    const Vector3& pull = report.holds[0].force;
    energy[k + 1] = report.energies.elastic + report.energies.gravity + 0.5 * clip.compliance * pull.squaredNorm();
    if (k == 0) force = pull;
  }
  const double slope = (energy[2] - energy[0]) / (2.0 * d);
  EXPECT_GT(force.norm(), 1e-3);
  EXPECT_NEAR(-force.dot(direction), slope, 2e-4 * force.norm());
}

// A free cord pinned at two points carries its weight and what presses on it; friction, and theta below 1, included.
TEST_P(HeldCord, AllForcesBalanceAtRest) {
  for (const double theta : {1.0, 0.75}) {
    Built built = cord_of(GetParam(), elements(8), {0.0, 0.0, 2.0}, RootCondition::free);
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
    hold(built, false);
    hold(built, false, elements(8) - elements(1));
    bodies::Obstacle ball{"ball", "", bodies::Sphere{{0.16, 0.044, -0.06}, 0.01}, Vector3::Zero(), {}};
    ball.motion = move_to({0.0, 0.0, 0.035}, 1.0);
    test::add(built.world, ball);
    const double weight = built.world.fibres[0].model->mass() * gravity;
    auto stepper = stepper_of(std::move(built), 4e-3, theta,
                              theta < 1.0 ? dynamics::Scheme::semi_implicit : dynamics::Scheme::carried);
    Vector3 mean = Vector3::Zero();
    Vector3 pressed = Vector3::Zero();
    run(stepper, 8.0);
    constexpr int steps = 100;
    for (int i = 0; i < steps; ++i) {
      const dynamics::StepReport report = stepper.step();
      mean += (report.holds[0].force + report.holds[1].force + report.obstacles[0].force) / steps;
      pressed += report.obstacles[0].force / steps;
    }
    EXPECT_GT(pressed.norm(), 0.05 * weight) << theta;
    EXPECT_NEAR((mean + Vector3(0.0, 0.0, weight)).norm(), 0.0, 2e-3 * weight) << theta;
  }
}

// Energy and work: nothing else takes or gives any, but for what the scheme loses, which goes with dt.
TEST(Holds, WorkIsBooked) {
  const auto drift_and_work = [](double dt) {
    rods::Material undamped = cord;
    undamped.damping_time = 0.0;
    Built built;
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
    built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
    test::add(built.world, built.state, test::fibre(6, length, 2.0 * radius, undamped, {}, RootCondition::clamped));
    for (int i = 2; i < built.state.rods[0].coordinates.size(); i += 3) built.state.rods[0].coordinates[i] = 4.0;
    hold(built, true).motion = move_to({-0.05, 0.02, 0.03}, 0.3, {0.3, 0.5, -0.2});
    built.world.holds[0].compliance = 0.02;
    built.world.holds[0].motion.interpolation = bodies::Motion::Interpolation::smooth;
    const auto rod = built.world.fibres[0].model->make_rod();
    rod->update(built.state.rods[0]);
    const rods::RodEnergies first = rod->energies(assembly::gravity_of(built.world));
    auto stepper = stepper_of(std::move(built), dt);
    const dynamics::StepReport report = run(stepper, 0.3);
    const rods::RodEnergies& e = report.energies;
    return std::pair(e.kinetic + e.elastic + e.gravity - first.elastic - first.gravity - report.work_external,
                     report.work_external);
  };
  const auto [coarse, work] = drift_and_work(1e-3);
  const auto [fine, fine_work] = drift_and_work(2.5e-4);
  EXPECT_GT(std::abs(fine_work), 1e-4);
  EXPECT_LT(std::abs(fine), 0.05 * std::abs(fine_work));
  EXPECT_LT(std::abs(fine), 0.4 * std::abs(coarse));
}

// A branch's tip is held: the tree hangs from it.
TEST(Holds, ABranchIsHeld) {
  Built built;
  assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  test::add(built.world, built.state, test::fibre(4, length, radius, cord, {}, RootCondition::free));
  assembly::Fibre branch = test::fibre(4, length, radius, cord, {}, RootCondition::carried);
  branch.attachment = {0, 2, 0.02, {Vector3::Zero(), math::rotation_exp({0.0, 0.0, 1.0})}};
  for (auto* fibre : {&built.world.fibres[0], &branch}) fibre->drag = 0.05;
  test::add(built.world, built.state, std::move(branch));
  assembly::Kinematics at(built.world);
  for (const assembly::Tree& tree : assembly::make_forest(built.world).trees)
    assembly::update_tree(at, tree, built.state.rods);
  hold(built, false, 0, 1);
  const Vector3 there = built.world.holds[0].pose.position;
  const double weight = 2.0 * built.world.fibres[0].model->mass() * gravity;
  auto stepper = stepper_of(std::move(built), 5e-3);
  const dynamics::StepReport report = run(stepper, 12.0);
  const rods::Rod& held = stepper.kinematics().rod(1);
  const Vector3 stretch = held.section(held.length()).position - there;
  EXPECT_NEAR(stretch.norm(), stepper.world().holds[0].compliance * weight, 1e-3 * stretch.norm());
  EXPECT_LT(report.holds[0].error, 1e-10);
  EXPECT_NEAR(report.holds[0].force.z(), -weight, 1e-3 * weight);
  EXPECT_LT(report.holds[0].force.head<2>().norm(), 1e-3 * weight);
}

// Elasticity that is not linear: iterated until the held motion itself is solved, in the first step too.
TEST(Holds, TheFirstStepIsIterated) {
  Built built = cord_of("discrete-elastic-rod", 30, {0.0, 0.0, 2.0});
  assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
  hold(built, false);
  auto stepper = stepper_of(std::move(built), 5e-3);
  const dynamics::StepReport report = stepper.step();
  EXPECT_GT(report.nonlinear_residual, 0.0);
  EXPECT_LT(report.nonlinear_residual, 1e-10);
  EXPECT_LT(report.holds[0].error, 1e-10 * length);
}

TEST_P(HeldCord, LetGoItFalls) {
  Built built = cord_of(GetParam(), elements(6), {0.0, 0.0, 2.0});
  assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
  hold(built, false).release = 0.5;
  auto stepper = stepper_of(std::move(built), 5e-3);
  EXPECT_GT(run(stepper, 0.5).holds[0].force.norm(), 1e-4);
  const dynamics::StepReport after = run(stepper, 0.505);
  EXPECT_EQ(after.holds[0].force.norm(), 0.0);
  run(stepper, 0.6);
  const rods::Rod& rod = stepper.kinematics().rod(0);
  EXPECT_LT(rod.section(length).position.z(), -0.01);
}

// Pinned at the tip too, a cord swings: with its inertial force linearised it is held as well, and differs from the
// semi-implicit step in proportion to dt. Without rotary inertia, whose waves of twist these steps don't resolve.
TEST_P(HeldCord, LinearisedInertiaHoldsItToo) {
  if (GetParam() == "discrete-elastic-rod") GTEST_SKIP() << "Its inertial force is zero";
  const auto swing = [&](dynamics::Scheme scheme, double dt) {
    rods::Material limit = cord;
    limit.rotary_inertia = false;
    Built built = cord_of(GetParam(), elements(6), {0.0, 0.0, 4.0}, RootCondition::clamped, limit);
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.5 * gravity, -gravity}));
    hold(built, false);
    auto stepper = stepper_of(std::move(built), dt, 1.0, scheme);
    const dynamics::StepReport report = run(stepper, 0.1);
    return std::pair(stepper.state().rods[0].coordinates, report.holds[0]);
  };
  const auto difference = [&](double dt) {
    const auto [plain, plain_hold] = swing(dynamics::Scheme::semi_implicit, dt);
    const auto [linearised, hold] = swing(dynamics::Scheme::linearised, dt);
    EXPECT_LT((hold.force - plain_hold.force).norm(), 0.05 * plain_hold.force.norm());
    EXPECT_LT(hold.error, 1.1 * plain_hold.error);  // what the cord stretches
    return (linearised - plain).norm();
  };
  const double coarse = difference(4e-4), fine = difference(2e-4);
  EXPECT_GT(fine, 0.0);
  EXPECT_NEAR(coarse / fine, 2.0, 0.5);
}

// A limp cord falls between its clamp and a pin, its tail whips, and nothing damps it: elements five times as long as
// what its weight bends, and the pin's tangent turns far within a step. The pin holds it, and what its stretch stores
// is in the books.
TEST_P(HeldCord, LimpItIsHeldAndGainsNothing) {
  if (GetParam() == "discrete-elastic-rod") GTEST_SKIP() << "Its stretch is its own";
  rods::Material limp = cord;
  limp.young_modulus = 1e5;
  limp.damping_time = 0.0;
  for (const int tail : {0, 2}) {
    Built built = cord_of(GetParam(), 6, {0.0, 1.5, 1.0}, RootCondition::clamped, limp);
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -gravity}));
    built.world.fibres[0].drag = 0.0;
    hold(built, false, tail).compliance *= cord.young_modulus / limp.young_modulus;
    auto stepper = stepper_of(std::move(built), 4e-3);
    const double weight = stepper.kinematics().rod(0).mass() * gravity;
    const double scale = weight * length;
    const auto energy = [&](const rods::RodEnergies& own) {
      const double force = stepper.state().hold_forces[0].norm();
      return own.kinetic + own.elastic + own.gravity + 0.5 * stepper.world().holds[0].compliance * force * force;
    };
    double before = energy(stepper.energies());
    while (stepper.time() < 1.0) {
      const dynamics::StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      ASSERT_LT(report.holds[0].error, 1e-6 * length) << tail << ", " << stepper.time() << " s";
      const double after = energy(report.energies);
      ASSERT_LT(after, before + 1e-4 * scale) << tail << ", " << stepper.time() << " s";
      before = after;
    }
  }
}

// Further than the cord is long: the pull is that of its stretch, E A times the strain.
TEST_P(HeldCord, PulledTautItPullsBack) {
  const double further = 0.003;
  Built built = cord_of(GetParam(), elements(6), {0.0, 0.0, 2.0});
  assembly::Hold& clip = hold(built, false);
  clip.motion = move_to(Vector3(length + further, 0.0, 0.0) - clip.pose.position, 0.5);
  auto stepper = stepper_of(std::move(built), 5e-4);
  const dynamics::StepReport report = run(stepper, 1.5);
  const double expected = stretching * further / length;
  EXPECT_NEAR(report.holds[0].force.norm(), expected, 0.02 * expected);
}

}  // namespace TRESSE_TEST_FILE
