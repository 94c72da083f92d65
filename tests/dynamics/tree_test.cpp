#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <support/worlds.hpp>
#include <tresse/math/rotations.hpp>

namespace {

using namespace tresse;
using rods::RootCondition;

const rods::Material twig{.density = 1000.0, .young_modulus = 2e7, .poisson_ratio = 0.4, .damping_time = 0.005};
constexpr double radius = 1e-3;
constexpr double element_length = 0.02;

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

assembly::Fibre part(int elements, RootCondition condition) {
  return test::fibre(elements, elements * element_length, radius, twig, {}, condition);
}

struct Scenery {
  assembly::World world;
  dynamics::SimulationState state;
};

/// A clamped rod of six elements in pieces of `cuts` elements, over a floor, with a loose strand above its far half.
Scenery rod_over_floor(const std::vector<int>& cuts, const bodies::Motion& root_motion, double drag) {
  Scenery out;
  out.world.gravity = {0.0, 0.0, -9.81};
  out.world.friction = MatrixX::Constant(1, 1, 0.3);
  out.world.wind = {0.0, 1.0, 0.0};
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    assembly::Fibre fibre = part(cuts[k], k == 0 ? RootCondition::clamped : RootCondition::carried);
    if (k == 0) fibre.root_motion = root_motion;
    if (k > 0) fibre.attachment = {int(k) - 1, cuts[k - 1] - 1, element_length, {}};
    fibre.drag = drag;
    test::add(out.world, out.state, std::move(fibre));
  }
  Pose across;
  across.position = {0.09, -0.03, 0.006};
  across.frame = math::rotation_exp({0.0, 0.0, M_PI / 2.0});
  test::add(out.world, out.state, test::fibre(3, 0.06, radius, twig, across, RootCondition::free));
  test::add(out.world, {"floor", "plane", bodies::Plane{{0.0, 0.0, -0.02}, Vector3::UnitZ()}, Vector3::Zero(), {}});
  return out;
}

struct Outcome {
  VectorX coordinates;  ///< of the rod, then of the strand
  double energy = 0.0;
  double work = 0.0;
  int contacts = 0;
};

Outcome run(Scenery scenery, int steps, dynamics::Scheme scheme) {
  dynamics::StepOptions options = test::step_options(1e-3);
  options.scheme = scheme;
  dynamics::Stepper stepper(std::move(scenery.world), options, std::move(scenery.state));
  Outcome out;
  for (int i = 0; i < steps; ++i) {
    const dynamics::StepReport report = stepper.step();
    EXPECT_TRUE(report.finite);
    out.contacts += report.contacts;
    out.energy = report.energies.kinetic + report.energies.elastic + report.energies.gravity;
    out.work = report.work_external;
  }
  for (const auto& rod : stepper.state().rods) {
    const Eigen::Index n = out.coordinates.size();
    out.coordinates.conservativeResize(n + rod.coordinates.size());
    out.coordinates.tail(rod.coordinates.size()) = rod.coordinates;
  }
  return out;
}

/// The bodies of the friction problem differ in nothing but rounding: a rod cut in two and three, gravity, drag and
/// wind, a moving root, contacts with a floor and with a strand that falls on the far part. Cuts are away from the
/// contacts: where one rod has a joint, at which a contact is kept once, two fibres have an end each.
void cut_moves_alike(dynamics::Scheme scheme) {
  bodies::Motion shaking;
  shaking.interpolation = bodies::Motion::Interpolation::smooth;
  shaking.keyframes = {{0.0, Vector3::Zero(), Vector3::Zero()},
                       {0.06, {0.0, 0.01, 0.005}, {0.2, 0.3, 0.1}},
                       {0.12, Vector3::Zero(), Vector3::Zero()}};
  const Outcome whole = run(rod_over_floor({6}, shaking, 0.01), 120, scheme);
  EXPECT_GT(whole.contacts, 50);
  for (const auto& cuts : {std::vector<int>{3, 3}, std::vector<int>{1, 2, 3}}) {
    const Outcome cut = run(rod_over_floor(cuts, shaking, 0.01), 120, scheme);
    const double difference =
        (cut.coordinates - whole.coordinates).cwiseAbs().maxCoeff() / whole.coordinates.cwiseAbs().maxCoeff();
    if (printing()) {
      std::printf("cut rod over a floor: %.1e, energy %.1e, work %.1e, contacts %d and %d\n", difference,
                  cut.energy / whole.energy - 1.0, cut.work / whole.work - 1.0, cut.contacts, whole.contacts);
    }
    EXPECT_LT(difference, 1e-11);  // rounding of 120 steps
    EXPECT_NEAR(cut.energy, whole.energy, 1e-11 * std::abs(whole.energy));
    EXPECT_NEAR(cut.work, whole.work, 1e-11 * std::abs(whole.work));
    EXPECT_EQ(cut.contacts, whole.contacts);
  }
}

