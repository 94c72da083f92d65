#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tresse/scene/build.hpp>
#include <tresse/scene/remarks.hpp>
#include <tresse/scene/time_step.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "support/messages.hpp"

// The table [grains]: what it becomes, that a resolved scene reads back, and what is refused.
namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using grains::Side;
using test::error_of;
using testing::HasSubstr;

const std::string head = "[simulation]\ntime_step = 1e-3\n";
const std::string sand =
    "[grains]\ndomain = [[\"-20 cm\", 0, 0], [0.2, 0.1, 0.4]]\ncells = [8, 0, 16]\ndensity = \"1.5 g/cm^3\"\n"
    "friction = 0.3\nviscosity = \"2 Pa s\"\n";
const std::string bar =
    "[[obstacles]]\nname = \"bar\"\nshape = \"capsule\"\nfrom = [0, -1, 0.2]\nto = [0, 1, 0.2]\nradius = 0.06\n";

scene::Scene read(const std::string& text) { return parse_scene(head + text, "scene.toml"); }

TEST(Grains, BecomeTheMediumOfTheWorld) {
  const scene::Case built = scene::build(
      read(sand + "pressure = \"1 kPa\"\nconvection = false\nobstacle_side = \"slip\"\ntolerance = 1e-7\n"
                  "max_iterations = 77\nsides = { x_low = \"slip\", x_high = \"open\", z_low = \"open\" }\n"));
  ASSERT_TRUE(built.world.grains);
  const grains::Medium& medium = *built.world.grains;
  EXPECT_EQ(medium.cells, (std::array{8, 0, 16}));
  EXPECT_EQ(medium.low, Vector3(-0.2, 0.0, 0.0));
  EXPECT_EQ(medium.high, Vector3(0.2, 0.1, 0.4));
  EXPECT_DOUBLE_EQ(medium.density, 1500.0);
  EXPECT_EQ(medium.friction, 0.3);
  EXPECT_EQ(medium.viscosity, 2.0);
  EXPECT_EQ(medium.sides, (std::array{Side::slip, Side::open, Side::no_slip, Side::no_slip, Side::open, Side::open}));
  EXPECT_EQ(medium.pressure, 1000.0);
  EXPECT_EQ(medium.solid_side, Side::slip);
  EXPECT_FALSE(medium.convection);
  EXPECT_EQ(built.options.grain_tolerance, 1e-7);
  EXPECT_EQ(built.options.max_grain_iterations, 77);
  EXPECT_EQ(built.state.grains.velocity.size(), 3 * grains::node_count(medium));
}

TEST(Grains, ObstaclesAtRestFillTheCellsWhoseCentresTheyCover) {
  const std::string floor =
      "[[obstacles]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0.05]\nnormal = [0, 0, 1]\n";
  const std::string moving =
      "[[obstacles]]\nname = \"moving\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 9\n"
      "motion = { velocity = [0, 0, 1] }\n";
  const scene::Case built = scene::build(read(sand + "obstacle_side = \"slip\"\n" + moving + bar + floor));
  const grains::Medium& medium = *built.world.grains;
  EXPECT_EQ(medium.obstacles, 3);
  for (int cell = 0; cell < grains::cell_count(medium); ++cell) {
    const Vector3 at = grains::cell_centre(medium, cell);
    const bool in_bar = std::hypot(at.x(), at.z() - 0.2) <= 0.06;
    const int expected = in_bar ? 1 : at.z() <= 0.05 ? 2 : -1;
    EXPECT_EQ(medium.solid[static_cast<std::size_t>(cell)], expected) << at.transpose();
  }
  constexpr double differences = 1e-6;
  for (int node = 0; node < grains::node_count(medium); ++node) {
    const Vector3 at = grains::node_place(medium, node), out(at.x(), 0.0, at.z() - 0.2);
    if (out.norm() < 0.02 || out.norm() > 0.08) continue;
    EXPECT_NEAR((medium.normals[static_cast<std::size_t>(node)] - out.normalized()).norm(), 0.0, differences);
  }
}

TEST(Grains, AResolvedSceneReadsBack) {
  const SceneDocument document = parse_scene_document(
      head + sand + "pressure = 3\nsides = { y_low = \"periodic\", y_high = \"periodic\" }\n" + bar, "a");
  const std::string resolved = write_resolved(document);
  const SceneDocument again = parse_scene_document(resolved, "b");
  EXPECT_EQ(write_resolved(again), resolved);
  EXPECT_EQ(scene::build(again.scene).world.grains->solid, scene::build(document.scene).world.grains->solid);
}

TEST(Grains, RemarkWhatTheyDoNotActOn) {
  EXPECT_TRUE(scene::shape_remarks(read(sand + bar)).empty());
  const auto moved = scene::shape_remarks(read(sand + bar + "motion = { velocity = [0, 0, 1] }\n"));
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].message,
            "grains: obstacle 'bar' is not at rest and goes through them, and neither acts on the other");
  const auto thin = scene::shape_remarks(
      read(sand + "[[obstacles]]\nname = \"thin\"\nshape = \"sphere\"\ncenter = [0, 0, 0.2]\nradius = 1e-3\n"));
  ASSERT_EQ(thin.size(), 1U);
  EXPECT_EQ(thin[0].message, "grains: obstacle 'thin' covers the centre of no cell, and neither acts on the other");
  const auto hair = scene::shape_remarks(read(
      sand + "[[fibres]]\nname = \"hair\"\nmaterial = \"human-hair\"\nlength = 0.1\nelements = 2\nradius = 1e-4\n"));
  ASSERT_EQ(hair.size(), 1U);
  EXPECT_EQ(hair[0].message, "grains: fibres and surfaces go through them, and neither acts on the other");
}

