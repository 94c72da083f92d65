#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include <Eigen/LU>

#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/super_clothoid.hpp>

#include "support/worlds.hpp"

/// The scheme that takes the inertial force A linearised in the velocity about that of the start.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr int elements = 4;
constexpr double dt = 2e-3;
const Vector3 gravity{0.0, 1.0, -9.81};
const rods::Material soft{.density = 1100.0, .young_modulus = 1e6, .poisson_ratio = 0.4, .damping_time = 1e-3};

struct Built {
  assembly::World world;
  SimulationState state;
};

enum class Model { helix, clothoid };

std::string name_of(const testing::TestParamInfo<std::tuple<Model, rods::RootCondition>>& info) {
  return std::string(std::get<0>(info.param) == Model::helix ? "helix" : "clothoid") +
         (std::get<1>(info.param) == rods::RootCondition::free ? "_free" : "_clamped");
}

/// A curled rod that moves so fast that its inertial force is far from that of the end of the step.
Built whirling(Model model, rods::RootCondition condition) {
  Built out;
  assembly::set_load(out.world, assembly::Gravity(gravity));
  out.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(out.world, assembly::Air({0.5, 0.0, 0.0}));
  assembly::Fibre fibre = test::fibre(elements, 0.08, 5e-4, soft, {}, condition);
  if (model == Model::clothoid) {
    const rods::SuperClothoidElement element{0.02, rods::CrossSection::circle(5e-4)};
    fibre.model = rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(elements, element),
                                            std::vector<Vector3>(elements + 1, Vector3::Zero()), soft, condition)
                      ->model();
  }
  fibre.drag = 1e-3;
  if (condition == rods::RootCondition::clamped) {
    fibre.root_motion.angular_velocity = {0.0, 3.0, 20.0};
    fibre.root_motion.velocity = {0.2, 0.0, 0.1};
  }
  test::add(out.world, out.state, std::move(fibre));
  rods::RodState& state = out.state.rods[0];
  for (Eigen::Index i = 0; i < state.coordinates.size(); ++i) {
    state.coordinates[i] = 20.0 * std::sin(1.0 + 2.0 * static_cast<double>(i));
    state.rates[i] = 3000.0 * std::cos(3.0 + 5.0 * static_cast<double>(i));
  }
  if (condition == rods::RootCondition::free) state.root_velocity = {{0.3, -0.2, 0.5}, {10.0, 20.0, -15.0}};
  return out;
}

/// -G - A at velocity v, where the rod is.
VectorX inertial_force(rods::Rod& rod, const rods::RodState& at, const VectorX& v, const rods::RodLoads& loads) {
  rods::RodState state = at;
  rods::set_generalised_velocity(rod, v, state);
  rod.update(state);
  VectorX out(rod.dof());
  rod.inertial_and_external_force(loads, out);
  return out;
}

/// The step written out: (M + h D + h^2 K + h drag + h A') (v+ - v) = h (f(q, v) - (h K + D + drag) v), with A' column
/// by column. `rod` is left at the start.
struct LinearStep {
  MatrixX matrix;
  MatrixX slope;  ///< A'
  VectorX impulse;
};

LinearStep written_out(rods::Rod& rod, const rods::RodState& start, const rods::RodLoads& loads, double h) {
  const int n = rod.dof();
  const VectorX v = rods::generalised_velocity(rod, start);
  LinearStep out{MatrixX(n, n), MatrixX(n, n), VectorX(n)};
  const double size = v.lpNorm<Eigen::Infinity>();
  for (int i = 0; i < n; ++i) {
    const VectorX e = size * VectorX::Unit(n, i);
    out.slope.col(i) =
        (inertial_force(rod, start, v - e, loads) - inertial_force(rod, start, v + e, loads)) / (2.0 * size);
  }
  const VectorX force = inertial_force(rod, start, v, loads);
  rod.update(start);
  VectorX elastic(n);
  rod.elastic_force(elastic);
  MatrixX stiff = MatrixX::Zero(n, n);
  rod.add_stiffness(h, 1.0, stiff);
  rod.add_drag_matrix(loads.drag, stiff);
  rod.mass_matrix(out.matrix);
  out.matrix += h * stiff + h * out.slope;
  out.impulse = h * (force + elastic - stiff * v);
  return out;
}

