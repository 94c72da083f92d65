#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/inverse/critical_stiffness.hpp>
#include <tresse/inverse/rest_shape.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/equilibrium.hpp>

#include "support/worlds.hpp"

// Inverse statics against the forward code: what was inverted is asked for its equilibrium, and let go.
namespace tresse {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

const Vector3 gravity(0.0, 0.0, -9.81);

rods::Material hair(double stiffness = 1.0) {
  return {.density = 1300.0, .young_modulus = 3e9 * stiffness, .poisson_ratio = 0.3, .damping_time = 1e-3};
}

enum class Model { helix, clothoid, discrete, springs };

/// Curled, elliptic where that may be, in a stiff enough shape.
std::unique_ptr<rods::Rod> curl(Model model, int elements, const rods::Material& material) {
  const double length = 0.08 / elements;
  const rods::CrossSection round = rods::CrossSection::circle(6e-5), section{6e-5, 4e-5};
  const auto n = static_cast<std::size_t>(elements);
  const auto root = rods::RootCondition::clamped;
  std::unique_ptr<rods::Rod> out;
  if (model == Model::helix)
    out = rods::make_super_helix(std::vector<rods::SuperHelixElement>(n, {length, section, Vector3::Zero()}), material,
                                 root);
  if (model == Model::clothoid)
    out = rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(n, {length, section}),
                                    std::vector<Vector3>(n + 1, Vector3::Zero()), material, root);
  if (model == Model::discrete)
    out = rods::make_discrete_elastic_rod(std::vector<rods::RodEdge>(n, {length, section, Vector3::Zero()}), material,
                                          root);
  if (model == Model::springs)
    out = rods::make_mass_spring(std::vector<rods::RodEdge>(n, {length, round, Vector3::Zero()}), material, root);
  VectorX shape(out->rest_curvature().size());
  for (Eigen::Index i = 0; i < shape.size(); i += 3) {
    const double s = static_cast<double>(i) / static_cast<double>(shape.size());
    // Points hold a bend in the plane of gravity alone, and nothing keeps a curl from swinging over.
    shape.segment<3>(i) = model == Model::springs ? Vector3(0.0, 12.0, 0.0) : Vector3(10.0, 40.0 - 30.0 * s, 25.0 * s);
  }
  out->update(out->shaped({}, {}, shape, VectorX::Zero(shape.size())));
  return out;
}

class InverseRoundTrip : public ::testing::TestWithParam<Model> {};
std::string name_of(const ::testing::TestParamInfo<Model>& tested) {
  constexpr const char* names[] = {"helix", "clothoid", "discrete", "springs"};
  return names[tested.index];
}
INSTANTIATE_TEST_SUITE_P(Models, InverseRoundTrip,
                         ::testing::Values(Model::helix, Model::clothoid, Model::discrete, Model::springs), name_of);

TEST_P(InverseRoundTrip, TheEquilibriumIsTheShapeThatWasAskedFor) {
  const auto wanted = curl(GetParam(), 10, hair(GetParam() == Model::springs ? 10.0 : 1.0));
  const inverse::RestingRod found = inverse::resting_rod(*wanted, {.gravity = gravity});
  ASSERT_EQ(found.status, Status::converged);
  const auto rod = found.model->make_rod();
  // From a shape beside it.
  const VectorX start = 0.97 * wanted->curvature();
  const statics::Equilibrium rest = statics::solve_equilibrium(
      *rod, rod->shaped({}, {}, start, VectorX::Zero(start.size())), gravity, {.tolerance = 1e-13});
  EXPECT_TRUE(rest.stable());
  double farthest = 0.0;  // of the ends of elements
  for (int j = 0; j <= rod->piece_count(); ++j)
    farthest = std::max(
        farthest,
        (rod->section(rod->piece_begin(j)).position - wanted->section(wanted->piece_begin(j)).position).norm());
  const double error = (rest.curvature - wanted->curvature()).norm() / wanted->curvature().norm();
  if (printing()) std::printf("%.1e of the curvature, %.1e m\n", error, farthest);
  EXPECT_LT(farthest, 1e-10 * wanted->length());
  // The curvature of nodes is a small difference of their places, and EA is large.
  const bool nodal = GetParam() == Model::discrete || GetParam() == Model::springs;
  EXPECT_LT(error, nodal ? 1e-6 : 1e-10);
}

