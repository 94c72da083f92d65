#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_helix.hpp>

// Steps of fibres whose elasticity is not linear in the coordinates.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

enum class Model { discrete_elastic_rod, mass_spring };

struct Drop {
  int edges = 20;
  rods::RootCondition root = rods::RootCondition::clamped;
  double damping_time = 0.0;
  Vector3 gravity = Vector3::Zero();
  StepOptions options = [] {
    StepOptions out;
    out.dt = 1e-3;
    out.overlap_tolerance = 1e-6;
    out.halving_overlap = 5e-6;
    out.margin = 1e-5;
    return out;
  }();
  double bend = 0.0;  ///< about axis 2 at the start [1/m]
  Vector3 natural = Vector3::Zero();
  Model model = Model::discrete_elastic_rod;

  Drop of(Model wanted) const {
    Drop out = *this;
    out.model = wanted;
    if (wanted == Model::mass_spring) out.natural[0] = 0.0;
    return out;
  }
};

class NodalRodStep : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Models, NodalRodStep, ::testing::Values(Model::discrete_elastic_rod, Model::mass_spring),
                         [](const auto& tested) {
                           return tested.param == Model::mass_spring ? "MassSpring" : "DiscreteElasticRod";
                         });

constexpr double length = 0.2;

/// A soft thin rod: slow enough for steps of a millisecond.
assembly::World one_fibre(const Drop& setup) {
  const rods::Material material{
      .density = 1300.0, .young_modulus = 1e8, .poisson_ratio = 0.4, .damping_time = setup.damping_time};
  const std::vector<rods::RodEdge> edges(setup.edges,
                                         {length / setup.edges, rods::CrossSection::circle(5e-4), setup.natural});
  assembly::World world;
  assembly::Fibre fibre;
  const auto rod = setup.model == Model::mass_spring ? rods::make_mass_spring(edges, material, setup.root)
                                                     : rods::make_discrete_elastic_rod(edges, material, setup.root);
  fibre.model = rod->model();
  world.fibres.push_back(std::move(fibre));
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(world, assembly::Gravity(setup.gravity));
  return world;
}

SimulationState start(const assembly::World& world, const Drop& setup, const Twist& motion = {}) {
  const auto made = world.fibres[0].model->make_rod();
  const rods::Rod& rod = *made;
  const Eigen::Index k = rod.rest_curvature().size();
  VectorX curvature = rod.rest_curvature();
  for (Eigen::Index i = 2; i < k; i += 3) curvature[i] += setup.bend;
  SimulationState out;
  out.rods.push_back(rod.shaped({}, motion, curvature, VectorX::Zero(k)));
  return out;
}

TEST_P(NodalRodStep, EndsInABalanceOfForces) {
  // Written out: M (v - v0) = dt (elastic + gravity - D v - drag (v - wind)) at the end of the step.
  Drop setup = Drop{.damping_time = 2e-3, .gravity = {1.0, -9.81, 2.0}, .bend = 10.0}.of(GetParam());
  assembly::World world = one_fibre(setup);
  world.fibres[0].drag = 1e-2;
  assembly::set_load(world, assembly::Air({0.3, 0.1, -0.2}));
  Stepper stepper(world, setup.options, start(world, setup));
  int most = 0;
  double worst = 0.0;
  for (int i = 0; i < 50; ++i) {
    const rods::RodState before = stepper.state().rods[0];
    const StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    ASSERT_EQ(report.motion_status, Status::converged);
    most = std::max(most, report.motion_iterations);
    const rods::Rod& rod = stepper.kinematics().rod(0);
    const int n = rod.dof();
    MatrixX mass(n, n), damping = MatrixX::Zero(n, n);
    rod.mass_matrix(mass);
    rod.add_stiffness(0.0, 1.0, damping);
    rod.add_drag_matrix(1e-2, damping);
    VectorX elastic(n), outer(n);
    rod.elastic_force(elastic);
    rod.inertial_and_external_force({setup.gravity, {}, 1e-2, assembly::wind_at(world, 0.0)}, outer);
    const VectorX& v = stepper.state().rods[0].rates;
    const VectorX residual = mass * (v - before.rates) - 1e-3 * (elastic + outer - damping * v);
    worst = std::max(worst, residual.norm() / (1e-3 * elastic.norm()));
  }
  if (printing()) std::printf("balance %.1e of the elastic force, at most %d Newton steps\n", worst, most);
  EXPECT_LT(worst, 1e-7);
}

