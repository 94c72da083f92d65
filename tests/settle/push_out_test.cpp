#include <tresse/settle/push_out.hpp>

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

namespace tresse::settle {

using namespace scene;

namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-3;
constexpr double length = 0.1;
const rods::Material soft{.density = 1000.0, .young_modulus = 1e8, .poisson_ratio = 0.4};

void add_fibre(scene::Case& built, const Vector3& position, const Vector3& tangent,
               rods::RootCondition condition = rods::RootCondition::clamped) {
  Pose root;
  root.position = position;
  root.frame.col(0) = tangent;
  root.frame.col(1) = tangent.unitOrthogonal();
  root.frame.col(2) = root.frame.col(0).cross(root.frame.col(1));
  test::add(built.world, built.state, test::fibre(4, length, radius, soft, root, condition));
}

void add_floor(scene::Case& built, double height) {
  bodies::Obstacle floor;
  floor.name = "floor";
  floor.shape = bodies::Plane{{0.0, 0.0, height}, Vector3::UnitZ()};
  test::add(built.world, std::move(floor));
}

Case empty_case() {
  Case built;
  built.options = test::step_options(1e-3);
  built.options.margin = 0.05 * radius;
  built.world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.5));
  assembly::set_load(built.world, assembly::Gravity(Vector3(0.0, 0.0, -9.81)));
  return built;
}

TEST(PushOut, crossing_fibres_part_by_what_they_overlap_and_others_stay) {
  scene::Case built = empty_case();
  add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX());
  add_fibre(built, {0.07, -0.07, 1.2 * radius}, Vector3::UnitY());
  add_fibre(built, {0.0, 0.05, 0.0}, Vector3::UnitX());
  built.state.rods[0].rates.setConstant(2.0);
  built.state.rods[2].coordinates.setConstant(1.0);  // an initial shape that is not the natural one
  const dynamics::SimulationState before = built.state;
  ASSERT_EQ(scene::initial_overlaps(built).size(), 1U);
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
  EXPECT_GT(found.largest_move, 0.3 * radius);
  EXPECT_LT(found.largest_move, 0.8 * radius) << "each gives way by half of 0.8 radii, a little more at the tips";
  EXPECT_LT(built.state.rods[1].coordinates.cwiseAbs().maxCoeff(), 0.25) << "bent from the root, not kinked";
  EXPECT_EQ(built.state.rods[2].coordinates, before.rods[2].coordinates);
  EXPECT_EQ(built.state.rods[0].rates, before.rods[0].rates);
  EXPECT_EQ(built.world.fibres[0].model->rest_curvature(), before.rods[0].coordinates)
      << "the natural shape is not touched";
}

TEST(PushOut, a_free_fibre_leaves_the_floor_as_a_whole) {
  scene::Case built = empty_case();
  add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX(), rods::RootCondition::free);
  add_floor(built, -0.5 * radius);
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
  EXPECT_NEAR(built.state.rods[0].root.position.z(), 0.5 * radius, 0.02 * radius);
  EXPECT_LT(built.state.rods[0].coordinates.norm(), 0.01);
}

TEST(PushOut, deep_inside_an_obstacle_the_tip_comes_out) {
  scene::Case built = empty_case();
  add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX());
  bodies::Obstacle ball;
  ball.name = "ball";
  ball.shape = bodies::Capsule{{0.1, 0.0, -0.01}, {0.1, 0.0, -0.01}, 0.015};
  ball.motion.velocity = Vector3(0.0, 0.0, 100.0);  // where it stands at time zero counts
  test::add(built.world, std::move(ball));
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
  EXPECT_LT(found.largest_move, 0.02);
}

TEST(PushOut, says_when_a_clamped_root_stays_inside) {
  scene::Case built = empty_case();
  add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX());
  add_floor(built, -0.5 * radius);
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status, Status::stalled);
  EXPECT_NEAR(found.deepest, 0.5 * radius, 0.01 * radius);
}

TEST(PushOut, gives_up_on_fibres_in_one_place_without_harm) {
  scene::Case built = empty_case();
  for (int i = 0; i < 2; ++i) add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX());
  const PushOut found = push_out(built);
  EXPECT_EQ(found.status, Status::stalled);
  EXPECT_GT(found.deepest, radius);
  EXPECT_EQ(built.state.rods[0].coordinates, VectorX::Zero(12)) << "a round that ended badly is taken back";
}

TEST(PushOut, what_is_apart_stays_to_the_bit) {
  scene::Case built = empty_case();
  add_fibre(built, {0.0, 0.0, 0.0}, Vector3::UnitX());
  add_fibre(built, {0.0, 3.0 * radius, 0.0}, Vector3::UnitX());
  const PushOut found = push_out(built);
  EXPECT_EQ(found.rounds, 0);
  EXPECT_EQ(found.largest_move, 0.0);
  EXPECT_EQ(built.state.rods[1].coordinates, VectorX::Zero(12));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::settle
