#include <tresse/assembly/world.hpp>

#include <set>

#include <gtest/gtest.h>

#include <tresse/rods/super_helix.hpp>

namespace tresse::assembly {
namespace TRESSE_TEST_FILE {

/// Two fibres, and obstacles of which the second and the fourth move freely.
World mixed() {
  World out;
  const rods::Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.4, .damping_time = 0.0};
  const auto rod =
      rods::make_super_helix({{0.1, {1e-4, 1e-4}, Vector3::Zero()}}, material, rods::RootCondition::clamped);
  for (int i = 0; i < 2; ++i) out.fibres.emplace_back().model = rod->model();
  for (int i = 0; i < 5; ++i) {
    bodies::Obstacle& ball = out.obstacles.emplace_back();
    ball.shape = bodies::Sphere{Vector3::Zero(), 0.01};
    ball.mass = i == 1 || i == 3 ? 1.0 : 0.0;
  }
  out.free_bodies = find_free_bodies(out.obstacles);
  return out;
}

TEST(World, bodies_are_numbered_in_the_order_of_their_identities) {
  const World world = mixed();
  std::set<BodyId> ids{{BodyKind::fibre, 0}, {BodyKind::fibre, 1}};
  for (int k = 0; k < 5; ++k) ids.insert(obstacle_id(world, k));
  EXPECT_EQ(obstacle_id(world, 1), (BodyId{BodyKind::rigid_body, 1}));
  EXPECT_EQ(obstacle_id(world, 2), (BodyId{BodyKind::obstacle, 2}));
  int number = 0;
  for (const BodyId id : ids) {
    EXPECT_EQ(body_number(world, id), number);
    EXPECT_EQ(body_of_number(world, number), id);
    ++number;
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::assembly
