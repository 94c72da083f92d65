#include <gtest/gtest.h>

#include <support/worlds.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>

/// Fibres pushed end-on: those that are straight and cannot stretch cannot give way, and a step says so.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double length = 0.1;
constexpr double radius = 2e-3;
constexpr double depth = 1e-3;
const rods::Material nylon{.density = 1140.0, .young_modulus = 2.7e9, .poisson_ratio = 0.4, .damping_time = 2e-3};

struct Upright {
  assembly::World world;
  SimulationState state;

  /// Over a floor, its tip `depth` too deep.
  Upright(assembly::Fibre fibre, double bend) {
    fibre.root.position = {0, 0, length + radius - depth};
    fibre.root.frame = math::rotation_exp({0, M_PI / 2, 0});
    test::add(world, {"floor", "floor", bodies::Plane{{0, 0, 0}, {0, 0, 1}}, Vector3::Zero(), {}});
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
    const Eigen::Index pieces = fibre.model->piece_count();
    const VectorX curvature = fibre.model->curvature_of_elements(Vector3(0, 0, bend).replicate(pieces, 1));
    state.rods.push_back(fibre.model->make_rod()->shaped(fibre.root, {}, curvature, VectorX::Zero(curvature.size())));
    world.fibres.push_back(std::move(fibre));
  }
  StepReport step() {
    Stepper stepper(world, test::step_options(1e-3), state);
    return stepper.step();
  }
};

assembly::Fibre helices(rods::RootCondition condition = rods::RootCondition::clamped) {
  return test::fibre(5, length, radius, nylon, {}, condition);
}

TEST(Jammed, AStraightFibreThatCannotStretchIsTold) {
  const StepReport report = Upright(helices(), 0.0).step();
  ASSERT_TRUE(report.jammed);
  EXPECT_NEAR(report.jammed->gap, -depth, 1e-12);
  EXPECT_NEAR(report.jammed->a.s, length, 1e-12);
  EXPECT_EQ(report.jammed->b.body, (BodyId{BodyKind::obstacle, 0}));
  // What cannot give way is no part of the problem, which is solved.
  EXPECT_EQ(report.contacts, 0);
  EXPECT_EQ(report.solver_status, Status::converged);
  EXPECT_EQ(report.parts, 1);
}

TEST(Jammed, ABentOneAFreeOneAndOneThatStretchesGiveWay) {
  assembly::Fibre stretches;
  stretches.model =
      rods::make_discrete_elastic_rod(
          std::vector<rods::RodEdge>(5, {length / 5, rods::CrossSection::circle(radius), Vector3::Zero()}), nylon,
          rods::RootCondition::clamped)
          ->model();
  for (const StepReport& report :
       {Upright(helices(), 0.5).step(), Upright(helices(), 1e-3).step(),
        Upright(helices(rods::RootCondition::free), 0.0).step(), Upright(std::move(stretches), 0.0).step()}) {
    EXPECT_FALSE(report.jammed);
    EXPECT_LT(report.obstacles[0].force.z(), 0.0);
  }
}

TEST(Jammed, AFreeOneWhoseRootIsHeldIsTold) {
  Upright upright(helices(rods::RootCondition::free), 0.0);
  assembly::Hold pin;
  pin.name = "pin";
  pin.pose.position = upright.world.fibres[0].root.position;
  upright.world.holds.push_back(pin);
  EXPECT_TRUE(upright.step().jammed);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
