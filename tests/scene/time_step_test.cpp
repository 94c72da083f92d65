#include <tresse/scene/time_step.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <tresse/scene/remarks.hpp>

namespace tresse::scene {
namespace TRESSE_TEST_FILE {

/// A clamped rod that sags, of five elements.
Scene rod(double length) {
  Scene out;
  FibreGroup group;
  group.name = "rod";
  group.material = {.density = 1000.0, .young_modulus = 1e6, .poisson_ratio = 0.5};
  group.element_lengths.assign(5, length / 5);
  group.sections.assign(5, rods::CrossSection::circle(1e-4));
  group.natural_curvature.assign(5, Vector3::Zero());
  group.initial_curvature = group.natural_curvature;
  out.fibres = {group};
  return out;
}

Obstacle bar() {
  Obstacle out;
  out.body.name = "bar";
  return out;
}

TEST(TimeStep, IsAMillisecondWhereNothingIsFast) {
  const TimeStepChoice found = choose_time_step(rod(1.0));
  EXPECT_EQ(found.step, 1e-3);
  EXPECT_EQ(found.reason, "nothing is known to ask for less than 0.001 s");
}

TEST(TimeStep, AFallGoesAHundredthOfTheLength) {
  Scene scene = rod(0.01);
  TimeStepChoice found = choose_time_step(scene);
  EXPECT_EQ(found.step, 2e-4);  // of sqrt(0.01 / (2 g)) / 100 = 0.23 ms
  EXPECT_EQ(found.reason, "fibres 'rod' fall at up to 0.44 m/s: at most 0.1 mm a step");
  scene.simulation.gravity = Vector3::Zero();
  EXPECT_EQ(choose_time_step(scene).step, 1e-3);
  scene = rod(0.01);
  scene.fibres[0].material.young_modulus = 1e12;  // so stiff that it does not fall
  EXPECT_EQ(choose_time_step(scene).step, 1e-3);
  scene.fibres[0].root.condition = rods::RootCondition::free;
  EXPECT_EQ(choose_time_step(scene).step, 2e-4);
}

TEST(TimeStep, NoFibreIsSentLessThanItsRadiusOrMoreThanAnElement) {
  Scene scene = rod(1.0);
  scene.obstacles = {bar()};
  scene.obstacles[0].body.motion.velocity = {0.0, 20.0, 0.0};
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);  // of 10 mm / 20 m/s
  EXPECT_EQ(choose_time_step(scene).reason, "obstacle 'bar' moves at up to 20 m/s: at most 10 mm a step");
  scene.fibres[0].element_lengths.assign(400, 2.5e-3);
  scene.fibres[0].sections.assign(400, rods::CrossSection::circle(1e-4));
  EXPECT_EQ(choose_time_step(scene).step, 1e-4);  // of 2.5 mm / 20 m/s
  scene.fibres[0].sections.assign(400, rods::CrossSection::circle(0.03));
  EXPECT_EQ(choose_time_step(scene).step, 1e-3);  // of 30 mm / 20 m/s
  scene.obstacles[0].body.motion.start = 1.0;     // when all is over
  scene.fibres[0].sections.assign(400, rods::CrossSection::circle(1e-4));
  EXPECT_EQ(choose_time_step(scene).reason, "fibres 'rod' fall at up to 4.4 m/s: at most 2.5 mm a step");
}

TEST(TimeStep, StrandsCountInTheMean) {
  Scene scene = rod(0.3);
  Strand strand;
  for (const double length : {0.3, 1e-3}) {
    strand.element_lengths.assign(5, length / 5);
    strand.sections.assign(5, rods::CrossSection::circle(1e-4));
    strand.natural_curvature = strand.initial_curvature = scene.fibres[0].natural_curvature;
    scene.fibres[0].strands.push_back(strand);
  }
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);  // of sqrt(0.1505 / (2 g)) / 100 = 0.88 ms
}

TEST(TimeStep, StartsCountToo) {
  Scene scene = rod(0.5);
  scene.fibres[0].initial_curvature_rate.assign(5, Vector3(0.0, 80.0, 0.0));
  EXPECT_EQ(choose_time_step(scene).reason, "fibres 'rod' start at up to 10 m/s: at most 5 mm a step");
  scene.fibres[0].initial_curvature_rate.clear();
  scene.fibres[0].root.condition = rods::RootCondition::free;
  scene.fibres[0].root.velocity = {20.0, 0.0, 0.0};
  scene.fibres[0].root.angular_velocity = {0.0, 0.0, 10.0};
  EXPECT_EQ(choose_time_step(scene).step, 2e-4);  // of 5 mm / 25 m/s
}

