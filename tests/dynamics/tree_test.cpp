#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <oneapi/tbb/global_control.h>

#include <support/worlds.hpp>
#include <tresse/math/rotations.hpp>

namespace TRESSE_TEST_FILE {

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
  assembly::set_load(out.world, assembly::Gravity({0.0, 0.0, -9.81}));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(out.world, assembly::Air({0.0, 1.0, 0.0}));
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
TEST(TreeDynamics, ARodCutInPiecesMovesLikeTheRodLinearised) { cut_moves_alike(dynamics::Scheme::linearised); }
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
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
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
    for (int f = 0; f < static_cast<int>(stepper.world().fibres.size()); ++f) {
      const rods::Rod& rod = stepper.kinematics().rod(f);
      Vector3 linear, angular;
      rod.momentum(linear, angular);
      sum.head<3>() += linear;
      sum.tail<3>() += angular;
      const rods::RodEnergies energies = rod.energies(Vector3::Zero());
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
  EXPECT_LT(coarse.momentum, 1e-11);
  EXPECT_NEAR(fine.angular / finest.angular, 2.0, 0.3);
  EXPECT_NEAR(fine.energy / finest.energy, 2.0, 0.3);
  EXPECT_LT(finest.energy, 0.1);
}

/// Two branched trunks side by side over a floor in gusts: bits of all states after 150 steps.
std::string two_trees(int threads, int cut) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  const auto planted = [] {
    Scenery out;
    assembly::set_load(out.world, assembly::Gravity({0.0, 0.0, -9.81}));
    out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
    assembly::set_load(out.world, assembly::Air(Vector3::Zero(), {0.0, 2.0, -1.0}, 0.07));
    for (int tree = 0; tree < 2; ++tree) {
      const int trunk = 4 * tree;
      const auto add = [&](int elements, RootCondition condition, const assembly::Attachment& at) {
        assembly::Fibre fibre = part(elements, condition);
        fibre.root.position = {0.0, 0.012 * tree, 0.0};
        fibre.attachment = at;
        fibre.drag = 0.005;
        test::add(out.world, out.state, std::move(fibre));
      };
      const auto turned = [](const Vector3& by) { return Pose{Vector3::Zero(), math::rotation_exp(by)}; };
      add(5, RootCondition::clamped, {});
      add(4, RootCondition::carried, {trunk, 1, 0.4 * element_length, turned({0.2, 0.0, 1.0})});
      add(4, RootCondition::carried, {trunk, 4, element_length, turned({0.0, 0.9, 0.3})});
      add(3, RootCondition::carried, {trunk + 2, 1, 0.5 * element_length, turned({0.4, 0.0, -0.8})});
    }
    test::add(out.world, {"floor", "plane", bodies::Plane{{0.0, 0.0, -0.02}, Vector3::UnitZ()}, Vector3::Zero(), {}});
    return out;
  };
  Scenery start = planted();
  auto stepper =
      std::make_unique<dynamics::Stepper>(std::move(start.world), test::step_options(1e-3), std::move(start.state));
  int contacts = 0;
  for (int i = 0; i < 150; ++i) {
    if (i == cut)
      stepper = std::make_unique<dynamics::Stepper>(planted().world, test::step_options(1e-3), stepper->state());
    contacts += stepper->step().contacts;
  }
  EXPECT_GT(contacts, 50);
  std::string out;
  for (const auto& rod : stepper->state().rods) {
    for (const VectorX* v : {&rod.coordinates, &rod.rates})
      out.append(reinterpret_cast<const char*>(v->data()), sizeof(double) * static_cast<std::size_t>(v->size()));
  }
  return out;
}

TEST(TreeDynamics, BitsDoNotDependOnThreadsNorOnWhereARunWasCut) {
  const std::string reference = two_trees(1, -1);
  EXPECT_EQ(two_trees(4, -1), reference);
  EXPECT_EQ(two_trees(1, 77), reference);
}

/// A loose strand in gusts alone takes the air's velocity over as implicit Euler has it, and the books hold what that
/// dissipates: m |dv|^2 / 2 a step.
TEST(Gusts, CarryAStrand) {
  Scenery out;
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::set_load(out.world, assembly::Air({0.5, 0.0, 0.0}, {0.0, 2.0, -1.0}, 0.05));
  EXPECT_EQ(assembly::wind_at(out.world, 0.0), Vector3(0.5, 0.0, 0.0));
  EXPECT_LT((assembly::wind_at(out.world, 0.025) - Vector3(0.5, 2.0, -1.0)).norm(), 1e-15);
  EXPECT_LT((assembly::wind_at(out.world, 0.0125) - Vector3(0.5, 1.0, -0.5)).norm(), 1e-15);
  assembly::Fibre strand = part(3, RootCondition::free);
  strand.drag = 0.02;
  const double mass = strand.model->mass();
  const double rate = strand.drag * strand.model->length() / mass;
  const assembly::World air = out.world;
  test::add(out.world, out.state, std::move(strand));
  constexpr double dt = 1e-3;
  dynamics::Stepper stepper(std::move(out.world), test::step_options(dt), std::move(out.state));
  Vector3 v = Vector3::Zero();
  double lost = 0.0;
  for (int i = 1; i <= 60; ++i) {
    const dynamics::StepReport report = stepper.step();
    const Vector3 next = (v + dt * rate * assembly::wind_at(air, i * dt)) / (1.0 + dt * rate);
    lost += 0.5 * mass * (next - v).squaredNorm();
    v = next;
    EXPECT_LT((stepper.state().rods[0].root_velocity.linear - v).norm(), 1e-12);
    EXPECT_NEAR(report.work_external, 0.5 * mass * v.squaredNorm() + lost, 1e-12 * mass);
  }
}

}  // namespace TRESSE_TEST_FILE
