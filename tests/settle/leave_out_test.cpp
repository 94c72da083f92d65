#include <tresse/settle/leave_out.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>

/// Fibres that are left out of a scene since they overlap something at the start.
namespace tresse::settle {

using namespace scene;

namespace TRESSE_TEST_FILE {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr double radius = 1e-3;
constexpr double length = 0.05;

FibreGroup upright(const std::string& name) {
  FibreGroup out;
  out.name = out.material_name = name;
  out.material = {.density = 1000.0, .young_modulus = 1e8, .poisson_ratio = 0.4, .damping_time = 0.0};
  out.element_lengths.assign(2, 0.5 * length);
  out.sections.assign(2, rods::CrossSection::circle(radius));
  out.natural_curvature.assign(2, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  out.root.frame << 0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0;  // tangent up
  return out;
}

/// Upright strands along x.
FibreGroup row(const std::string& name, const std::vector<double>& places) {
  FibreGroup out = upright(name);
  for (const double x : places) {
    Strand& strand = out.strands.emplace_back();
    strand.position = {x, 0.0, 0.0};
    strand.frame = out.root.frame;
    strand.element_lengths = out.element_lengths;
    strand.sections = out.sections;
    strand.natural_curvature = strand.initial_curvature = out.natural_curvature;
  }
  out.root.position = out.strands.front().position;
  return out;
}

Scene scene_of(FibreGroup group) {
  Scene out;
  out.simulation.gravity.setZero();
  out.fibres.push_back(std::move(group));
  return out;
}

std::vector<std::string> left_out(scene::Scene& scene, scene::Case& built, bool pushing = false) {
  std::vector<std::string> out;
  for (const LeftOut& one : leave_out(scene, built, pushing)) out.push_back(one.message);
  return out;
}

Obstacle floor_at(double height) {
  Obstacle out;
  out.body.name = out.body.material_name = "floor";
  out.body.shape = bodies::Plane{{0.0, 0.0, height}, Vector3::UnitZ()};
  return out;
}

TEST(LeaveOut, OfAPairTheLaterGoesAndIsNamed) {
  scene::Scene scene = scene_of(row("hair", {0.0, 0.01, 0.02, 0.021989, 0.04}));  // one pair 11 um too near
  scene::Case built = build(scene);
  EXPECT_THAT(left_out(scene, built),
              ElementsAre("fibre 3 of 'hair' is left out: at the start it overlaps fibre 2 of 'hair' by 1.1e-05 m"));
  EXPECT_THAT(scene.fibres[0].leave_out, ElementsAre(3));
  ASSERT_EQ(built.world.fibres.size(), 4U);
  EXPECT_EQ(built.world.fibres[3].member, 4);
  EXPECT_NEAR(built.world.fibres[3].root.position.x(), 0.04, 1e-15);
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
}

TEST(LeaveOut, OneThatTouchesTwoGoesForBoth) {
  scene::Scene scene = scene_of(row("hair", {0.0, 0.0019, 0.0038}));
  scene::Case built = build(scene);
  EXPECT_THAT(left_out(scene, built), testing::SizeIs(1));
  EXPECT_THAT(scene.fibres[0].leave_out, ElementsAre(1));
}

TEST(LeaveOut, WhatStandsInAnObstacleGoesWhateverTheOthersDo) {
  scene::Scene scene = scene_of(row("hair", {0.0, 0.0019, 0.01}));
  scene.obstacles.push_back(floor_at(-2.0 * radius));
  scene.fibres[0].strands[0].position.z() = -2.0 * radius;
  scene::Case built = build(scene);
  const auto messages = left_out(scene, built);
  EXPECT_THAT(messages,
              ElementsAre(HasSubstr("fibre 0 of 'hair' is left out: at the start it overlaps obstacle 'floor'")));
  EXPECT_THAT(scene.fibres[0].leave_out, ElementsAre(0));
}

/// Places of the others are drawn as before.
TEST(LeaveOut, AGridKeepsThePlacesOfTheOthers) {
  scene::FibreGroup group = upright("wisp");
  group.grid = {.count = 9, .spacing = 0.01, .jitter = 0.001, .twist = 0.3};
  scene::Scene scene = scene_of(group);
  const Case whole = build(scene);
  scene.fibres[0].leave_out = {0, 4, 7};
  const Case built = build(scene);
  ASSERT_EQ(built.world.fibres.size(), 6U);
  for (const assembly::Fibre& fibre : built.world.fibres) {
    const assembly::Fibre& as = whole.world.fibres[static_cast<std::size_t>(fibre.member)];
    EXPECT_EQ(fibre.root.position, as.root.position);
    EXPECT_EQ(fibre.root.frame, as.root.frame);
  }
  EXPECT_EQ(built.options.relinearisations, whole.options.relinearisations);
}

TEST(LeaveOut, WhatGrowsOnAFibreGoesWithItAndKeepsItsNumber) {
  scene::FibreGroup trunk = upright("trunk");
  trunk.grid = {.count = 4, .spacing = 0.1};
  scene::Scene scene = scene_of(trunk);
  scene::FibreGroup twig = upright("twig");
  twig.root.condition = rods::RootCondition::carried;
  twig.root.frame.setIdentity();
  twig.root.parent = "trunk";
  twig.root.at = {0.02, 0.04};
  twig.root.position = {0.0, 2.5 * radius, 0.0};
  scene.fibres.push_back(twig);
  scene.fibres[0].leave_out = {1};
  scene.fibres[1].leave_out = {0, 5};
  const Case built = build(scene);
  std::vector<int> trunks, twigs;
  for (const assembly::Fibre& fibre : built.world.fibres) (fibre.group == 0 ? trunks : twigs).push_back(fibre.member);
  EXPECT_THAT(trunks, ElementsAre(0, 2, 3));
  EXPECT_THAT(twigs, ElementsAre(1, 4, 6, 7));
}

/// Clamped roots in one place cannot be pushed apart; another pair can, and stays.
TEST(LeaveOut, APushOutComesFirst) {
  scene::FibreGroup group = row("hair", {0.0, 0.0019, 0.05, 0.06});
  group.strands[3].frame << 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0;  // along -y, across the one before
  group.strands[3].position = {0.05 + 1.9 * radius, 0.5 * length, 0.04};
  scene::Scene scene = scene_of(group);
  scene::Case built = build(scene);
  std::set<int> overlapping;
  for (const assembly::ContactReport& overlap : initial_overlaps(built))
    overlapping.insert({overlap.a.body.fibre(), overlap.b.body.fibre()});
  ASSERT_THAT(overlapping, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(left_out(scene, built, true), ElementsAre(HasSubstr("fibre 1 of 'hair' is left out")));
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
  EXPECT_EQ(built.world.fibres.size(), 3U);
}

TEST(LeaveOut, NothingIsLeftOutOfFibresThatAreApart) {
  scene::Scene scene = scene_of(row("hair", {0.0, 0.01}));
  scene::Case built = build(scene);
  EXPECT_THAT(left_out(scene, built), IsEmpty());
  EXPECT_EQ(built.world.fibres.size(), 2U);
}

TEST(LeaveOut, WhereNoFibreWouldBeLeftItIsRefused) {
  scene::Scene scene = scene_of(row("hair", {0.0}));
  scene.obstacles.push_back(floor_at(0.01));
  scene::Case built = build(scene);
  EXPECT_THAT([&] { left_out(scene, built); }, ThrowsMessage<InvalidInput>(HasSubstr("leave_out names all fibres")));
}

TEST(LeaveOut, NumbersThatCannotBeAreRefused) {
  for (const std::vector<int>& wrong : {std::vector<int>{3}, {-1}, {1, 1}, {2, 0}}) {
    scene::Scene scene = scene_of(row("hair", {0.0, 0.01, 0.02}));
    scene.fibres[0].leave_out = wrong;
    EXPECT_THAT([&] { static_cast<void>(scene::build(scene)); }, ThrowsMessage<InvalidInput>(HasSubstr("leave_out[")));
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::settle