/// Two seconds by time steps, from rest: no farther than a nanometre.
TEST_P(InverseRoundTrip, ARunStaysWhereItBegins) {
  const auto wanted = curl(GetParam(), 10, hair(GetParam() == Model::springs ? 10.0 : 1.0));
  const inverse::RestingRod found = inverse::resting_rod(*wanted, {.gravity = gravity});
  assembly::World world;
  assembly::set_load(world, assembly::Gravity(gravity));
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  assembly::Fibre fibre;
  fibre.model = found.model;
  dynamics::SimulationState state;
  state.rods.push_back(wanted->state());
  world.fibres.push_back(fibre);
  const Vector3 tip = wanted->section(wanted->length()).position;
  dynamics::Stepper stepper(std::move(world), test::step_options(0.01), std::move(state));
  double farthest = 0.0;
  for (int i = 0; i < 200; ++i) {
    static_cast<void>(stepper.step());
    const rods::Rod& rod = stepper.kinematics().rod(0);
    farthest = std::max(farthest, (rod.section(rod.length()).position - tip).norm());
  }
  if (printing()) std::printf("drift %.1e m\n", farthest);
  EXPECT_LT(farthest, 1e-9);
}

/// bertails2018hdr sec. 4.2.2, with the exact condition: on either side of the critical stiffness.
TEST(Inverse, TheShapeIsStableAboveTheCriticalStiffnessAlone) {
  for (const Model model : {Model::helix, Model::clothoid, Model::discrete}) {
    auto upright = curl(model, 8, hair());
    const Pose root{Vector3::Zero(), Eigen::AngleAxisd(-0.5 * M_PI, Vector3::UnitY()).toRotationMatrix()};
    const auto place = [&](rods::Rod& rod) {
      const VectorX shape = 0.2 * upright->curvature();
      rod.update(rod.shaped(root, {}, shape, VectorX::Zero(shape.size())));
    };
    const auto drawn = curl(model, 8, hair());
    place(*drawn);
    const double critical = inverse::critical_stiffness(*drawn, gravity).scale;
    ASSERT_GT(critical, 0.0);
    for (const double factor : {1.01, 0.99}) {
      const auto rod = curl(model, 8, hair(factor * critical));
      place(*rod);
      const inverse::RestingRod found = inverse::resting_rod(*rod, {.gravity = gravity});
      const auto rests = found.model->make_rod();
      const statics::Equilibrium rest = statics::solve_equilibrium(*rests, rod->state(), gravity, {.load_steps = 1});
      const double moved = (rest.curvature - rod->curvature()).norm() / rod->curvature().norm();
      if (printing())
        std::printf("%.2f: relative stiffness %.4f, moved %.1e\n", factor, rest.relative_stiffness, moved);
      if (factor > 1.0) {
        EXPECT_TRUE(rest.stable());
        EXPECT_NEAR(rest.relative_stiffness, 1.0 - 1.0 / factor, 1e-4);
        EXPECT_LT(moved, 1e-6);
      } else {
        EXPECT_TRUE(!rest.stable() || moved > 1e-3);  // a saddle is left
      }
    }
  }
}

/// Rods of as many elements as a hundred points have segments.
TEST(Inverse, ManyLongStrandsAreAtRestToRounding) {
  constexpr int strands = 1900, points = 100;
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  std::vector<std::unique_ptr<rods::Rod>> rods;
  for (int f = 0; f < strands; ++f) {
    rods.push_back(curl(Model::helix, points - 1, hair()));
    const VectorX shape = uniform(engine) * rods.back()->curvature();
    rods.back()->update(rods.back()->shaped({}, {}, shape, VectorX::Zero(shape.size())));
  }
  double worst = 0.0;
  for (const auto& rod : rods) worst = std::max(worst, inverse::resting_rod(*rod, {.gravity = gravity}).residual);
  EXPECT_LT(worst, 1e-12);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
