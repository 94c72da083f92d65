#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

/// The scheme that takes every term at the end of the step.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
constexpr double damping_time = 1e-3;
constexpr double drag = 1e-4;
constexpr int elements = 3;
const rods::Material soft{.density = 1000.0, .young_modulus = 2e7, .poisson_ratio = 0.48, .damping_time = damping_time};

struct Built {
  assembly::World world;
  SimulationState state;
};

/// A curl that swings: far from its natural shape, and fast enough for the velocity terms to matter.
Built swinging_curl() {
  Built out;
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::set_load(out.world, assembly::Gravity({0, 0, -gravity}));
  assembly::Fibre fibre = test::fibre(elements, 0.06, 1e-4, soft, {}, rods::RootCondition::clamped);
  fibre.model = fibre.model->with_rest_curvature(Vector3(10, 20, 40).replicate(elements, 1));
  fibre.drag = drag;
  test::add(out.world, out.state, std::move(fibre));
  out.state.rods[0].coordinates += Vector3(20, -30, 10).replicate(elements, 1);
  out.state.rods[0].rates = Vector3(500, -1000, 1500).replicate(elements, 1);
  return out;
}

StepOptions nonlinear_options(double dt) {
  StepOptions options = test::step_options(dt);
  options.scheme = Scheme::nonlinear;
  return options;
}

rods::RodState with(const rods::RodState& state, const VectorX& curvature, const VectorX& rate) {
  rods::RodState out = state;
  out.coordinates = curvature;
  out.rates = rate;
  return out;
}

/// Kinetic energy, exactly quadratic in the rates.
double kinetic(rods::Rod& rod, const rods::RodState& state, const VectorX& q, const VectorX& v) {
  rod.update(with(state, q, v));
  return rod.energies(Vector3::Zero()).kinetic;
}

/// dT/dv along each unit rate, by polarisation: no truncation error.
VectorX momentum(rods::Rod& rod, const rods::RodState& state, const VectorX& q, const VectorX& v) {
  const Eigen::Index m = q.size();
  const double size = v.lpNorm<Eigen::Infinity>();
  VectorX out(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const VectorX e = size * VectorX::Unit(m, i);
    out[i] = (kinetic(rod, state, q, v + e) - kinetic(rod, state, q, v - e)) / (2 * size);
  }
  return out;
}

/// Gradient with respect to the curvatures of a function of them, by central differences.
template <typename Function>
VectorX difference(const Function& f, const VectorX& q, double h) {
  VectorX out(q.size());
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const VectorX e = h * VectorX::Unit(q.size(), i);
    out[i] = (f(q + e) - f(q - e)) / (2 * h);
  }
  return out;
}

/// Lagrange's equations at the end of an implicit Euler step, from energies alone:
///   M(q+) (v+ - v) / dt + (d/dt dT/dv - M v' - dT/dq)(q+, v+) + dV/dq(q+) + eta K v+ + drag = 0.
/// Returns the residual relative to the largest term.
double lagrange_residual(rods::Rod& rod, const rods::RodState& before, const rods::RodState& after, double dt) {
  const VectorX& q = after.coordinates;
  const VectorX& v = after.rates;
  const double h = 1e-3;       // of curvatures of about 40 per metre: truncation and rounding are below 1e-7
  const double h_time = 1e-6;  // v h_time is about as much
  const VectorX rest = rod.rest_curvature();
  const auto kinetic_at = [&](const VectorX& x) { return kinetic(rod, after, x, v); };
  const auto potential = [&](const VectorX& x) {
    rod.update(with(after, x, v));
    const rods::RodEnergies energies = rod.energies({0, 0, -gravity});
    return energies.elastic + energies.gravity;
  };
  const auto stretch = [&](const VectorX& x) {
    rod.update(with(after, rest + x, v));
    return rod.elastic_energy();
  };
  const std::array<VectorX, 6> terms = {
      momentum(rod, after, q, (v - before.rates) / dt),
      (momentum(rod, after, q + h_time * v, v) - momentum(rod, after, q - h_time * v, v)) / (2 * h_time),
      -difference(kinetic_at, q, h),
      difference(potential, q, h),
      damping_time * difference(stretch, v, v.lpNorm<Eigen::Infinity>()),  // the elastic energy is quadratic
      drag * rod.length() / rod.mass() * momentum(rod, after, q, v)};      // uniform: the same form as kinetic energy
  VectorX residual = VectorX::Zero(q.size());
  double largest = 0.0;
  for (const VectorX& term : terms) {
    residual += term;
    largest = std::max(largest, term.norm());
  }
  for (const VectorX& term : terms) EXPECT_GT(term.norm(), 1e-3 * largest) << "a term too small to be tested";
  return residual.norm() / largest;
}

