#include "render/looks.hpp"

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>

#include "render/camera.hpp"
#include "render/ray_tracer.hpp"

namespace TRESSE_TEST_FILE {

using tresse::InvalidInput;
using tresse::Vector3;
using tresse::VectorX;
using tresse::observe::TrajectoryLayout;
namespace render = tresse::render;

/// A bust, a comb of a handle and a tooth, a bar, a ball, a floor; three groups.
TrajectoryLayout layout() {
  TrajectoryLayout out;
  out.obstacle_names = {"bust", "comb", "bar", "ball", "floor"};
  out.mesh_obstacle = {0};
  out.capsule_obstacle = {1, 1, 2, 3};
  out.capsule_from = {0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7};
  out.capsule_to = {1, 0, 0, 0, 1, 0, 1, 1, 1, 7, 7, 7};
  out.capsule_radius = {1, 1, 1, 1};
  out.plane_obstacle = {4};
  out.group_names = {"fringe", "back", "beard"};
  return out;
}

bool same(const render::Color& a, const render::Color& b) { return (a - b).abs().maxCoeff() < 1e-6F; }

TEST(Looks, obstacles_and_groups_differ_unless_asked_otherwise) {
  const render::Looks looks = render::default_looks(layout());
  ASSERT_EQ(looks.obstacles.size(), 5U);
  ASSERT_EQ(looks.groups.size(), 3U);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same(looks.obstacles[i].albedo, looks.obstacles[j].albedo));
  }
  EXPECT_FALSE(same(looks.groups[0].hair.absorption, looks.groups[1].hair.absorption));
  EXPECT_GT(looks.obstacles[0].albedo.minCoeff(), looks.obstacles[1].albedo.maxCoeff()) << "pale bust, dark comb";
  EXPECT_GT(looks.obstacles[3].albedo.minCoeff(), 0.15F) << "a ball is pale";
}

TEST(Looks, surfaces_come_after_the_obstacles) {
  TrajectoryLayout with = layout();
  with.surface_names = {"sheet", "veil"};
  render::Looks looks = render::default_looks(with);
  ASSERT_EQ(looks.obstacles.size(), 7U);
  EXPECT_FALSE(same(looks.obstacles[5].albedo, looks.obstacles[6].albedo));
  render::set_obstacle(looks, with, "veil=#0000ff");
  EXPECT_TRUE(same(looks.obstacles[6].albedo, {0, 0, 1}));
}

TEST(Looks, colours_are_as_on_a_screen) {
  EXPECT_TRUE(same(render::read_colour("#ffffff"), render::Color::Ones()));
  EXPECT_TRUE(same(render::read_colour("#000000"), render::Color::Zero()));
  // 188 of 255 is the sRGB value of half the light.
  EXPECT_NEAR(render::read_colour("#BC0000")[0], 0.5F, 3e-3F);
  EXPECT_EQ(render::read_colour("#BC0000")[1], 0.0F);
}

TEST(Looks, names_are_those_of_the_run) {
  render::Looks looks = render::default_looks(layout());
  render::set_obstacle(looks, layout(), "comb=#ff0000");
  EXPECT_TRUE(same(looks.obstacles[1].albedo, {1, 0, 0}));
  render::set_group(looks, layout(), "red");
  render::set_group(looks, layout(), "back=#00ff00");
  EXPECT_TRUE(same(looks.groups[0].hair.absorption, looks.groups[2].hair.absorption));
  EXPECT_TRUE(same(looks.groups[1].paper.albedo, {0, 1, 0}));
  EXPECT_LT(looks.groups[1].hair.absorption[1], 0.01F * looks.groups[1].hair.absorption[0]);
  EXPECT_TRUE(same(render::read_hair("1.1,0.2").absorption, render::read_hair("brown").absorption));
}

TEST(Looks, errors_name_what_was_wrong) {
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const InvalidInput& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  render::Looks looks = render::default_looks(layout());
  const auto obstacle = [&](const char* text) { return message([&] { render::set_obstacle(looks, layout(), text); }); };
  EXPECT_EQ(obstacle("comb"), "comb: expected OBSTACLE=#c8a080");
  EXPECT_EQ(obstacle("comb=red"), "red: expected a colour like #c8a080");
  EXPECT_EQ(obstacle("comb=#12345g"), "#12345g: expected a colour like #c8a080");
  EXPECT_EQ(obstacle("combe=#123456"), "no obstacle \"combe\"; did you mean \"comb\"?");
  EXPECT_EQ(obstacle("x=#123456"), "no obstacle \"x\"; expected bust, comb, bar, ball, floor");
  const auto hair = [&](const char* text) { return message([&] { render::set_group(looks, layout(), text); }); };
  EXPECT_EQ(hair("beart=red"), "no fibre group \"beart\"; did you mean \"beard\"?");
  const std::string forms =
      ": expected blond, brown-blond, brown, red, black, a colour like #c8a080, or concentrations of eumelanin and "
      "pheomelanin, 0 to 100, like 1.1,0.2";
  for (const char* text : {"green", "1.1", "1.1,", "-1,2", "nan,1", "1,2,3"}) EXPECT_EQ(hair(text), text + forms);
  EXPECT_EQ(message([&] { render::set_obstacle(looks, {}, "a=#123456"); }), "no obstacle \"a\"; there are none");
}

/// What is seen of a scene from a hand's breadth before it, half from above.
render::Image seen(const render::Scene& scene, const render::RenderOptions& changed) {
  render::RenderOptions options = changed;
  options.width = options.height = 32;
  options.samples = 64;
  return render::render(scene, {.position = {0, -0.1, 0.05}, .target = {0, 0, 0}, .field_of_view_deg = 20}, options);
}

/// Two balls, left and right.
render::Scene balls() {
  render::Scene scene;
  scene.capsules = {{Vector3(-0.01, 0, 0), Vector3(-0.01, 0, 0), 0.006},
                    {Vector3(0.01, 0, 0), Vector3(0.01, 0, 0), 0.006}};
  scene.capsule_obstacle = {0, 1};
  return scene;
}

TEST(Render, every_obstacle_has_its_colour) {
  render::RenderOptions options;
  options.looks.obstacles = {{.albedo = {0.5F, 0, 0}, .reflectance = 0.0F},
                             {.albedo = {0, 0, 0.5F}, .reflectance = 0.0F}};
  const render::Image image = seen(balls(), options);
  const render::Color& left = image.at(8, 16);
  const render::Color& right = image.at(24, 16);
  EXPECT_GT(left[0], 5.0F * left[2]);
  EXPECT_GT(right[2], 5.0F * right[0]);
}

TEST(Render, a_ground_takes_shadows_under_everything_and_fades_away) {
  render::Scene scene = balls();
  const render::Ground ground = render::ground_under(scene, {0, 0, 2});
  EXPECT_LT((ground.normal - Vector3::UnitZ()).norm(), 1e-12);
  EXPECT_NEAR(ground.point.z(), -0.006, 1e-12);
  const render::Image without = seen(scene, {});
  scene.ground = ground;
  const render::Image with = seen(scene, {});
  const auto ratio = [&](int x, int y) {
    return render::luminance(with.at(x, y)) / render::luminance(without.at(x, y));
  };
  EXPECT_LT(ratio(25, 21), 0.8 * ratio(16, 29)) << "in the shadow, and beside it";
  EXPECT_NEAR(ratio(16, 0), 1.0, 0.1) << "far behind";
  scene.ground->normal = Vector3(0, 0, 2);
  EXPECT_THROW(render::validate(scene), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
