#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tresse/scene/build.hpp>
#include <tresse/scene/remarks.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/surfaces/developable_patch.hpp>

#include "support/messages.hpp"

// Tables [[surfaces]]: what they become, that a resolved scene reads back, and what is refused.
namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using test::error_of;
using testing::HasSubstr;

std::string text(const std::string& keys, const std::string& more = "") {
  return "[simulation]\ntime_step = 1e-3\n[materials.sheet]\ndensity = 1000\nyoung_modulus = 1e9\npoisson_ratio = "
         "0.3\n" +
         more + "[[surfaces]]\n" + keys;
}

const std::string patch =
    "name = \"patch\"\nmodel = \"developable-patch\"\nmaterial = \"sheet\"\nlength = 0.2\nwidth = 0.1\n"
    "thickness = \"0.5 mm\"\n";

scene::Scene read(const std::string& keys, const std::string& more = "") {
  return parse_scene(text(keys, more), "scene.toml");
}

TEST(Surfaces, BecomeBodiesOfTheWorld) {
  const scene::Scene scene =
      read(patch +
           "natural_curvature = 3\nnatural_angle_deg = 30\ninitial_curvature = 2\n"
           "root = { condition = \"free\", position = [1, 2, 3], yaw_deg = 90, velocity = [4, 5, 6] }\n");
  const scene::Case built = scene::build(scene);
  ASSERT_EQ(built.world.surfaces.size(), 1U);
  const auto& model = dynamic_cast<const surfaces::DevelopablePatch&>(*built.world.surfaces[0].model);
  constexpr double rounding = 1e-14;
  EXPECT_NEAR(model.material().rigidity, 1e9 * std::pow(5e-4, 3) / (12.0 * 0.91), 1e-14);
  EXPECT_NEAR(model.material().area_density, 0.5, rounding);
  EXPECT_FALSE(model.material().clamped);
  const surfaces::PatchState at = model.patch_state(built.state.surfaces[0]);
  EXPECT_EQ(at.curvature, 2.0);
  EXPECT_NEAR(at.angle, M_PI / 6.0, rounding);
  EXPECT_EQ(at.frame.position, Vector3(1.0, 2.0, 3.0));
  EXPECT_NEAR((at.frame.frame.col(0) - Vector3::UnitY()).norm(), 0.0, rounding);
  EXPECT_EQ(at.velocity.linear, Vector3(4.0, 5.0, 6.0));
}

TEST(Surfaces, AResolvedSceneReadsBack) {
  const SceneDocument document = parse_scene_document(
      text(patch + "natural_curvature = 3\nnatural_angle_deg = 30\ninitial_angle_deg = 7\nroot = { pitch_deg = 11 }\n"),
      "a");
  const std::string resolved = write_resolved(document);
  const SceneDocument again = parse_scene_document(resolved, "b");
  EXPECT_EQ(write_resolved(again), resolved);
  const scene::Surface &a = document.scene.surfaces[0], &b = again.scene.surfaces[0];
  EXPECT_EQ(a.natural_angle, b.natural_angle);
  EXPECT_EQ(a.initial_angle, b.initial_angle);
  EXPECT_EQ(a.root.frame, b.root.frame);
}

TEST(Surfaces, RemarkThatTheyTouchNothing) {
  EXPECT_TRUE(scene::shape_remarks(read(patch)).empty());
  const std::string floor =
      "[[obstacles]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\n";
  const auto remarks = scene::shape_remarks(read(patch, floor));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].message, HasSubstr("surface 'patch': touches nothing"));
}

TEST(Surfaces, RefusesWhatCannotBe) {
  const auto refused = [](const std::string& keys, const std::string& more = "") {
    return error_of([&] { static_cast<void>(read(keys, more)); });
  };
  EXPECT_THAT(refused("model = \"developable-patch\"\n"), HasSubstr("surfaces[0] has no \"name\""));
  EXPECT_THAT(refused("name = \"a/b\"\n" + patch.substr(patch.find("model"))),
              HasSubstr("not made of letters, digits, - and _"));
  EXPECT_THAT(refused(patch + "[[surfaces]]\n" + patch),
              HasSubstr("surfaces[1].name is \"patch\", the name of a surface above"));
  EXPECT_THAT(refused(patch + "curvature = 3\n"), HasSubstr("curvature"));
  EXPECT_THAT(refused(patch + "thickness = 1\n"), HasSubstr("scene.toml"));
  EXPECT_THAT(refused(patch + "natural_curvature = 60\n"), HasSubstr("two turns of the diagonal"));
  EXPECT_THAT(refused(patch + "initial_curvature = -60\n"), HasSubstr("two turns of the diagonal"));
  EXPECT_THAT(refused(patch + "root = { velocity = [1, 0, 0] }\n"),
              HasSubstr("root.velocity is given for a clamped root"));
  EXPECT_THAT(refused("name = \"patch\"\nmodel = \"developable-patch\"\nmaterial = \"none\"\nlength = 1\nwidth = 1\n"
                      "thickness = 1e-3\n"),
              HasSubstr("material is \"none\", which no table [materials.NAME] defines"));
  EXPECT_THAT(
      refused("name = \"patch\"\nmodel = \"developable-patch\"\nmaterial = \"sheet\"\nlength = 1\nwidth = 1e-3\n"
              "thickness = 1e-3\n"),
      HasSubstr("expected at most half of the shorter side"));
  EXPECT_THAT(refused(patch, "[fluid]\nviscosity = 1\n"), HasSubstr("a surface, which the fluid does not act on"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
