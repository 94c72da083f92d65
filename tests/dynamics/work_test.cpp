#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

/// The books of a run: what its energy gains and its material loses is the work done on it.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
constexpr double radius = 1e-4;
constexpr double length = 0.05;
constexpr int elements = 4;
const rods::Material material{.density = 1000.0, .young_modulus = 1e8, .poisson_ratio = 0.48, .damping_time = 2e-3};

struct Built {
  assembly::World world;
  SimulationState state;
};

double total(const rods::RodEnergies& energies) { return energies.kinetic + energies.elastic + energies.gravity; }

/// Power that Kelvin and Voigt's damping takes: eta int K3 kappa'^2, with K3 of a round section written out.
double dissipated_power(const VectorX& rates) {
  const double bending = material.young_modulus * M_PI * std::pow(radius, 4) / 4;
  const double twist = bending / (1 + material.poisson_ratio);
  double power = 0.0;
  for (Eigen::Index e = 0; e < elements; ++e) {
    const Vector3 rate = rates.segment<3>(3 * e);
    const double squares = twist * rate[0] * rate[0] + bending * (rate[1] * rate[1] + rate[2] * rate[2]);
    power += material.damping_time * length / elements * squares;
  }
  return power;
}

struct Books {
  double gain = 0.0;     ///< of energy, with what the material lost [J]
  double work = 0.0;     ///< as reported [J]
  double largest = 0.0;  ///< |work| on the way [J]
};

Books books(const std::function<Built()>& build, double dt, double end) {
  Built built = build();
  Stepper stepper(std::move(built.world), test::step_options(dt), std::move(built.state));
  const Vector3 g = assembly::gravity_of(stepper.world());
  Books out;
  for (int f = 0; f < static_cast<int>(stepper.world().fibres.size()); ++f)
    out.gain -= total(stepper.kinematics().rod(f).energies(g));
  StepReport report;
  for (int i = 0; i < static_cast<int>(std::lround(end / dt)); ++i) {
    report = stepper.step();
    for (std::size_t f = 0; f < stepper.state().rods.size(); ++f) {
      const VectorX& before = stepper.previous_state().rods[f].coordinates;
      out.gain += dt * dissipated_power((stepper.state().rods[f].coordinates - before) / dt);
    }
    out.largest = std::max(out.largest, std::abs(report.work_external));
  }
  out.work = report.work_external;
  out.gain += total(report.energies);
  return out;
}

/// The books close to first order in the step; extrapolated to none, to half a per cent (the second order's rest).
void expect_balance(const std::function<Built()>& build) {
  constexpr double second_order = 5e-3;
  constexpr double dt = 5e-4;
  constexpr double end = 0.08;
  std::array<double, 3> error{};
  for (int halving = 0; halving < 3; ++halving) {
    const Books found = books(build, dt / (1 << halving), end);
    error[halving] = (found.gain - found.work) / found.largest;
  }
  EXPECT_GT(std::log2(std::abs(error[0] / error[1])), 0.8);
  EXPECT_GT(std::log2(std::abs(error[1] / error[2])), 0.8);
  EXPECT_LT(std::abs(2.0 * error[2] - error[1]), second_order) << error[0] << ", " << error[1] << ", " << error[2];
}

/// A fibre that sags from its root, or floats, in its natural curl.
Built one_fibre(rods::RootCondition condition, const std::function<void(assembly::Fibre&, assembly::World&)>& change) {
  Built out;
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::Fibre fibre = test::fibre(elements, length, radius, material, {}, condition);
  fibre.model = fibre.model->with_rest_curvature(Vector3(5, 10, 30).replicate(elements, 1));
  change(fibre, out.world);
  test::add(out.world, out.state, std::move(fibre));
  return out;
}

TEST(WorkExternal, OfARootThatMovesAndTurns) {
  const auto build = [] {
    return one_fibre(rods::RootCondition::clamped, [](assembly::Fibre& fibre, assembly::World& world) {
      assembly::set_load(world, assembly::Gravity({0, 0, -gravity}));
      fibre.root_motion.interpolation = bodies::Motion::Interpolation::smooth;
      fibre.root_motion.keyframes = {{0.0, Vector3::Zero(), Vector3::Zero()},
                                     {0.05, Vector3(0.01, 0.02, 0.03), Vector3(0.3, -0.5, 0.8)},
                                     {0.1, Vector3(0.02, -0.01, 0.04), Vector3(0.1, 0.4, 0.2)}};
    });
  };
  expect_balance(build);
}

TEST(WorkExternal, OfARootAtConstantVelocityAndRotation) {
  const auto build = [] {
    return one_fibre(rods::RootCondition::clamped, [](assembly::Fibre& fibre, assembly::World&) {
      fibre.root_motion.velocity = {0.1, -0.2, 0.05};
      fibre.root_motion.angular_velocity = {3, 20, -5};
    });
  };
  expect_balance(build);
}

TEST(WorkExternal, OfAirAndWindOnAFreeFibre) {
  const auto build = [] {
    return one_fibre(rods::RootCondition::free, [](assembly::Fibre& fibre, assembly::World& world) {
      assembly::set_load(world, assembly::Gravity({0, 0, -gravity}));
      assembly::set_load(world, assembly::Air({1.0, 0.5, 0.2}));
      fibre.drag = 2e-4;
    });
  };
  expect_balance(build);
}

