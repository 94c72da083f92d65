#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>
#include <tresse/surfaces/developable_patch.hpp>

// How a patch moves: conservation laws, closed forms, and statics as the end of damped motion.
namespace tresse::surfaces {
namespace TRESSE_TEST_FILE {

constexpr double pi = std::numbers::pi;

/// Half a millimetre of a polymer.
PatchMaterial square() {
  return {.length = 0.2, .width = 0.2, .area_density = 0.5, .rigidity = 0.0115, .poisson_ratio = 0.3};
}

double total(const SurfaceEnergies& e) { return e.kinetic + e.elastic + e.gravity; }

/// Steps that must all converge.
SurfaceState after(const DevelopablePatch& patch, SurfaceState state, const SurfaceStep& step, int steps) {
  for (int i = 0; i < steps; ++i) {
    SurfaceStepResult result = patch.advance(state, step);
    EXPECT_EQ(result.status, Status::converged) << i << ": " << result.residual;
    state = std::move(result.end);
  }
  return state;
}

TEST(PatchMotion, MidpointKeepsTheEnergyOfASquareClampedAtACorner) {
  PatchMaterial material = square();
  material.natural_curvature = 12.0;
  material.natural_angle = 0.5;
  const DevelopablePatch patch(material);
  const SurfaceStep step{.dt = 2e-4, .theta = 0.5, .gravity = {0.0, 0.0, -9.81}};
  SurfaceState state = patch.state_of({.curvature = 12.0, .angle = 0.5});
  const double begin = total(patch.energies(state, step.gravity));
  double scale = 0.0, off = 0.0;
  constexpr double asked = 1e-6;    // of the largest kinetic energy
  for (int i = 0; i < 2500; ++i) {  // half a second of the five that are asked for
    const SurfaceStepResult result = patch.advance(state, step);
    ASSERT_EQ(result.status, Status::converged) << i << ": " << result.residual;
    state = result.end;
    const SurfaceEnergies now = patch.energies(state, step.gravity);
    scale = std::max(scale, now.kinetic);
    off = std::max(off, std::abs(total(now) - begin));
  }
  EXPECT_LT(off, asked * scale);
  EXPECT_GT(scale, 1e-6);  // it moves [J]
  RecordProperty("energy", std::to_string(off / scale));
}

/// About a natural curvature both unknowns swing: the two frequencies of K x = omega^2 M x.
TEST(PatchMotion, SmallSwingsHaveTheFrequenciesOfMassAndStiffness) {
  PatchMaterial material = square();
  material.natural_curvature = 2.0;
  material.natural_angle = 0.3;
  const DevelopablePatch patch(material);
  const Eigen::Matrix2d mass = patch.integrals(2.0, 0.3, PatchVector::Zero()).mass.topLeftCorner<2, 2>();
  const double whole = material.rigidity * material.length * material.width;
  const Eigen::Matrix2d stiffness = Eigen::Vector2d(whole, 2.0 * 0.7 * 4.0 * whole).asDiagonal();  // written out
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::Matrix2d> modes(stiffness, mass);
  for (int mode = 0; mode < 2; ++mode) {
    const double omega = std::sqrt(modes.eigenvalues()[mode]);
    const Eigen::Vector2d shape = modes.eigenvectors().col(mode) / modes.eigenvectors().col(mode).norm();
    constexpr int steps = 1000;
    constexpr double small = 1e-5;
    const SurfaceStep step{.dt = 2.0 * pi / omega / steps, .theta = 0.5};
    const SurfaceState end = after(
        patch, patch.state_of({.curvature = 2.0 + small * shape[0], .angle = 0.3 + small * shape[1]}), step, steps);
    // After a period it is back, late by 2 pi (omega dt)^2 / 12 of phase.
    const double late = 2.0 * pi * std::pow(2.0 * pi / steps, 2) / 12.0;
    const Eigen::Vector2d off = end.position.head<2>() - Eigen::Vector2d(2.0, 0.3) - small * shape;
    EXPECT_LT(off.norm(), 1e-3 * small);  // amplitudes squared
    const double phase = end.velocity.head<2>().dot(mass * shape) / (small * omega * shape.dot(mass * shape));
    EXPECT_NEAR(phase, late, 0.2 * late);
  }
}

TEST(PatchMotion, AFreePatchKeepsItsMomenta) {
  PatchMaterial material = square();
  material.clamped = false;
  material.natural_curvature = 12.0;
  const DevelopablePatch patch(material);
  PatchState from{.curvature = 10.0, .angle = 0.4};
  from.frame = {{0.1, -0.2, 0.3}, math::rotation_exp({0.3, 0.5, -0.2})};
  from.velocity = {{0.2, 0.1, -0.3}, {1.0, -2.0, 0.7}};
  const auto momenta = [&](const SurfaceState& state) {
    const PatchState at = patch.patch_state(state);
    const Matrix3 turn = at.frame.frame.transpose();
    PatchVector v;
    v << at.curvature_rate, at.angle_rate, turn * at.velocity.linear, turn * at.velocity.angular;
    const PatchVector p = patch.integrals(at.curvature, at.angle, v).mass * v;
    const Vector3 linear = at.frame.frame * p.segment<3>(2);
    Eigen::Matrix<double, 6, 1> out;
    out.head<3>() = linear;
    out.tail<3>() = at.frame.frame * p.tail<3>() + at.frame.position.cross(linear);
    return out;
  };
  const SurfaceStep step{.dt = 5e-4, .theta = 0.5};
  SurfaceState state = patch.state_of(from);
  const auto begin = momenta(state);
  state = after(patch, state, step, 200);
  constexpr double rounding = 1e-10;  // of Newton's tolerance over 200 steps
  EXPECT_LT((momenta(state) - begin).norm(), rounding * begin.norm());
  // What the energy is off by is of second order.
  const auto off = [&](int steps) {
    const SurfaceState end = after(patch, patch.state_of(from), {.dt = 0.01 / steps, .theta = 0.5}, steps);
    return total(patch.energies(end, Vector3::Zero())) / total(patch.energies(patch.state_of(from), Vector3::Zero())) -
           1.0;
  };
  EXPECT_NEAR(off(50) / off(100), 4.0, 0.1);
  // In a field the momentum grows by the weight.
  const SurfaceStep falls{.dt = 5e-4, .theta = 0.5, .gravity = {0.0, 0.0, -9.81}};
  const auto fallen = momenta(after(patch, patch.state_of(from), falls, 100));
  const double mass = material.area_density * material.length * material.width;
  EXPECT_NEAR(fallen[2] - begin[2], -9.81 * 0.05 * mass, rounding * mass);
}

TEST(PatchMotion, StepsAreOfSecondOrder) {
  PatchMaterial material = square();
  material.natural_curvature = 3.0;
  const DevelopablePatch patch(material);
  const SurfaceState from = patch.state_of({.curvature = 4.0, .angle = 0.6});
  const auto end = [&](int steps) {
    return after(patch, from, {.dt = 0.02 / steps, .theta = 0.5, .gravity = {0.0, 0.0, -9.81}}, steps).position;
  };
  const VectorX coarse = end(20), middle = end(40), fine = end(80);
  EXPECT_NEAR(std::log2((coarse - middle).norm() / (middle - fine).norm()), 2.0, 0.1);
}

/// By trying all directions of a grid: the acceleration of points u^2 / 2 k'' e_3 that departs least from gravity.
TEST(PatchMotion, AFlatPatchBendsAlongTheDirectionOfLeastConstraint) {
  PatchMaterial material = square();
  material.length = 0.4;
  const DevelopablePatch patch(material);
  const SurfaceStep step{.dt = 1e-4, .theta = 1.0, .gravity = {0.0, 0.0, -9.81}};
  const double found = patch.angle_out_of_flat({}, step);
  const auto constraint = [&](double t) {
    double fit = 0.0, square_sum = 0.0;
    constexpr int n = 200;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const double u = 0.4 * (i + 0.5) / n * std::cos(t) + 0.2 * (j + 0.5) / n * std::sin(t);
        fit += 0.5 * u * u;
        square_sum += 0.25 * u * u * u * u;
      }
    }
    return -fit * fit / square_sum;  // int (g - u^2/2 k'')^2 at the best k'', but for a constant
  };
  double best = 0.0;
  for (int i = 0; i < 1800; ++i) {
    const double t = pi * i / 1800.0;
    if (constraint(t) < constraint(best)) best = t;
  }
  EXPECT_NEAR(std::remainder(found - best, pi), 0.0, pi / 900.0);
  // And so it starts: downwards, at that angle.
  const SurfaceState end = after(patch, patch.state_of({}), step, 1);
  EXPECT_LT(end.position[0], 0.0);
  EXPECT_NEAR(std::remainder(end.position[1] - found, pi), 0.0, 1e-9);
}

