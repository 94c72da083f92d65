#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <Eigen/Geometry>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_helix.hpp>

// Steps of fibres whose elasticity is not linear in the coordinates.
namespace tresse::dynamics {
namespace {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

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
};

constexpr double length = 0.2;

/// A soft thin rod: slow enough for steps of a millisecond.
assembly::World one_fibre(const Drop& setup) {
  const rods::Material material{
      .density = 1300.0, .young_modulus = 1e8, .poisson_ratio = 0.4, .damping_time = setup.damping_time};
  const std::vector<rods::RodEdge> edges(setup.edges,
                                         {length / setup.edges, rods::CrossSection::circle(5e-4), setup.natural});
  assembly::World world;
  assembly::Fibre fibre;
  fibre.rod = rods::make_discrete_elastic_rod(edges, material, setup.root);
  world.fibres.push_back(std::move(fibre));
  world.friction = MatrixX::Constant(1, 1, 0.3);
  world.gravity = setup.gravity;
  return world;
}

SimulationState start(const assembly::World& world, const Drop& setup, const Twist& motion = {}) {
  const rods::Rod& rod = *world.fibres[0].rod;
  const Eigen::Index k = rod.rest_curvature().size();
  VectorX curvature = rod.rest_curvature();
  for (Eigen::Index i = 2; i < k; i += 3) curvature[i] += setup.bend;
  SimulationState out;
  out.rods.push_back(rod.shaped({}, motion, curvature, VectorX::Zero(k)));
  return out;
}

TEST(DiscreteElasticRodStep, EndsInABalanceOfForces) {
  // Written out: M (v - v0) = dt (elastic + gravity - D v - drag (v - wind)) at the end of the step.
  Drop setup{.damping_time = 2e-3, .gravity = {1.0, -9.81, 2.0}, .bend = 10.0};
  assembly::World world = one_fibre(setup);
  world.fibres[0].drag = 1e-2;
  world.wind = {0.3, 0.1, -0.2};
  Stepper stepper(world, setup.options, start(world, setup));
  int most = 0;
  double worst = 0.0;
  for (int i = 0; i < 50; ++i) {
    const rods::RodState before = stepper.state().rods[0];
    const StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    ASSERT_EQ(report.motion_status, Status::converged);
    most = std::max(most, report.motion_iterations);
    const rods::Rod& rod = *stepper.world().fibres[0].rod;
    const int n = rod.dof();
    MatrixX mass(n, n), damping = MatrixX::Zero(n, n);
    rod.mass_matrix(mass);
    rod.add_stiffness(0.0, 1.0, damping);
    rod.add_drag_matrix(1e-2, damping);
    VectorX elastic(n), outer(n);
    rod.elastic_force(elastic);
    rod.inertial_and_external_force({setup.gravity, {}, 1e-2, world.wind}, outer);
    const VectorX& v = stepper.state().rods[0].rates;
    const VectorX residual = mass * (v - before.rates) - 1e-3 * (elastic + outer - damping * v);
    worst = std::max(worst, residual.norm() / (1e-3 * elastic.norm()));
  }
  if (printing()) std::printf("balance %.1e of the elastic force, at most %d Newton steps\n", worst, most);
  EXPECT_LT(worst, 1e-7);
}

TEST(DiscreteElasticRodStep, AFreeRodKeepsItsMomentum) {
  // Linear to rounding; angular as the time step: the step's forces act at its end, where they turn nothing, but
  // x moves on by dt v while the momentum was that of v: |d L| of order dt a step.
  double previous = 0.0;
  for (const double dt : {1e-3, 5e-4, 2.5e-4}) {
    Drop setup{.root = rods::RootCondition::free, .bend = 15.0, .natural = {5.0, 2.0, 0.0}};
    setup.options.dt = dt;
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup, {{0.1, 0.2, 0.3}, {3.0, -5.0, 8.0}}));
    Vector3 linear, angular, linear_before, angular_before;
    stepper.world().fibres[0].rod->momentum(linear_before, angular_before);
    double drift = 0.0;
    for (int i = 0; i < static_cast<int>(std::lround(0.1 / dt)); ++i) {
      const StepReport report = stepper.step();
      ASSERT_TRUE(report.finite);
      ASSERT_EQ(report.motion_status, Status::converged);
      stepper.world().fibres[0].rod->momentum(linear, angular);
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

TEST(DiscreteElasticRodStep, EnergyOnlyFalls) {
  for (const double damping_time : {0.0, 1e-3}) {
    const Drop setup{.damping_time = damping_time, .gravity = {0, -9.81, 0}, .bend = 20.0};
    const assembly::World world = one_fibre(setup);
    Stepper stepper(world, setup.options, start(world, setup));
    const rods::RodEnergies first = stepper.world().fibres[0].rod->energies(setup.gravity);
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

TEST(DiscreteElasticRodStep, AMovedRootCarriesTheRodAlongRigidly) {
  // A root that starts with its motion and turns slowly: the damping of a fast Kelvin-Voigt rod must not resist the
  // rigid part. Quasi-static limit: curvature stays at the centrifugal order.
  Drop setup{.damping_time = 1.0};
  assembly::World world = one_fibre(setup);
  world.fibres[0].root_motion.angular_velocity = {0.5, 0.3, 0.4};
  const Twist motion{{0, 0, 0}, {0.5, 0.3, 0.4}};
  Stepper stepper(world, setup.options, start(world, setup, motion));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(stepper.step().finite);
  const rods::Rod& rod = *stepper.world().fibres[0].rod;
  EXPECT_LT(rod.curvature().cwiseAbs().maxCoeff() * length, 1e-2);
  const Matrix3 turned = math::rotation_exp(Vector3(0.25, 0.15, 0.2));
  EXPECT_LT((rod.section(length).position - length * turned.col(0)).norm(), 1e-2 * length);
  EXPECT_LT((rod.section(length).frame - turned).norm(), 1e-2);
}

TEST(DiscreteElasticRodStep, SchemesAgreeWithoutContact) {
  // The free Newton's end is the fixed point that Scheme::nonlinear looks for: one more pass changes nothing.
  Drop setup{.damping_time = 1e-3, .gravity = {0, -9.81, 1.0}, .bend = 10.0};
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

TEST(DiscreteElasticRodStep, GoesOnFromAStateBitForBit) {
  Drop setup{.root = rods::RootCondition::free, .damping_time = 1e-3, .bend = 15.0, .natural = {5.0, 2.0, 0.0}};
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

TEST(DiscreteElasticRodStep, LiesOnThePlaneThatItFallsOn) {
  // Free rod dropped on the ground: carried by it at rest.
  Drop setup{.root = rods::RootCondition::free, .damping_time = 5e-3, .gravity = {0, -9.81, 0}, .bend = 3.0};
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
  const double weight = stepper.world().fibres[0].rod->mass() * 9.81;
  if (printing()) {
    std::printf("ground carries %.6f of the weight, kinetic %.1e J, deepest %.1e m\n",
                -report.obstacles[0].force.y() / weight, report.energies.kinetic, deepest);
  }
  EXPECT_NEAR(-report.obstacles[0].force.y() / weight, 1.0, 1e-2);
  EXPECT_LT(deepest, 5e-5);
}

}  // namespace
}  // namespace tresse::dynamics
