#include <tresse/observe/watch.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include <Eigen/Geometry>

#include <tresse/rods/discrete_elastic_rod.hpp>

#include "support/worlds.hpp"

namespace tresse::observe {
namespace TRESSE_TEST_FILE {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double radius = 1e-4;
constexpr double length = 0.04;
constexpr double dt = 1e-3;
const rods::Material material{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.48, .damping_time = 1e-3};

/// Two straight fibres that cross in their middles, one along x, the other along y and `height` above; a comb far away
/// with teeth along x, a floor and a bar.
struct Crossing {
  assembly::World world;
  dynamics::SimulationState state;
  dynamics::StepReport report;
  std::vector<dynamics::ContactReport> contacts;
  double energy_rise = 0.0;
  std::optional<double> step_error;  // wanted
  WatchTally tally{};
  Watch watch;

  explicit Crossing(double height = 2.0 * radius, double along_x = 0.0) {
    add_fibre({-0.5 * length, 0, 0}, Matrix3::Identity());
    Matrix3 turned;
    turned << 0, -1, 0, 1, 0, 0, 0, 0, 1;
    add_fibre({along_x, -0.5 * length, height}, turned);
    test::add(world, {"comb",
                      "comb",
                      bodies::Comb{.base = {0, 0, 1}, .tooth_direction = {1, 0, 0}, .row_direction = {0, 1, 0}},
                      Vector3::Zero(),
                      {}});
    test::add(world, {"floor", "floor", bodies::Plane{{0, 0, 0}, {0, 0, 1}}, Vector3::Zero(), {}});
    test::add(world, {"bar", "bar", bodies::Capsule{{0, -1, 0}, {0, 1, 0}, 1e-3}, Vector3::Zero(), {}});
  }

  void add_fibre(const Vector3& from, const Matrix3& frame) {
    Pose root;
    root.position = from;
    root.frame = frame;
    test::add(world, state, test::fibre(2, length, radius, material, root, rods::RootCondition::free));
  }

  /// Pressed in the last step, at the middle of fibre a (the end of its first element), b above it.
  void press(int body_a, int body_b, int element_b, double s_b, const Vector3& force = {0, 0, 1e-4}) {
    state.warm.push_back({{body_a, 0, body_b, element_b, 0.5 * length, s_b}, force});
  }

  std::vector<Remark> look(std::int64_t step = 1) {
    report.step = step;
    report.time = dt * static_cast<double>(step);
    assembly::Kinematics at(world);
    for (std::size_t f = 0; f < state.rods.size(); ++f) at.rod(static_cast<int>(f)).update(state.rods[f]);
    return watch.look({.report = report,
                       .contacts = contacts,
                       .before = state,
                       .at = at,
                       .dt = dt,
                       .step_error = step_error,
                       .energy_rise = energy_rise},
                      tally);
  }
  const TroubleTally& count(Trouble kind) const { return tally[static_cast<std::size_t>(kind)]; }
};

dynamics::ContactReport overlap(double depth) {
  dynamics::ContactReport out;
  out.a = {.body = {BodyKind::fibre, 1}, .s = 0.0123};
  out.b = {.body = {BodyKind::obstacle, 0}, .part = 3};
  out.gap = -depth;
  return out;
}

TEST(Watch, NamesADeepOverlapAndSaysHowDeep) {
  Crossing scene;
  scene.report.deepest = overlap(0.25 * radius);
  scene.report.overlaps = 3;
  scene.contacts = {overlap(0.0)};
  scene.contacts[0].slip = 5.0 * radius / dt;
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::penetration);
  EXPECT_EQ(
      remarks[0].message,
      "fibre 1 at 0.0123 m and tooth 3 of 'comb': 25 um deep, 0.25 of the radius, and 2 others like it; they slide "
      "5 radii a step: try time_step 0.0002 s");
  EXPECT_EQ(scene.count(Trouble::penetration).worst, 0.25);
  EXPECT_EQ(scene.count(Trouble::deep_penetration).steps, 0);
}

TEST(Watch, SaysWhatCannotGiveWayAndAdvisesNoTimeStep) {
  Crossing scene;
  scene.report.deepest = scene.report.jammed = overlap(0.25 * radius);
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U) << "once, not also as an overlap";
  EXPECT_EQ(remarks[0].kind, Trouble::jammed);
  EXPECT_EQ(remarks[0].message,
            "fibre 1 at 0.0123 m and tooth 3 of 'comb': 25 um deep without a force; the fibre is straight, cannot "
            "stretch, and so cannot give way along its axis; bend it a little, or use the model "
            "\"discrete-elastic-rod\"");
  scene.report.jammed->gap = -0.005 * radius;
  scene.report.deepest.reset();
  EXPECT_TRUE(scene.look(2).empty());
}

