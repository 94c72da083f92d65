#include <tresse/scene/remarks.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tresse::scene {
namespace TRESSE_TEST_FILE {

FibreGroup group_of(double radius) {
  FibreGroup out;
  out.name = "hair";
  out.element_lengths = {0.1, 0.1};
  out.sections = {rods::CrossSection::circle(0.01), {0.01, radius}};
  out.location = {12, 3};
  return out;
}

TEST(Remarks, NoneForAFibreAsThickAsLong) {
  Scene scene;
  scene.fibres = {group_of(0.1)};
  EXPECT_TRUE(remarks(scene).empty());
}

TEST(Remarks, NameTheGroupWithBothFigures) {
  Scene scene;
  scene.fibres = {group_of(1e-4), group_of(40.0)};
  const auto found = remarks(scene);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].location.line, 12);
  EXPECT_EQ(found[0].message, "fibres 'hair': radius 40 m, length 0.2 m; expected a radius of at most half the length");
}

TEST(Remarks, OfAnImportComeFirst) {
  Scene scene;
  scene.fibres = {group_of(40.0), group_of(1e-4)};
  scene.fibres[0].remarks = {{{13, 8}, "fibres 'hair': 2 strands left out"}};
  const auto found = remarks(scene);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].location.line, 13);
  EXPECT_EQ(found[0].message, "fibres 'hair': 2 strands left out");
  EXPECT_EQ(found[1].location.line, 12);
}

TEST(Remarks, NameTheFirstStrandOfThoseThatAreMeant) {
  const auto strand = [](double radius) {
    Strand out;
    out.element_lengths = {0.2};
    out.sections = {rods::CrossSection::circle(radius)};
    return out;
  };
  Scene scene;
  scene.fibres = {group_of(1e-4)};
  scene.fibres[0].strands = {strand(1e-4), strand(0.3), strand(0.4)};
  auto found = remarks(scene);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message,
            "fibres 'hair', strand 1: radius 0.3 m, length 0.2 m; expected a radius of at most half the length, and 1 "
            "strand like it");
  scene.fibres[0].strands.pop_back();
  EXPECT_TRUE(remarks(scene)[0].message.ends_with("half the length"));
}

/// A clamped rod of 20 cm that sags; its slowest swing is that of a hanging chain and a cantilever together.
Scene swing() {
  Scene out;
  FibreGroup group;
  group.name = "rod";
  group.material = {.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.5};
  group.element_lengths = {0.1, 0.1};
  group.sections = {rods::CrossSection::circle(1e-3), rods::CrossSection::circle(1e-3)};
  group.natural_curvature = group.initial_curvature = {Vector3::Zero(), Vector3::Zero()};
  out.fibres = {group};
  return out;
}

TEST(TimeStepRemarks, ASwingWantsTwentyStepsAPeriod) {
  Scene scene = swing();
  const double bending = 3.51602 / (0.2 * 0.2) * std::sqrt(1e7 / 1000.0) * 0.5e-3;
  const double period = 2.0 * std::numbers::pi / std::hypot(bending, 1.2024 * std::sqrt(9.81 / 0.2));
  scene.simulation.time_step = 0.0495 * period;
  EXPECT_TRUE(remarks(scene).empty());
  scene.simulation.time_step = 0.0505 * period;
  ASSERT_EQ(remarks(scene).size(), 1U);
  EXPECT_TRUE(remarks(scene)[0].message.starts_with("fibres 'rod': the slowest swing of one takes"));
  scene.fibres[0].material.damping_time = 10.0 / bending;  // it creeps back
  EXPECT_TRUE(remarks(scene).empty());
}

TEST(TimeStepRemarks, AStiffRodIsAskedForNoneUnlessItIsLetGo) {
  Scene scene = swing();
  scene.fibres[0].material.young_modulus = 1e12;
  EXPECT_TRUE(remarks(scene).empty());
  scene.fibres[0].initial_curvature[1] = {0.0, 1.0, 0.0};
  EXPECT_EQ(remarks(scene).size(), 1U);
}

TEST(TimeStepRemarks, PrescribedMotionsAreResolved) {
  Scene scene = swing();
  Obstacle drum;
  drum.body.name = "drum";
  drum.body.motion.angular_velocity = {0.0, 700.0, 0.0};
  scene.obstacles = {drum};
  ASSERT_EQ(remarks(scene).size(), 1U);
  EXPECT_EQ(remarks(scene)[0].message,
            "obstacle 'drum': it turns by 0.7 rad a step; expected a time_step of at most 0.00071 s");
  scene.obstacles[0].body.motion = {};
  scene.fibres[0].root.motion.keyframes = {{0.0}, {1e-4, {1e-3, 0.0, 0.0}}};
  ASSERT_EQ(remarks(scene).size(), 1U);
  EXPECT_EQ(remarks(scene)[0].message,
            "the root of 'rod': keyframes 0.0001 s apart pass within a step of 0.001 s; expected a time_step of at "
            "most that");
  scene.fibres[0].root.motion = {};
  scene.simulation.wind.gust = {1.0, 0.0, 0.0};
  scene.simulation.wind.period = 5e-3;
  EXPECT_EQ(remarks(scene).size(), 1U);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
