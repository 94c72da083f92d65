#include <tresse/scene/remarks.hpp>

#include <gtest/gtest.h>

namespace tresse::scene {
namespace {

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

}  // namespace
}  // namespace tresse::scene