TEST(Watch, LeavesASmallOverlapAlone) {
  Crossing scene;
  scene.report.deepest = overlap(0.09 * radius);
  EXPECT_TRUE(scene.look().empty());
}

TEST(Watch, TellsAKindAtGrowingIntervals) {
  Crossing scene;
  scene.report.deepest = overlap(0.6 * radius);
  std::vector<Remark> all;
  for (int step = 1; step <= 1200; ++step) {
    for (const Remark& remark : scene.look(step)) all.push_back(remark);
  }
  ASSERT_EQ(all.size(), 8U) << "both depths, four times";
  EXPECT_EQ(all[6].step, 1000);
  EXPECT_THAT(all[6].message, HasSubstr("(1000 such steps so far, 1000 in a row)"));
  EXPECT_EQ(scene.count(Trouble::deep_penetration).steps, 1200);
  EXPECT_EQ(scene.count(Trouble::deep_penetration).first_step, 1);
  scene.look(1300);
  EXPECT_EQ(scene.count(Trouble::penetration).in_a_row, 1);
}

TEST(Watch, TellsThatABarrierIsNotProvedToHaveKeptBodiesApart) {
  Crossing scene(1e-6);
  scene.report.touch = overlap(0.0);
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::touched);
  EXPECT_THAT(remarks[0].message, HasSubstr("the barrier is not proved to have kept them apart within a step; try "));
}

TEST(Watch, SeesThatPressedFibresWentThroughEachOther) {
  Crossing scene(-0.5 * radius);
  scene.press(0, 1, 0, 0.5 * length);
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::passed_through);
  EXPECT_THAT(remarks[0].message, HasSubstr("fibre 0 at 0.02 m and fibre 1 at 0.02 m: pressed together by 0.0001 N, "
                                            "they went through each other by 250 um"));
}

TEST(Watch, SeesItAlsoWhereTheContactIsKnownOnTheOtherSide) {
  Crossing scene(-2.0 * radius);
  scene.press(0, 1, 0, 0.5 * length);
  dynamics::ContactReport known;
  known.a = {.body = {BodyKind::fibre, 0}, .s = 0.5 * length + 0.5 * radius};
  known.b.body = {BodyKind::fibre, 1};
  known.normal = {0, 0, -1};
  scene.contacts = {known};
  ASSERT_EQ(scene.look().size(), 1U);
  EXPECT_EQ(scene.count(Trouble::passed_through).steps, 1);
  scene.contacts[0].normal = {0, 0, 1};
  EXPECT_TRUE(scene.look(2).empty());
}

TEST(Watch, SeesThatPressedFibresSprangApart) {
  Crossing scene(5.0 * radius);
  scene.press(0, 1, 0, 0.5 * length);
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::contact_lost);
  EXPECT_THAT(remarks[0].message,
              AllOf(HasSubstr("sprang apart by 300 um, 3 radii"), HasSubstr("try time_step 0.0002 s")));
}

TEST(Watch, FindsTheCrossingWhereFibresSlid) {
  // The fibres now cross 20 radii from where they touched; there one is above the other, as before.
  Crossing scene(2.5 * radius, 20.0 * radius);
  scene.press(0, 1, 0, 0.5 * length);
  EXPECT_TRUE(scene.look().empty());
  Crossing through(-2.5 * radius, 20.0 * radius);
  through.press(0, 1, 0, 0.5 * length);
  ASSERT_EQ(through.look().size(), 1U);
}