/// A natural angle across a corner keeps a square symmetric, so that it goes straight through the flat state.
TEST(PatchMotion, ASymmetricPatchGoesThroughTheFlatStateWithItsEnergy) {
  const DevelopablePatch patch(square());
  const double diagonal = 0.25 * pi;
  const double energy = patch.elastic_energy(1.0, diagonal);
  const SurfaceStep step{.dt = 1e-3, .theta = 0.5};
  SurfaceState state = patch.state_of({.curvature = 1.0, .angle = diagonal});
  int changes = 0;
  for (int i = 0; i < 400; ++i) {
    const double before = state.position[0];
    state = after(patch, state, step, 1);
    changes += before * state.position[0] < 0.0 ? 1 : 0;
    EXPECT_NEAR(total(patch.energies(state, Vector3::Zero())), energy, 1e-3 * energy) << i;
    EXPECT_NEAR(std::remainder(state.position[1] - diagonal, pi), 0.0, 1e-6);
  }
  EXPECT_GE(changes, 1);
}

TEST(PatchMotion, DampedMotionEndsInTheRestThatStaticsFind) {
  PatchMaterial material = square();
  material.natural_curvature = 3.0;
  material.natural_angle = 0.5;
  material.damping_time = 0.02;
  const DevelopablePatch patch(material);
  const Vector3 gravity(0.0, 0.0, -2.0);
  const PatchState from{.curvature = 3.0, .angle = 0.5};
  const PatchRest rest = patch.rest(from, gravity);
  EXPECT_EQ(rest.status, Status::converged);
  EXPECT_LT(rest.residual, 1e-11);
  EXPECT_TRUE(rest.stable());
  const SurfaceState end = after(patch, patch.state_of(from), {.dt = 0.05, .theta = 1.0, .gravity = gravity}, 400);
  constexpr double settled = 1e-8;
  EXPECT_NEAR(end.position[0], rest.state.curvature, settled * std::abs(rest.state.curvature));
  EXPECT_NEAR(end.position[1], rest.state.angle, settled);
  EXPECT_LT(std::abs(end.velocity[0]), settled);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::surfaces