TEST(TimeStep, MotionsAreResolved) {
  Scene scene = rod(0.5);
  scene.simulation.gravity = Vector3::Zero();
  bodies::Motion& root = scene.fibres[0].root.motion;
  root.keyframes = {{0.0}, {0.2, {0.8, 0.0, 0.0}}, {0.201, {0.8, 0.0, 0.0}}, {2.0, {0.9, 0.0, 0.0}}, {2.001}};
  EXPECT_EQ(choose_time_step(scene).step, 1e-3);  // of 5 mm / 4 m/s; a rest and what comes too late are no motions
  root.interpolation = bodies::Motion::Interpolation::smooth;
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);
  EXPECT_EQ(choose_time_step(scene).reason, "the root of fibres 'rod' moves at up to 6 m/s: at most 5 mm a step");
  root.keyframes = {{0.0}, {0.01, {1e-3, 0.0, 0.0}}};
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);
  EXPECT_EQ(choose_time_step(scene).reason,
            "keyframes of the root of fibres 'rod' are 0.01 s apart: at least 20 steps");
  root = {};
  Hold hold;
  hold.name = "end";
  hold.motion.angular_velocity = {0.0, 200.0, 0.0};
  scene.fibres[0].holds = {hold};
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);
  EXPECT_EQ(choose_time_step(scene).reason,
            "hold 'end' of fibres 'rod' turns at up to 2e+02 rad/s: by at most 0.1 rad a step");
  scene.fibres[0].holds.clear();
  scene.simulation.wind.gust = {1.0, 0.0, 0.0};
  scene.simulation.wind.period = 0.04;
  EXPECT_EQ(choose_time_step(scene).reason, "a gust takes 0.04 s: at least 50 steps");
}

TEST(TimeStep, AFreeBodyGoesAQuarterOfItsRadius) {
  Scene scene;
  Obstacle ball = bar();
  ball.body.shape = bodies::Sphere{.radius = 2e-3};
  ball.body.mass = 1e-3;
  scene.obstacles = {ball};
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);
  EXPECT_EQ(choose_time_step(scene).reason, "body 'bar' may fall at up to 0.63 m/s: at most 0.5 mm a step");
  scene.obstacles[0].body.velocity.linear = {0.0, 0.0, -3.0};
  EXPECT_EQ(choose_time_step(scene).step, 1e-4);
  scene.obstacles[0].body.velocity.linear = Vector3::Zero();
  scene.obstacles[0].body.velocity.angular = {0.0, 0.0, 300.0};
  EXPECT_EQ(choose_time_step(scene).step, 2e-4);
}

TEST(TimeStep, TheSlowestSwingTakesAHundredStepsAndIsNotRemarked) {
  Scene scene = rod(0.02);
  scene.fibres[0].material.young_modulus = 1e11;
  scene.fibres[0].initial_curvature.assign(5, Vector3(0.0, 10.0, 0.0));  // let go
  const double period = slowest_period(scene.fibres[0], 9.81);
  ASSERT_LT(period, 0.1);
  const TimeStepChoice found = choose_time_step(scene);
  EXPECT_GT(found.step, 0.004 * period);
  EXPECT_LE(found.step, 0.01 * period);
  EXPECT_THAT(found.reason, testing::StartsWith("the slowest swing of fibres 'rod' takes"));
  scene.simulation.time_step = found.step;
  EXPECT_TRUE(remarks(scene).empty());
}

TEST(TimeStep, ShortScenesTakeTwentyStepsAndSlowOnesTenThousand) {
  Scene scene = rod(0.3);
  scene.simulation.duration = 0.01;
  EXPECT_EQ(choose_time_step(scene).step, 5e-4);
  EXPECT_EQ(choose_time_step(scene).reason, "the duration is 0.01 s: at least 20 steps");
  scene.simulation.gravity = Vector3::Zero();
  for (const auto& [duration, step] : {std::pair(0.0, 1e-3), {1e-14, 1e-12}, {10.0, 1e-3}, {60.0, 5e-3}, {1e9, 1e-2}}) {
    scene.simulation.duration = duration;
    EXPECT_EQ(choose_time_step(scene).step, step) << duration;
  }
}

TEST(TimeStep, IsNeverBelowTenMicrosecondsForAMotion) {
  Scene scene = rod(0.3);
  scene.obstacles = {bar()};
  scene.obstacles[0].body.motion.velocity = {1e5, 0.0, 0.0};
  const TimeStepChoice found = choose_time_step(scene);
  EXPECT_EQ(found.step, 1e-5);
  EXPECT_THAT(found.reason, testing::EndsWith(", but not below 1e-05 s"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