TEST(Watch, SaysNothingOfASmallGapAKnownContactALightOneOrAnEnd) {
  Crossing gap(2.9 * radius);
  gap.press(0, 1, 0, 0.5 * length);
  EXPECT_TRUE(gap.look().empty());

  Crossing light(5.0 * radius);
  light.press(0, 1, 0, 0.5 * length);
  light.press(0, 0, 1, 0.4 * length, {0, 0, 1e-2});
  dynamics::ContactReport heavy;
  heavy.a = {.body = {BodyKind::fibre, 0}, .s = 0.5 * length};
  heavy.b.body = {BodyKind::fibre, 0};
  heavy.normal = {0, 0, 1};
  light.contacts = {heavy};
  EXPECT_TRUE(light.look().empty());

  // Beyond the end of the fibre that it rested on.
  Crossing slid(-3.0 * radius, 0.5 * length + radius);
  slid.state.warm.push_back({{0, 1, 1, 0, 0.5 * length, 0.5 * length}, {0, 0, 1e-4}});
  EXPECT_TRUE(slid.look().empty());
}

TEST(Watch, SeesFibresGoThroughObstacles) {
  Crossing scene;
  // Fibre 0 lies in the floor's surface and in the bar's axis; it was pressed down on the one, up on the other.
  scene.state.rods[0].root.position[2] = -0.3 * radius;
  scene.press(0, 3, -1, 0.0, {0, 0, -1e-4});
  const auto floor = scene.look();
  ASSERT_EQ(floor.size(), 1U);
  EXPECT_THAT(floor[0].message, HasSubstr("and 'floor': pressed together by 0.0001 N, they went through each other"));
  scene.state.warm.clear();
  scene.press(0, 4, 0, 1.0, {0, 0, -1e-4});
  scene.look(2);
  EXPECT_EQ(scene.count(Trouble::passed_through).steps, 2);
  scene.state.warm.clear();
  scene.press(0, 4, 0, 1.0, {0, 0, 1e-4});
  scene.look(3);
  EXPECT_EQ(scene.count(Trouble::passed_through).steps, 2) << "on the bar's side";
}

// Where one arc of a ring goes over into the next it is no end.
TEST(Watch, SeesAFibreGoThroughARingBetweenItsArcs) {
  Crossing scene;
  constexpr double size = 0.01;
  const auto first = bodies::Ring{Vector3::Zero(), Vector3::UnitX(), size, radius}.parts().tubes[0].axis;
  const Vector3 outwards = geometry::position(first, 0.0) / size;
  test::add(scene.world, {"ring", "ring", bodies::Ring{-size * outwards, Vector3::UnitX(), size, radius}, {}, {}});
  scene.state.rods[0].root.position -= radius * (0.3 * outwards + 0.2 * geometry::derivative(first, 0.0));
  scene.press(0, 5, 0, 0.0, -1e-4 * outwards);
  const auto remarks = scene.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].message, HasSubstr("and 'ring': pressed together by 0.0001 N, they went through each other"));
}

TEST(Watch, NamesAFibreThatBendsOrFliesBeyondSense) {
  Crossing bent;
  bent.state.rods[1].coordinates[4] = 0.8 / radius;
  const auto remarks = bent.look();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::runaway);
  EXPECT_THAT(remarks[0].message, HasSubstr("fibre 1 is bent or twisted by 8e+03 1/m, 0.8 over its radius"));
  Crossing flying;
  flying.state.rods[0].root_velocity.linear = {0, 1.5 * length / dt, 0};
  ASSERT_EQ(flying.look().size(), 1U);
  flying.state.rods[0].root_velocity.linear *= 0.5;
  EXPECT_TRUE(flying.look(2).empty());
}

// A sheet rolled about its width is not strained by much, however wide it is; bent the other way it is.
TEST(Watch, TakesTheHalfThicknessOfAFlatFibreThatBendsFlat) {
  const double thin = 0.1 * radius;
  Crossing scene;
  scene.world.fibres[1].model = rods::make_super_helix({{0.5 * length, {thin, radius}, Vector3::Zero()},
                                                        {0.5 * length, {thin, radius}, Vector3::Zero()}},
                                                       material, rods::RootCondition::free)
                                    ->model();
  rods::RodState& state = scene.state.rods[1];
  state.coordinates[5] = 0.4 / thin;
  EXPECT_TRUE(scene.look().empty());
  state.coordinates[5] = 0.8 / thin;
  const auto remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].message, HasSubstr("by 8e+04 1/m, 0.8 over its half thickness"));
  state.coordinates[5] = 0.0;
  state.coordinates[4] = 0.8 / radius;
  scene.look(3);
  EXPECT_EQ(scene.count(Trouble::runaway).steps, 2);
}