TEST_P(NodalRodStep, AFreeRodKeepsItsMomentum) {
  // Linear to rounding; angular as the time step: the step's forces act at its end, where they turn nothing, but
  // x moves on by dt v while the momentum was that of v: |d L| of order dt a step.
  double previous = 0.0;
  for (const double dt : {1e-3, 5e-4, 2.5e-4}) {
    Drop setup = Drop{.root = rods::RootCondition::free, .bend = 15.0, .natural = {5.0, 2.0, 0.0}}.of(GetParam());
    setup.options.dt = dt;
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup, {{0.1, 0.2, 0.3}, {3.0, -5.0, 8.0}}));
    Vector3 linear, angular, linear_before, angular_before;
    stepper.kinematics().rod(0).momentum(linear_before, angular_before);
    double drift = 0.0;
    for (int i = 0; i < static_cast<int>(std::lround(0.1 / dt)); ++i) {
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      ASSERT_EQ(report.motion_status, Status::converged);
      stepper.kinematics().rod(0).momentum(linear, angular);
      ASSERT_LT((linear - linear_before).norm(), 1e-9 * linear_before.norm());
      drift = std::max(drift, (angular - angular_before).norm());
    }
    if (printing()) std::printf("dt %g: angular momentum off by %.2e\n", dt, drift / angular_before.norm());
    if (previous > 0.0) {
      EXPECT_LT(drift, 0.65 * previous);
    }
    previous = drift;
    EXPECT_LT(drift, 0.02 * angular_before.norm());
  }
}

TEST_P(NodalRodStep, EnergyOnlyFalls) {
  for (const double damping_time : {0.0, 1e-3}) {
    const Drop setup = Drop{.damping_time = damping_time, .gravity = {0, -9.81, 0}, .bend = 20.0}.of(GetParam());
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup));
    const rods::RodEnergies first = stepper.kinematics().rod(0).energies(setup.gravity);
    double previous = first.kinetic + first.elastic + first.gravity;
    const double size = std::abs(first.elastic) + std::abs(first.gravity);
    for (int i = 0; i < 300; ++i) {
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      ASSERT_EQ(report.motion_status, Status::converged);
      const double energy = report.energies.kinetic + report.energies.elastic + report.energies.gravity;
      EXPECT_LE(energy, previous + 1e-6 * size);
      previous = energy;
    }
  }
}

TEST_P(NodalRodStep, AMovedRootCarriesTheRodAlongRigidly) {
  // A root that starts with its motion and turns slowly: the damping of a fast Kelvin-Voigt rod must not resist the
  // rigid part. Quasi-static limit: curvature stays at the centrifugal order.
  Drop setup = Drop{.damping_time = 1.0}.of(GetParam());
  assembly::World world = one_fibre(setup);
  world.fibres[0].root_motion.angular_velocity = {0.5, 0.3, 0.4};
  const Twist motion{{0, 0, 0}, {0.5, 0.3, 0.4}};
  Stepper stepper(world, setup.options, start(world, setup, motion));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(stepper.step().finite);
  const rods::Rod& rod = stepper.kinematics().rod(0);
  // The load across the rod, rho S w_x w_y x, bends it by 0.028 / length at the root in the end; that damping of 1 s
  // delays, but in a chain not what turns the plane of the bend.
  const double most = GetParam() == Model::mass_spring ? 0.03 : 1e-2;
  EXPECT_LT(rod.curvature().cwiseAbs().maxCoeff() * length, most);
  const Matrix3 turned = math::rotation_exp(Vector3(0.25, 0.15, 0.2));
  EXPECT_LT((rod.section(length).position - length * turned.col(0)).norm(), 1e-2 * length);
  if (GetParam() == Model::mass_spring) {  // no twist: its frame has only the tangent from the motion
    EXPECT_LT((rod.section(length).frame.col(0) - turned.col(0)).norm(), most);
  } else {
    EXPECT_LT((rod.section(length).frame - turned).norm(), 1e-2);
  }
}