TEST(TreeDynamics, ARodCutInPiecesMovesLikeTheRod) { cut_moves_alike(dynamics::Scheme::semi_implicit); }
TEST(TreeDynamics, ARodCutInPiecesMovesLikeTheRodNonlinear) { cut_moves_alike(dynamics::Scheme::nonlinear); }

struct Drift {
  double momentum;  ///< largest change of the linear momentum over its size
  double angular;
  double energy;
};

/// A loose trunk with two branches that leave it at an angle, spinning and bending in empty space.
Drift spinning_tree(double dt) {
  Scenery out;
  rods::Material elastic = twig;
  elastic.damping_time = 0.0;
  const auto add = [&](int elements, RootCondition condition, const assembly::Attachment& at) {
    assembly::Fibre fibre = test::fibre(elements, elements * element_length, radius, elastic, {}, condition);
    fibre.attachment = at;
    test::add(out.world, out.state, std::move(fibre));
  };
  out.world.friction = MatrixX::Zero(1, 1);
  add(3, RootCondition::free, {});
  add(2, RootCondition::carried, {0, 1, 0.4 * element_length, {Vector3::Zero(), math::rotation_exp({0.2, 0.0, 1.0})}});
  add(2, RootCondition::carried, {0, 2, element_length, {Vector3::Zero(), math::rotation_exp({0.0, -1.2, 0.3})}});
  out.state.rods[0].root_velocity = {{0.1, 0.2, -0.1}, {1.0, 3.0, 8.0}};
  for (auto& rod : out.state.rods) rod.rates.setConstant(5.0);
  dynamics::StepOptions options = test::step_options(dt);
  dynamics::Stepper stepper(std::move(out.world), options, std::move(out.state));
  const auto momentum = [&](double& energy) {
    Eigen::Matrix<double, 6, 1> sum = Eigen::Matrix<double, 6, 1>::Zero();
    energy = 0.0;
    for (const auto& fibre : stepper.world().fibres) {
      Vector3 linear, angular;
      fibre.rod->momentum(linear, angular);
      sum.head<3>() += linear;
      sum.tail<3>() += angular;
      const rods::RodEnergies energies = fibre.rod->energies(Vector3::Zero());
      energy += energies.kinetic + energies.elastic;
    }
    return sum;
  };
  double first_energy = 0.0;
  double energy = 0.0;
  const auto first = momentum(first_energy);
  const int steps = int(std::lround(0.1 / dt));
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(stepper.step().finite);
  const auto last = momentum(energy);
  return {(last - first).head<3>().norm() / first.head<3>().norm(),
          (last - first).tail<3>().norm() / first.tail<3>().norm(), std::abs(energy - first_energy) / first_energy};
}

TEST(TreeDynamics, MomentumAndEnergyOfALooseTreeStayAtFirstOrder) {
  const Drift coarse = spinning_tree(2e-4);
  const Drift fine = spinning_tree(1e-4);
  const Drift finest = spinning_tree(5e-5);
  if (printing()) {
    for (const Drift& d : {coarse, fine, finest})
      std::printf("loose tree: momentum %.2e, angular %.2e, energy %.2e\n", d.momentum, d.angular, d.energy);
  }
  EXPECT_NEAR(fine.momentum / finest.momentum, 2.0, 0.3);
  EXPECT_NEAR(fine.angular / finest.angular, 2.0, 0.3);
  EXPECT_NEAR(fine.energy / finest.energy, 2.0, 0.3);
  EXPECT_LT(finest.energy, 0.1);
}

}  // namespace