TEST(Watch, NamesTheLiveliestFibreWhenEnergyRises) {
  Crossing scene;
  scene.state.rods[1].root_velocity.linear = {0, 0, 1};
  EXPECT_TRUE(scene.look().empty());
  scene.energy_rise = 0.2;
  const auto remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::energy);
  EXPECT_THAT(remarks[0].message, AllOf(HasSubstr("rose by 0.2 of its scale"), HasSubstr("fibre 1 moves most")));
}

TEST(Watch, NamesAHeldPointThatIsOff) {
  Crossing scene;
  assembly::Hold clip;
  clip.name = "clip";
  clip.fibre = 1;
  clip.share = 0.5;
  scene.world.holds = {clip, clip};
  scene.report.holds.assign(2, {});
  scene.report.holds[0].error = 0.09 * radius;
  EXPECT_TRUE(scene.look().empty()) << "a tenth of the radius is let pass";
  scene.report.holds[1].error = 2.0 * radius;
  const auto remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::hold_missed);
  EXPECT_THAT(remarks[0].message, AllOf(HasSubstr("fibre 1 at 0.01 m is 200 um off where 'clip' wants it"),
                                        HasSubstr("try time_step 0.0005 s")));
  EXPECT_EQ(scene.count(Trouble::hold_missed).worst, 2.0);
}

TEST(Watch, TellsThatAFreeMotionWasNotSolved) {
  Crossing scene;
  scene.report.motion_iterations = 100;
  EXPECT_TRUE(scene.look().empty());
  scene.report.motion_status = Status::max_iterations;
  const auto remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::motion_unsolved);
  EXPECT_THAT(remarks[0].message, HasSubstr("not solved in 100 Newton steps"));
}

TEST(Watch, NamesWhereAFibreOfNodesIsFoldedBack) {
  Crossing scene;
  const double edge = 0.25 * length;
  const std::vector<rods::RodEdge> edges(4, {edge, rods::CrossSection::circle(radius), Vector3::Zero()});
  scene.world.fibres[0].model = rods::make_discrete_elastic_rod(edges, material, rods::RootCondition::clamped)->model();
  const auto made = scene.world.fibres[0].model->make_rod();
  const rods::Rod& rod = *made;
  const auto bend_third_joint = [&](double turn) {
    VectorX curvature = rod.rest_curvature();
    curvature[3 * 2 + 2] = turn / edge;
    scene.state.rods[0] = rod.shaped({}, {}, curvature, VectorX::Zero(curvature.size()));
  };
  scene.report.motion_status = Status::stalled;
  bend_third_joint(2.0);
  EXPECT_THAT(scene.look()[0].message, HasSubstr("try time_step 0.0005 s"));
  bend_third_joint(2.8);
  scene.tally = {};
  EXPECT_THAT(scene.look()[0].message,
              AllOf(HasSubstr("fibre 0 at 0.02 m is folded back between two edges"), Not(HasSubstr("time_step"))));
}

TEST(Watch, TellsThatAStepIsLessExactThanWanted) {
  Crossing scene;
  scene.step_error = 1e-6;
  scene.report.parts = 64;
  scene.report.step_error = 0.9e-6;
  EXPECT_TRUE(scene.look().empty());
  scene.report.step_error = 9e-6;
  const auto remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].kind, Trouble::step_error);
  EXPECT_THAT(remarks[0].message, HasSubstr("cut in 64, the step still puts a point off by an estimated 9 um, 9 times "
                                            "step_error"));
  EXPECT_EQ(scene.count(Trouble::cut_steps).steps, 0) << "parts were asked for";
}