TEST_P(NodalRodStep, SchemesAgreeWithoutContact) {
  // The free Newton's end is the fixed point that Scheme::nonlinear looks for: one more pass changes nothing.
  Drop setup = Drop{.damping_time = 1e-3, .gravity = {0, -9.81, 1.0}, .bend = 10.0}.of(GetParam());
  const assembly::World world = one_fibre(setup);
  Stepper first(world, setup.options, start(world, setup));
  setup.options.scheme = Scheme::nonlinear;
  Stepper second(world, setup.options, start(world, setup));
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(first.step().finite);
    const StepReport report = second.step();
    ASSERT_TRUE(report.finite);
    EXPECT_LE(report.nonlinear_residual, 1e-9);
  }
  const VectorX& a = first.state().rods[0].coordinates;
  const VectorX& b = second.state().rods[0].coordinates;
  EXPECT_LT((a - b).norm(), 1e-8 * a.norm());
}

TEST_P(NodalRodStep, GoesOnFromAStateBitForBit) {
  Drop setup =
      Drop{.root = rods::RootCondition::free, .damping_time = 1e-3, .bend = 15.0, .natural = {5.0, 2.0, 0.0}}.of(
          GetParam());
  const assembly::World world = one_fibre(setup);
  const Twist motion{{0.1, 0.2, 0.3}, {3.0, -5.0, 8.0}};
  Stepper whole(world, setup.options, start(world, setup, motion));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(whole.step().finite);
  Stepper resumed(world, setup.options, whole.state());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(whole.step().finite);
    ASSERT_TRUE(resumed.step().finite);
  }
  const rods::RodState &a = whole.state().rods[0], &b = resumed.state().rods[0];
  EXPECT_EQ(a.coordinates, b.coordinates);
  EXPECT_EQ(a.rates, b.rates);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.root.frame, b.root.frame);
}

TEST_P(NodalRodStep, LiesOnThePlaneThatItFallsOn) {
  // Free rod dropped on the ground: carried by it at rest.
  Drop setup = Drop{.root = rods::RootCondition::free, .damping_time = 5e-3, .gravity = {0, -9.81, 0}, .bend = 3.0}.of(
      GetParam());
  assembly::World world = one_fibre(setup);
  bodies::Obstacle ground;
  ground.shape = bodies::Plane{{0, -0.01, 0}, {0, 1, 0}};
  world.obstacles.push_back(ground);
  world.obstacle_material.push_back(0);
  Stepper stepper(world, setup.options, start(world, setup));
  StepReport report;
  double deepest = 0.0;
  for (int i = 0; i < 500; ++i) {
    report = stepper.step();
    ASSERT_TRUE(report.finite) << i;
    ASSERT_EQ(report.motion_status, Status::converged) << i;
    deepest = std::max(deepest, report.max_penetration);
  }
  const double weight = stepper.kinematics().rod(0).mass() * 9.81;
  if (printing()) {
    std::printf("ground carries %.6f of the weight, kinetic %.1e J, deepest %.1e m\n",
                -report.obstacles[0].force.y() / weight, report.energies.kinetic, deepest);
  }
  EXPECT_NEAR(-report.obstacles[0].force.y() / weight, 1.0, 1e-2);
  EXPECT_LT(deepest, 5e-5);
}

// Forces in the middle of the step leave points their angular momentum: x' m v' - x m v = x_mid x dt f + dt v_mid x m
// v_mid, and internal forces turn nothing.
TEST(MassSpringStep, TheMidpointRuleKeepsMomentumAndEnergy) {
  double previous = 0.0;
  for (const double dt : {1e-3, 5e-4, 2.5e-4}) {
    Drop setup = Drop{.root = rods::RootCondition::free, .bend = 10.0}.of(Model::mass_spring);
    setup.options.dt = dt;
    setup.options.theta = 0.5;
    setup.options.scheme = Scheme::nonlinear;
    setup.options.nonlinear_tolerance = 1e-13;
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup, {{0.1, 0.2, 0.3}, {3.0, -5.0, 8.0}}));
    const rods::Rod& rod = stepper.kinematics().rod(0);
    Vector3 linear, angular, linear_before, angular_before;
    rod.momentum(linear_before, angular_before);
    const rods::RodEnergies first = rod.energies({});
    double turned = 0.0, gained = 0.0;
    for (int i = 0; i < static_cast<int>(std::lround(0.1 / dt)); ++i) {
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      rod.momentum(linear, angular);
      ASSERT_LT((linear - linear_before).norm(), 1e-10 * linear_before.norm());
      turned = std::max(turned, (angular - angular_before).norm() / angular_before.norm());
      const double energy = report.energies.kinetic + report.energies.elastic;
      gained = std::max(gained, std::abs(energy - first.kinetic - first.elastic) / first.elastic);
    }
    if (printing()) std::printf("dt %g: angular momentum off by %.1e, energy by %.1e\n", dt, turned, gained);
    EXPECT_LT(turned, 1e-9);
    if (previous > 0.0) {
      EXPECT_LT(gained, 0.5 * previous);
    }
    previous = gained;
  }
  EXPECT_LT(previous, 1e-2);
}