TEST(Nonlinear, OneStepSolvesLagrangesEquationsAtItsEnd) {
  constexpr double difference_error = 1e-6;
  Built built = swinging_curl();
  const rods::RodState before = built.state.rods[0];
  const double dt = 1e-3;
  Stepper stepper(std::move(built.world), nonlinear_options(dt), std::move(built.state));
  const StepReport report = stepper.step();
  EXPECT_LE(report.nonlinear_residual, stepper.options().nonlinear_tolerance);
  const rods::RodState& after = stepper.state().rods[0];
  EXPECT_LT((after.coordinates - before.coordinates - dt * after.rates).norm(), 1e-12 * after.coordinates.norm());
  const auto rod = stepper.kinematics().rod(0).clone();
  EXPECT_LT(lagrange_residual(*rod, before, after, dt), difference_error);

  // The other scheme, of the same step, does not: the check can tell.
  Built other = swinging_curl();
  Stepper linear(std::move(other.world), test::step_options(dt), std::move(other.state));
  static_cast<void>(linear.step());
  EXPECT_GT(lagrange_residual(*rod, before, linear.state().rods[0], dt), 1e-2);
}

VectorX curvature_at(double end, const StepOptions& options) {
  Built built = swinging_curl();
  Stepper stepper(std::move(built.world), options, std::move(built.state));
  for (int i = 0; i < static_cast<int>(std::lround(end / options.dt)); ++i) {
    EXPECT_LE(stepper.step().nonlinear_residual, options.nonlinear_tolerance);
  }
  return stepper.state().rods[0].coordinates;
}

/// Both are first order: their difference halves with the step.
TEST(Nonlinear, AgreesWithTheSemiImplicitSchemeAsStepsShrink) {
  const double end = 0.02;
  std::array<double, 3> difference{};
  VectorX finest;
  for (int i = 0; i < 3; ++i) {
    const double dt = 2e-4 / (1 << i);
    finest = curvature_at(end, nonlinear_options(dt));
    StepOptions semi_implicit = test::step_options(dt);
    semi_implicit.scheme = Scheme::semi_implicit;
    difference[i] = (finest - curvature_at(end, semi_implicit)).norm();
  }
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(difference[i] / difference[i + 1], 2.0, 0.3);
  EXPECT_LT(difference[2], 0.05 * finest.norm());
}

/// A curl that drops on a bar: the contact and every force of the fibre are at the end of the step together.
TEST(Nonlinear, ConvergesWithContactAndLeavesNoOverlap) {
  Built built = swinging_curl();
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  built.state.rods[0].coordinates.setZero();
  built.state.rods[0].rates.setZero();
  test::add(built.world,
            {"bar", "bar", bodies::Capsule{{0.03, -0.1, -2e-3}, {0.03, 0.1, -2e-3}, 1e-3}, Vector3::Zero(), {}});
  Stepper stepper(std::move(built.world), nonlinear_options(5e-4), std::move(built.state));
  int contacts = 0;
  double deepest = 0.0;
  for (int i = 0; i < 200; ++i) {
    const StepReport report = stepper.step();
    EXPECT_LE(report.nonlinear_residual, stepper.options().nonlinear_tolerance) << i;
    EXPECT_LE(report.residual, stepper.options().solver.tolerance) << i;
    contacts += report.contacts;
    deepest = std::max(deepest, report.max_penetration);
  }
  EXPECT_GT(contacts, 100);
  EXPECT_LE(deepest, stepper.options().overlap_tolerance);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