TEST(Watch, AdvisesOnceWhenStepsAreCutOften) {
  for (const auto& [every, expected] : {std::pair(4, 1), std::pair(40, 0)}) {
    Crossing scene;
    scene.contacts = {overlap(0.0)};
    scene.contacts[0].slip = 10.0 * radius / dt;
    std::vector<Remark> all;
    for (int step = 1; step <= 2000; ++step) {
      scene.report.parts = step % every == 0 ? 8 : 1;
      for (const Remark& remark : scene.look(step)) all.push_back(remark);
    }
    ASSERT_EQ(all.size(), expected);
    EXPECT_EQ(scene.count(Trouble::cut_steps).steps, 2000 / every);
    if (expected == 0) continue;
    EXPECT_EQ(all[0].message,
              "20 of 80 steps had to be cut, this one in 8; fibre 1 at 0.0123 m and tooth 3 of 'comb' slide 10 radii a "
              "step; try time_step 0.0001 s");
  }
}

TEST(Watch, AllRemarksAdviseTheLeastTimeStepSoFar) {
  Crossing scene;
  scene.energy_rise = 0.2;  // by itself, half the step
  scene.report.deepest = overlap(0.25 * radius);
  scene.contacts = {overlap(0.0)};
  scene.contacts[0].slip = 5.0 * radius / dt;
  auto remarks = scene.look(1);
  ASSERT_EQ(remarks.size(), 2U);
  for (const Remark& remark : remarks) EXPECT_THAT(remark.message, HasSubstr("try time_step 0.0002 s"));
  scene.energy_rise = 0.0;
  scene.report.deepest.reset();
  scene.report.motion_status = Status::max_iterations;  // half the step, once more
  remarks = scene.look(2);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].message, HasSubstr("try time_step 0.0002 s")) << "never longer than before";
}

/// A strand drops on a bar, slides off and goes on falling: with steps that resolve it nothing is said.
TEST(Watch, IsSilentOnARunThatIsSound) {
  assembly::World world;
  dynamics::SimulationState state;
  Pose root;
  root.position = {-0.03, 0, 1.2e-3};
  test::add(world, state, test::fibre(4, 0.04, radius, material, root, rods::RootCondition::free));
  test::add(world, {"bar", "bar", bodies::Capsule{{0, -0.1, 0}, {0, 0.1, 0}, 1e-3}, Vector3::Zero(), {}});
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.1));
  assembly::set_load(world, assembly::Gravity({0, 0, -9.81}));
  dynamics::Stepper stepper(std::move(world), test::step_options(2e-4), std::move(state));
  WatchTally tally{};
  Watch watch;
  int touching = 0;
  for (int i = 0; i < 600; ++i) {
    const dynamics::StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    touching += report.contacts > 0 ? 1 : 0;
    const auto remarks = watch.look({.report = report,
                                     .contacts = stepper.contacts(),
                                     .before = stepper.previous_state(),
                                     .at = stepper.kinematics(),
                                     .dt = stepper.options().dt},
                                    tally);
    for (const Remark& remark : remarks) ADD_FAILURE() << "step " << remark.step << ": " << remark.message;
  }
  EXPECT_GT(touching, 50);
}

/// What a step reports as deepest is the overlap that it started from.
TEST(Watch, StepsNameTheirDeepestOverlap) {
  assembly::World world;
  dynamics::SimulationState state;
  Pose root;
  root.position = {-0.02, 0, 1e-3 + 0.3 * radius};
  test::add(world, state, test::fibre(2, 0.04, radius, material, root, rods::RootCondition::free));
  test::add(world, {"bar", "bar", bodies::Capsule{{0, -0.1, 0}, {0, 0.1, 0}, 1e-3}, Vector3::Zero(), {}});
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
  dynamics::Stepper stepper(std::move(world), test::step_options(dt), std::move(state));
  const dynamics::StepReport report = stepper.step();
  ASSERT_TRUE(report.deepest);
  EXPECT_NEAR(report.max_penetration, 0.7 * radius, 1e-9);
  EXPECT_EQ(-report.deepest->gap, report.max_penetration);
  EXPECT_EQ(report.deepest->bodies(), (BodyPair{{BodyKind::fibre, 0}, {BodyKind::obstacle, 0}}));
  EXPECT_EQ(report.overlaps, 1);
  EXPECT_EQ(pair_name(*report.deepest, stepper.world()), "fibre 0 at 0.02 m and 'bar'");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::observe