// A chain let go level swings as a pendulum does: energy by the midpoint rule against Euler's.
TEST(MassSpringStep, ASwingKeepsItsEnergyAtTheMiddle) {
  const auto drift = [](double theta, double dt) {
    Drop setup = Drop{.gravity = {0, -9.81, 0}}.of(Model::mass_spring);
    setup.options.dt = dt;
    setup.options.theta = theta;
    setup.options.scheme = Scheme::nonlinear;
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup));
    double out = 0.0, swing = 0.0;
    for (int i = 0; i < static_cast<int>(std::lround(1.0 / dt)); ++i) {
      const StepReport report = stepper.step();
      EXPECT_TRUE(report.finite);
      out = std::max(out, std::abs(report.energies.kinetic + report.energies.elastic + report.energies.gravity));
      swing = std::max(swing, std::abs(report.energies.gravity));
    }
    return out / swing;
  };
  const double middle = drift(0.5, 5e-4), finer = drift(0.5, 2.5e-4), euler = drift(1.0, 5e-4);
  if (printing()) std::printf("swing, energy off by %.1e, %.1e at half dt; Euler %.1e\n", middle, finer, euler);
  EXPECT_LT(middle, 1e-3);
  EXPECT_LT(finer, 0.4 * middle) << "second order";
  EXPECT_GT(euler, 20.0 * middle);
}

/// Straight along x or down, every edge `factor` times as long as made.
SimulationState stretched(const assembly::World& world, const Pose& root, double factor) {
  const auto made = world.fibres[0].model->make_rod();
  const rods::Rod& rod = *made;
  const VectorX straight = VectorX::Zero(rod.rest_curvature().size());
  rods::RodState state = rod.shaped(root, {}, straight, straight);
  const int edges = rod.piece_count();
  const int stride = rod.coordinate_count() / edges;
  for (int i = 1; i <= edges; ++i) {
    const Vector3 arm = rod.piece_begin(i) * root.frame.col(0);
    state.coordinates.segment<3>(stride * i - 3) = root.position + factor * arm;
  }
  state = rod.advanced(state, VectorX::Zero(rod.dof()), 0.0, root, {});
  SimulationState out;
  out.rods.push_back(std::move(state));
  return out;
}

constexpr double radius = 5e-4;                         // of one_fibre()
constexpr double axial = 1e8 * M_PI * radius * radius;  // [N]

TEST_P(NodalRodStep, PushedEndOnItGivesByItsStiffness) {
  // Shorter by 2 %, at rest between its root and a floor.
  constexpr double squeezed = 0.98;
  for (const int edges : {1, 2, 5, 10, 20}) {
    const Drop setup = Drop{.edges = edges, .damping_time = 1e-3}.of(GetParam());
    assembly::World world = one_fibre(setup);
    bodies::Obstacle floor;
    floor.shape = bodies::Plane{{0, 0, 0}, {0, 0, 1}};
    world.obstacles.push_back(floor);
    world.obstacle_material.push_back(0);
    Pose root;
    root.position = {0, 0, squeezed * length + radius};
    root.frame = math::rotation_exp({0, M_PI / 2, 0});
    world.fibres[0].root = root;
    const SimulationState start = stretched(world, root, squeezed);
    Stepper stepper(world, setup.options, start);
    for (int i = 0; i < 3; ++i) {  // it buckles soon
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      EXPECT_FALSE(report.jammed);
      EXPECT_NEAR(-report.obstacles[0].force.z() / (0.02 * axial), 1.0, 1e-6) << edges << " edges, step " << i;
      ASSERT_EQ(stepper.contacts().size(), 1U);
      EXPECT_NEAR(stepper.contacts()[0].a.s, length, 1e-15) << "of the material";
    }
  }
}

