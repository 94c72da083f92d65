#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <Eigen/Geometry>

#include "support/worlds.hpp"

namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
const rods::Material hair{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.48, .damping_time = 2e-3};

struct Built {
  assembly::World world;
  SimulationState state;
};

/// Strand at rest on a plane inclined by `angle` about y, lying along the slope (x) or across it.
Built strand_on_incline(double angle, double mu, bool across) {
  Built out;
  const Matrix3 slope = Eigen::AngleAxisd(angle, Vector3::UnitY()).toRotationMatrix();
  const double radius = 1e-4;
  Pose root;
  root.frame = across ? Matrix3(slope * Eigen::AngleAxisd(M_PI / 2, Vector3::UnitZ()).toRotationMatrix()) : slope;
  root.position = slope * Vector3(0, 0, radius);
  test::add(out.world, out.state, test::fibre(4, 0.02, radius, hair, root, rods::RootCondition::free));
  test::add(out.world,
            {"plane", "plane", bodies::Plane{Vector3::Zero(), slope * Vector3::UnitZ()}, Vector3::Zero(), {}});
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
  assembly::set_load(out.world, assembly::Gravity({0, 0, -gravity}));
  return out;
}

Vector3 tip_velocity(const Stepper& stepper) {
  const rods::Rod& rod = stepper.kinematics().rod(0);
  return rod.velocity(rod.piece_count() - 1, 0.0, rods::generalised_velocity(rod, rod.state()));
}

TEST(Stepper, StrandSticksBelowTheFrictionAngleAndSlidesAboveIt) {
  const double mu = 0.3;
  const double threshold = std::atan(mu);
  for (const bool across : {false, true}) {
    for (const double offset : {-0.02, 0.02, 0.15}) {
      const double angle = threshold + offset;
      Built built = strand_on_incline(angle, mu, across);
      if (across) built.world.contact_at = assembly::ContactAt::centreline;  // at the surface it rolls
      Stepper stepper(std::move(built.world), test::step_options(1e-3), std::move(built.state));
      double worst_residual = 0.0;
      for (int i = 0; i < 100; ++i) worst_residual = std::max(worst_residual, stepper.step().residual);
      EXPECT_LE(worst_residual, 1e-12);
      const double speed = tip_velocity(stepper).norm();
      if (offset < 0) {
        EXPECT_LT(speed, 1e-10) << "creeps, across " << across;
      } else {
        const double expected = gravity * (std::sin(angle) - mu * std::cos(angle)) * stepper.time();
        EXPECT_NEAR(speed / expected, 1.0, 1e-6) << "offset " << offset << " across " << across;
      }
    }
  }
}

TEST(Stepper, AFreeStrandFallsAsAParabola) {
  Built built;
  test::add(built.world, built.state, test::fibre(6, 0.1, 1e-4, hair, {}, rods::RootCondition::free));
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::set_load(built.world, assembly::Gravity({0, 0, -gravity}));
  const double dt = 1e-3;
  Stepper stepper(std::move(built.world), test::step_options(dt), std::move(built.state));
  for (int i = 0; i < 200; ++i) static_cast<void>(stepper.step());
  const rods::Rod& rod = stepper.kinematics().rod(0);
  // Semi-implicit Euler on a constant acceleration: z = -g dt^2 n (n + 1) / 2, exactly.
  EXPECT_NEAR(rod.section(0.05).position[2], -gravity * dt * dt * 200 * 201 / 2, 1e-12);
  EXPECT_NEAR(tip_velocity(stepper)[2], -gravity * 0.2, 1e-11);
}

/// Curls that fall onto a bar and onto each other, with friction.
Built falling_curls(int count = 2) {
  Built built;
  for (int i = 0; i < count; ++i) {
    Pose root;
    root.position = {0, 1e-3 * i, 5e-3 * (i % 2)};
    assembly::Fibre fibre = test::fibre(6, 0.1, 1e-4, hair, root, rods::RootCondition::clamped);
    fibre.model = fibre.model->with_rest_curvature(Vector3(0, 0, 60).replicate(6, 1));
    test::add(built.world, built.state, std::move(fibre));
    built.state.rods.back().coordinates.setZero();
  }
  test::add(built.world,
            {"bar", "bar", bodies::Capsule{{0.05, -0.1, -0.01}, {0.05, 0.1, -0.01}, 1e-3}, Vector3::Zero(), {}});
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.2));
  assembly::set_load(built.world, assembly::Gravity({0, 0, -gravity}));
  return built;
}

std::string bits(const SimulationState& state) {
  std::string out;
  for (const rods::RodState& rod : state.rods) {
    for (const VectorX* v : {&rod.coordinates, &rod.rates}) {
      out.append(reinterpret_cast<const char*>(v->data()), sizeof(double) * static_cast<std::size_t>(v->size()));
    }
  }
  return out;
}

TEST(Stepper, BitsDoNotDependOnThreadsNorOnWhereARunWasCut) {
  const auto run = [](int threads, int cut) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
    Built built = falling_curls();
    auto stepper = std::make_unique<Stepper>(std::move(built.world), test::step_options(1e-3), std::move(built.state));
    int contacts = 0;
    for (int i = 0; i < 300; ++i) {
      if (i == cut) {
        stepper = std::make_unique<Stepper>(falling_curls().world, test::step_options(1e-3), stepper->state());
      }
      contacts += stepper->step().contacts;
    }
    EXPECT_GT(contacts, 20);
    return bits(stepper->state());
  };
  const std::string reference = run(1, -1);
  EXPECT_EQ(run(2, -1), reference);
  EXPECT_EQ(run(1, 177), reference);
}

/// A program may step several at once on the threads that each of them uses itself.
TEST(Stepper, WorldsSteppedSideBySideDoNotDisturbEachOther) {
  const auto run = [] {
    Built built = falling_curls(20);
    Stepper stepper(std::move(built.world), test::step_options(1e-3), std::move(built.state));
    int contacts = 0;
    for (int i = 0; i < 80; ++i) contacts += stepper.step().contacts;
    EXPECT_GT(contacts, 300);
    return bits(stepper.state());
  };
  const std::string reference = run();
  std::vector<std::string> results(4);
  oneapi::tbb::parallel_for(std::size_t{0}, results.size(), [&](std::size_t k) { results[k] = run(); });
  for (const std::string& result : results) EXPECT_TRUE(result == reference);
}

TEST(Stepper, EnergyOnlyFallsWhenNothingDrivesIt) {
  Built built = falling_curls();
  Stepper stepper(std::move(built.world), test::step_options(2.5e-4), std::move(built.state));
  double previous = INFINITY;
  double largest = 0.0;
  double worst_rise = 0.0;
  for (int i = 0; i < 800; ++i) {
    const StepReport report = stepper.step();
    const double total = report.energies.kinetic + report.energies.elastic + report.energies.gravity;
    largest = std::max(largest, report.energies.elastic);
    worst_rise = std::max(worst_rise, total - previous);
    previous = total;
    EXPECT_EQ(report.work_external, 0.0);
  }
  EXPECT_LT(worst_rise, 1e-3 * largest);  // the explicit convective term is first order
}

TEST(Stepper, RefusesBadOptionsAndStates) {
  Built built = falling_curls();
  EXPECT_THROW(Stepper(falling_curls().world, test::step_options(0.0), built.state), std::runtime_error);
  built.state.rods.pop_back();
  EXPECT_THROW(Stepper(falling_curls().world, test::step_options(1e-3), built.state), std::runtime_error);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