TEST(Grains, TheTimeStepIsThatOfAFallByOneCell) {
  scene::Scene scene = read(sand);
  scene.grains->cells = {800, 0, 1600};
  const scene::TimeStepChoice choice = scene::choose_time_step(scene);
  EXPECT_DOUBLE_EQ(choice.step, 5e-5);  // sqrt(2 g 0.4 m) is 2.8 m/s, and a cell 0.25 mm
  EXPECT_THAT(choice.reason, HasSubstr("the grains may fall at up to 2.8 m/s"));
}

TEST(Grains, RefusesWhatCannotBe) {
  const auto refused = [](const std::string& text) { return error_of([&] { static_cast<void>(read(text)); }); };
  const auto with = [&](const std::string& key, const std::string& value) {
    std::string text = sand;
    const std::size_t at = text.find(key + " = ");
    if (at != std::string::npos) text.erase(at, text.find('\n', at) + 1 - at);
    return refused(text + (value.empty() ? "" : key + " = " + value + "\n"));
  };
  EXPECT_EQ(with("model", "\"particles\""),
            "scene.toml:9:9: grains.model is \"particles\", a model that tresse does not have; expected \"dense\"");
  EXPECT_EQ(with("model", "\"loose\""), "scene.toml:9:9: grains.model is \"loose\"; expected \"dense\"");
  EXPECT_EQ(with("domain", ""),
            "scene.toml:3:1: grains has no \"domain\"; expected two corners, [[x, y, z], [x, y, z]]");
  EXPECT_EQ(with("domain", "[[0, 0, 0]]"),
            "scene.toml:8:10: grains.domain is an array of 1; expected two corners, [[x, y, z], [x, y, z]]");
  EXPECT_THAT(with("domain", "[[0, 0, 0], [1, 2]]"),
              HasSubstr("grains.domain[1] is an array of 2; expected an array of 3"));
  EXPECT_THAT(with("domain", "[[0, 0, 0], [\"1 kg\", 1, 1]]"), HasSubstr("grains.domain[1][0] = \"1 kg\" is a mass"));
  EXPECT_EQ(with("domain", "[[0, 0, 0], [1, 1, 0]]"),
            "scene.toml:8:10: grains.domain goes from 0 m to 0 m along z; expected a second corner beyond the first");
  EXPECT_THAT(with("cells", ""), HasSubstr("grains has no \"cells\"; expected three counts, [nx, ny, nz]"));
  EXPECT_THAT(with("cells", "[4, 4]"),
              HasSubstr("scene.toml:8:9: grains.cells is an array of 2; expected three counts"));
  EXPECT_THAT(with("cells", "[4, 1.5, 4]"), HasSubstr("grains.cells[1] is 1.5; expected a whole number"));
  EXPECT_THAT(with("cells", "[4, -1, 4]"), HasSubstr("grains.cells[1] is -1; expected a whole number from 0"));
  EXPECT_THAT(with("cells", "[4, 0, 0]"),
              HasSubstr("grains.cells does not fit: two counts are 0; expected at most one, the axis of a plane flow"));
  EXPECT_THAT(with("cells", "[3000, 0, 3000]"),
              HasSubstr("grains.cells does not fit: the factors of a step would take more than 8 GB"));
  EXPECT_THAT(with("density", ""), HasSubstr("grains has no \"density\"; expected the density of the packed grains"));
  EXPECT_THAT(with("density", "\"1 kg\""), HasSubstr("grains.density = \"1 kg\" is a mass"));
  EXPECT_THAT(with("friction", "-0.1"), HasSubstr("grains.friction is -0.1; expected a plain number from 0 to 1000"));
  EXPECT_THAT(with("viscosity", "0"), HasSubstr("grains.viscosity is 0; expected"));
  EXPECT_THAT(with("viscosity", "\"1 Pa\""), HasSubstr("grains.viscosity = \"1 Pa\""));
  EXPECT_THAT(with("pressure", "-1"), HasSubstr("grains.pressure is -1; expected"));
  EXPECT_THAT(with("sides", "{ x_low = \"rough\" }"), HasSubstr("grains.sides.x_low is \"rough\"; expected"));
  EXPECT_THAT(with("sides", "{ left = \"slip\" }"), HasSubstr("unknown key \"left\" in grains.sides"));
  EXPECT_THAT(
      with("sides", "{ x_low = \"periodic\" }"),
      HasSubstr("grains.sides does not fit: one face is periodic and the opposite one is not; expected both or none"));
  EXPECT_THAT(with("obstacle_side", "\"open\""),
              HasSubstr("grains.obstacle_side is \"open\"; expected \"no-slip\" or \"slip\""));
  EXPECT_THAT(with("tolerance", "0"), HasSubstr("grains.tolerance is 0; expected"));
  EXPECT_THAT(with("max_iterations", "0"), HasSubstr("grains.max_iterations is 0; expected"));
  EXPECT_THAT(with("grain_size", "1e-3"), HasSubstr("unknown key \"grain_size\" in grains"));
  EXPECT_THAT(error_of([] { static_cast<void>(parse_scene("grains = 3\n", "scene.toml")); }),
              HasSubstr("grains is 3; expected a table"));
  EXPECT_EQ(
      refused(sand + "[[obstacles]]\nname = \"all\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 9\n"),
      "scene.toml:4:10: grains.domain holds no cell whose centre is outside the obstacles; expected room for grains");
  EXPECT_THAT(refused(sand + "[fluid]\nviscosity = 1\n"),
              HasSubstr("there are grains, which the fluid does not act on"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