TEST_P(NodalRodStep, ContactsOfAStretchedStringAreWhereItIs) {
  // Strings of few edges between two clamps, drawn out at random; a bar comes down on them anywhere.
  std::mt19937 random(11);
  std::uniform_real_distribution<double> part(0.03, 0.97);
  std::uniform_real_distribution<double> draw(1.02, 3.0);
  constexpr double bar = 2e-3;
  constexpr double down = 4e-3;
  for (int k = 0; k < 24; ++k) {
    const double factor = draw(random);
    const double where = part(random) * factor * length;
    Drop setup = Drop{.edges = 2 + k % 7, .damping_time = 5e-3}.of(GetParam());
    if (k % 3 == 2) {
      setup.options.detection = {geometry::DetectionMethod::segments, length / 100.0};
    }
    assembly::World world = one_fibre(setup);
    assembly::Hold tip;
    tip.name = "tip";
    tip.piece = setup.edges - 1;
    tip.share = 1.0;
    tip.pose.position = {factor * length, 0, 0};
    world.holds.push_back(tip);
    bodies::Obstacle across;
    across.shape = bodies::Capsule{{where, -0.02, radius + bar + 1e-5}, {where, 0.02, radius + bar + 1e-5}, bar};
    across.motion.keyframes = {{.time = 0.0}, {.time = 0.04, .displacement = {0, 0, -down}}};
    world.obstacles.push_back(across);
    world.obstacle_material.push_back(0);
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
    const SimulationState start = stretched(world, {}, factor);
    Stepper stepper(world, setup.options, start);
    double pressed = 0.0;
    for (int i = 0; i < 60; ++i) {
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite) << k;
      for (const ContactReport& contact : stepper.contacts()) {
        const rods::Rod& rod = stepper.kinematics().rod(0);
        EXPECT_LT((rod.section(contact.a.s).position - contact.point_a).norm(), 0.2 * radius) << k << " step " << i;
      }
      pressed = std::max(pressed, report.obstacles[0].force.norm());
      EXPECT_LT(report.max_penetration, 0.1 * radius) << k << " step " << i;
    }
    EXPECT_GT(pressed, 1e-3) << k << ": it went through";
  }
}

// One chain falls across another that lies on the ground, and both come to rest: the lower one carries its share.
TEST(MassSpringStep, AFibreFallsAcrossAnother) {
  Drop setup = Drop{.edges = 15, .root = rods::RootCondition::free, .damping_time = 5e-3, .gravity = {0, -9.81, 0}}.of(
      Model::mass_spring);
  assembly::World world = one_fibre(setup);
  bodies::Obstacle ground;
  ground.shape = bodies::Plane{{0, -5e-4, 0}, {0, 1, 0}};
  world.obstacles.push_back(ground);
  world.obstacle_material.push_back(0);
  assembly::World other = one_fibre(setup);
  world.fibres.push_back(std::move(other.fibres[0]));
  SimulationState state = start(world, setup);
  Pose across;
  across.position = {0.5 * length, 2e-3, -0.47 * length};
  across.frame = math::rotation_exp({0, -M_PI / 2, 0});
  const VectorX straight = world.fibres[1].model->rest_curvature();
  state.rods.push_back(world.fibres[1].model->make_rod()->shaped(across, {}, straight, VectorX::Zero(straight.size())));
  Stepper stepper(world, setup.options, state);
  StepReport report;
  for (int i = 0; i < 1000; ++i) {
    report = stepper.step();
    ASSERT_TRUE(report.finite) << i;
    ASSERT_EQ(report.motion_status, Status::converged) << i;
  }
  const double weight = 2.0 * stepper.kinematics().rod(0).mass() * 9.81;
  if (printing()) {
    std::printf("two chains: ground carries %.5f of the weight, kinetic %.1e J, deepest %.1e m\n",
                -report.obstacles[0].force.y() / weight, report.energies.kinetic, report.max_penetration);
  }
  EXPECT_NEAR(-report.obstacles[0].force.y() / weight, 1.0, 1e-2);
  EXPECT_LT(report.energies.kinetic, 1e-12);
  EXPECT_LT(report.max_penetration, 5e-6);
  const rods::Rod& upper = stepper.kinematics().rod(1);
  EXPECT_NEAR(upper.section(0.47 * length).position.y(), 1e-3, 2e-5) << "lies on the lower one";
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