TEST(WorkExternal, OfAirOnAFibreWhoseRootMoves) {
  const auto build = [] {
    return one_fibre(rods::RootCondition::clamped, [](assembly::Fibre& fibre, assembly::World& world) {
      assembly::set_load(world, assembly::Gravity({0, 0, -gravity}));
      assembly::set_load(world, assembly::Air({1.0, 0.5, 0.2}));
      fibre.drag = 2e-4;
      fibre.root_motion.velocity = {0.1, -0.2, 0.05};
      fibre.root_motion.angular_velocity = {3, 20, -5};
    });
  };
  expect_balance(build);
}

/// At its terminal speed a strand that falls broadside gives all of gravity's work to the air.
TEST(WorkExternal, OfAirAtTheTerminalSpeedIsWeightTimesPath) {
  const double drag = 1e-2;
  Built built;
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::set_load(built.world, assembly::Gravity({0, 0, -gravity}));
  assembly::Fibre fibre = test::fibre(elements, length, radius, material, {}, rods::RootCondition::free);
  fibre.drag = drag;
  const double weight = fibre.model->mass() * gravity;
  const double terminal = weight / (drag * length);
  test::add(built.world, built.state, std::move(fibre));
  built.state.rods[0].root_velocity.linear = {0, 0, -terminal};
  const double dt = 1e-3;
  Stepper stepper(std::move(built.world), test::step_options(dt), std::move(built.state));
  StepReport report;
  for (int i = 0; i < 50; ++i) report = stepper.step();
  EXPECT_NEAR(report.work_external / (-weight * terminal * 50 * dt), 1.0, 1e-9);
}

TEST(WorkExternal, OfANaturalShapeThatGrows) {
  const auto build = [] {
    return one_fibre(rods::RootCondition::clamped, [](assembly::Fibre& fibre, assembly::World& world) {
      assembly::set_load(world, assembly::Gravity({0, 0, -gravity}));
      fibre.rest_onset = 0.06;
      fibre.first_rest_curvature = fibre.model->rest_curvature();
      fibre.last_rest_curvature = Vector3(30, -20, 90).replicate(elements, 1);
    });
  };
  expect_balance(build);
}

/// A straight fibre that rests on a bar without friction; the root comes down, or the bar up: smoothly from rest, so
/// that nothing is lost in an impact.
Built pressed_on_a_bar(bool root_moves) {
  Built out = one_fibre(rods::RootCondition::clamped, [&](assembly::Fibre& fibre, assembly::World&) {
    fibre.model = fibre.model->with_rest_curvature(VectorX::Zero(3 * elements));
    if (!root_moves) return;
    fibre.root_motion.interpolation = bodies::Motion::Interpolation::smooth;
    fibre.root_motion.keyframes = {{0.0, Vector3::Zero(), Vector3::Zero()},
                                   {0.08, Vector3(0, 0, -5e-3), Vector3(0, 0.1, 0)}};
  });
  constexpr double bar_radius = 1e-3;
  const Vector3 middle(0.6 * length, 0, -radius - bar_radius);
  bodies::Obstacle bar{"bar",
                       "bar",
                       bodies::Capsule{middle - Vector3(0, 0.01, 0), middle + Vector3(0, 0.01, 0), bar_radius},
                       Vector3::Zero(),
                       {}};
  if (!root_moves) {
    bar.motion.interpolation = bodies::Motion::Interpolation::smooth;
    bar.motion.keyframes = {{0.0, Vector3::Zero(), Vector3::Zero()}, {0.08, Vector3(0, 0, 5e-3), Vector3(0, 0.1, 0)}};
  }
  test::add(out.world, bar);
  return out;
}

TEST(WorkExternal, OfARootThatPressesItsFibreOnABar) {
  expect_balance([] { return pressed_on_a_bar(true); });
}

TEST(WorkExternal, OfABarThatLiftsAFibre) {
  expect_balance([] { return pressed_on_a_bar(false); });
}

/// A plane slides away under a strand at rest: friction pulls with mu m g until the strand keeps up. What the plane
/// puts in is that force times its own way.
TEST(WorkExternal, OfAPlaneThatDragsAStrandAlongIsFrictionTimesThePlanesWay) {
  const double mu = 0.3;
  const double speed = 0.2;
  Built built;
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
  assembly::set_load(built.world, assembly::Gravity({0, 0, -gravity}));
  Pose root;
  root.position = {0, 0, radius};
  assembly::Fibre fibre = test::fibre(elements, length, radius, material, root, rods::RootCondition::free);
  const double mass = fibre.model->mass();
  test::add(built.world, built.state, std::move(fibre));
  bodies::Obstacle plane{"plane", "plane", bodies::Plane{Vector3::Zero(), Vector3::UnitZ()}, Vector3::Zero(), {}};
  plane.motion.velocity = {speed, 0, 0};
  test::add(built.world, plane);
  const double dt = 1e-3;
  Stepper stepper(std::move(built.world), test::step_options(dt), std::move(built.state));
  const int sliding = 60;  // it keeps up after speed / (mu g) = 68 ms
  StepReport report;
  for (int i = 0; i < sliding; ++i) report = stepper.step();
  const double force = mu * mass * gravity;
  EXPECT_NEAR(report.work_external / (force * speed * sliding * dt), 1.0, 1e-6);
  EXPECT_NEAR(report.obstacles[0].force[0] / -force, 1.0, 1e-6);
  EXPECT_NEAR(report.energies.kinetic / (0.5 * mass * std::pow(mu * gravity * sliding * dt, 2)), 1.0, 1e-6);
  // Once at the plane's speed, no more work: its kinetic energy is half of what was put in.
  for (int i = 0; i < 40; ++i) report = stepper.step();
  EXPECT_NEAR(report.energies.kinetic / (0.5 * mass * speed * speed), 1.0, 1e-6);
  EXPECT_NEAR(report.work_external / (mass * speed * speed), 1.0, 1e-6);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