class Linearised : public testing::TestWithParam<std::tuple<Model, rods::RootCondition>> {};

TEST_P(Linearised, OneFreeStepSolvesTheLinearEquation) {
  const auto [model, condition] = GetParam();
  for (const double theta : {1.0, 0.6}) {
    Built built = whirling(model, condition);
    StepOptions options = test::step_options(dt);
    options.scheme = Scheme::linearised;
    options.theta = theta;
    Stepper stepper(std::move(built.world), options, std::move(built.state));
    const rods::RodState start = stepper.state().rods[0];
    const auto rod = stepper.kinematics().rod(0).clone();
    const VectorX v = rods::generalised_velocity(*rod, start);
    const LinearStep step =
        written_out(*rod, start, {gravity, {}, 1e-3, assembly::wind_at(stepper.world(), 0.0), {}}, theta * dt);
    EXPECT_GT((step.slope - step.slope.transpose()).norm(), 0.1 * step.slope.norm())
        << "a symmetric one would be no test";
    const VectorX change = step.matrix.partialPivLu().solve(step.impulse);
    const StepReport report = stepper.step();
    EXPECT_EQ(report.motion_status, Status::converged);
    const VectorX reached = rods::generalised_velocity(*rod, stepper.state().rods[0]);
    const VectorX expected = v + change / theta;
    EXPECT_LT((reached - expected).norm(), 1e-10 * expected.norm()) << theta;

    // The semi-implicit step is another one: the check can tell.
    Built other = whirling(model, condition);
    options.scheme = Scheme::semi_implicit;
    Stepper plain(std::move(other.world), options, std::move(other.state));
    static_cast<void>(plain.step());
    EXPECT_GT((rods::generalised_velocity(*rod, plain.state().rods[0]) - expected).norm(), 1e-3 * expected.norm());
  }
}

INSTANTIATE_TEST_SUITE_P(Rods, Linearised,
                         testing::Combine(testing::Values(Model::helix, Model::clothoid),
                                          testing::Values(rods::RootCondition::clamped, rods::RootCondition::free)),
                         name_of);

VectorX curvature_at(double end, const StepOptions& options) {
  Built built = whirling(Model::helix, rods::RootCondition::clamped);
  Stepper stepper(std::move(built.world), options, std::move(built.state));
  for (int i = 0; i < static_cast<int>(std::lround(end / options.dt)); ++i) EXPECT_TRUE(stepper.step().finite);
  return stepper.state().rods[0].coordinates;
}

TEST(LinearisedInertia, AgreesWithTheSemiImplicitSchemeAsStepsShrink) {
  std::array<double, 3> difference{};
  for (int i = 0; i < 3; ++i) {
    StepOptions options = test::step_options(2e-5 / (1 << i));
    const VectorX plain = curvature_at(0.01, options);
    options.scheme = Scheme::linearised;
    difference[i] = (curvature_at(0.01, options) - plain).norm();
  }
  EXPECT_GT(difference[2], 0.0);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(difference[i] / difference[i + 1], 2.0, 0.3);
}

/// A soft rod falls, swings and cracks like a whip: at this step the inertial force of the start throws it away.
TEST(LinearisedInertia, HoldsALivelySwingTogether) {
  const auto steps_until_wild = [](Scheme scheme) {
    Built built;
    assembly::set_load(built.world, assembly::Gravity({0.0, 0.0, -9.81}));
    built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
    const rods::Material softer{.density = 1000.0, .young_modulus = 1e6, .poisson_ratio = 0.4};
    test::add(built.world, built.state, test::fibre(12, 0.2, 1e-3, softer, {}, rods::RootCondition::clamped));
    StepOptions options = test::step_options(0.01);
    options.scheme = scheme;
    options.broad_phase.self_contact = false;
    Stepper stepper(std::move(built.world), options, std::move(built.state));
    int steps = 0;
    for (; steps < 300; ++steps) {
      const StepReport report = stepper.step();
      const rods::RodEnergies& e = report.energies;
      if (!report.finite || e.kinetic + e.elastic + e.gravity > 0.0) break;  // zero at first, and nothing adds to it
    }
    return steps;
  };
  EXPECT_LT(steps_until_wild(Scheme::semi_implicit), 150);
  EXPECT_EQ(steps_until_wild(Scheme::linearised), 300);
}

/// A rod strikes a bar: with passes until nothing changes, the change of momentum is the impulse of the forces, A'
/// times all of the change of velocity among them, and of contact.
TEST(LinearisedInertia, AnswersToContactInThePasses) {
  const auto error_of = [](Scheme scheme) {
    Built built;
    built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
    const rods::Material loose{.density = 1100.0, .young_modulus = 1e5, .poisson_ratio = 0.4};
    test::add(built.world, built.state, test::fibre(6, 0.1, 5e-4, loose, {}, rods::RootCondition::clamped));
    built.state.rods[0].rates = Vector3(100.0, 60.0, 700.0).replicate(6, 1);
    built.state.rods[0].coordinates = Vector3(5.0, 3.0, 10.0).replicate(6, 1);
    const rods::RodState start = built.state.rods[0];
    const auto first = built.world.fibres[0].model->make_rod();
    first->update(start);
    const rods::RodSection section = first->section(0.06);
    const Vector3 tangent = section.frame.col(0);
    const Vector3 way = first->velocity(3, 0.06 - first->piece_begin(3), start.rates);
    const Vector3 ahead = (way - way.dot(tangent) * tangent).normalized();
    const Vector3 axis = 0.1 * ahead.cross(tangent);
    const Vector3 middle = section.position + 1.55e-3 * ahead;
    test::add(built.world, {"bar", "bar", bodies::Capsule{middle - axis, middle + axis, 1e-3}, Vector3::Zero(), {}});
    StepOptions options = test::step_options(dt);
    options.scheme = scheme;
    options.relinearisations = 30;
    options.max_halvings = 0;
    options.broad_phase.self_contact = false;
    Stepper stepper(std::move(built.world), options, std::move(built.state));
    const auto rod = stepper.kinematics().rod(0).clone();
    const VectorX v = rods::generalised_velocity(*rod, start);
    const LinearStep step = written_out(*rod, start, {}, dt);
    VectorX whitened = VectorX::Zero(rod->dof());  // of what contact gives
    stepper.observe_kept_problems([&](const Stepper::KeptProblem& kept) {
      for (std::size_t i = 0; i < kept.problem.contacts.size(); ++i) {
        const friction::ContactRows& side = kept.problem.contacts[i][0];
        whitened.head(side.columns) += friction::rows_of(kept.problem, side).transpose() *
                                       kept.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
      }
    });
    const StepReport report = stepper.step();
    EXPECT_TRUE(report.finite);
    math::ReverseCholesky symmetric;
    MatrixX upper = step.matrix - dt * step.slope;
    EXPECT_TRUE(symmetric.factor(upper));
    symmetric.velocity_from_whitened(whitened);
    const VectorX impulse = (step.matrix - dt * step.slope) * whitened;
    const VectorX change = rods::generalised_velocity(*rod, stepper.state().rods[0]) - v;
    const VectorX by_contact = step.matrix.partialPivLu().solve(impulse);
    EXPECT_GT(by_contact.norm(), 0.1 * change.norm()) << "no blow";
    return (change - step.matrix.partialPivLu().solve(step.impulse) - by_contact).norm() / by_contact.norm();
  };
  EXPECT_GT(error_of(Scheme::semi_implicit), 1e-2);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
