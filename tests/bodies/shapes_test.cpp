#include <gtest/gtest.h>

#include <tresse/bodies/shapes.hpp>

namespace tresse::bodies {
namespace TRESSE_TEST_FILE {

TEST(Shapes, CombIsAHandleAndTeethWithTheStatedClearance) {
  Comb comb{.base = {0, 0, 1}, .tooth_direction = {1, 0, 0}, .row_direction = {0, 1, 0}, .teeth = 4};
  const auto parts = bars(Shape(comb));
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_DOUBLE_EQ(parts[0].radius, 0.5 * comb.handle_diameter);
  for (int tooth = 1; tooth <= 4; ++tooth) {
    EXPECT_DOUBLE_EQ(parts[tooth].radius, 0.5 * comb.tooth_diameter);
    EXPECT_NEAR((parts[tooth].to - parts[tooth].from).norm(), comb.tooth_length, 1e-16);
  }
  for (int tooth = 1; tooth < 4; ++tooth) {
    const double pitch = (parts[tooth + 1].from - parts[tooth].from).norm();
    EXPECT_NEAR(pitch - comb.tooth_diameter, comb.tooth_spacing, 1e-16);
  }
  EXPECT_NEAR((parts[1].from + parts[4].from - 2 * comb.base).norm(), 0.0, 1e-15);
}

TEST(Shapes, SphereIsABarWithoutLengthAndPlaneHasNone) {
  const auto sphere = bars(Shape(Sphere{.center = {1, 2, 3}, .radius = 0.5}));
  ASSERT_EQ(sphere.size(), 1u);
  EXPECT_EQ(sphere[0].from, sphere[0].to);
  EXPECT_TRUE(bars(Shape(Plane{.point = {0, 0, 0}, .normal = {0, 0, 1}})).empty());
}

TEST(Shapes, CylinderIsCentred) {
  const auto parts = bars(Shape(Cylinder{.center = {1, 0, 0}, .axis = {0, 0, 1}, .radius = 0.1, .length = 2.0}));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].from, Vector3(1, 0, -1));
  EXPECT_EQ(parts[0].to, Vector3(1, 0, 1));
}

TEST(Shapes, EveryKindHasAWordOfItsOwnAndAPoint) {
  EXPECT_EQ(word(Shape(Comb{})), "comb");
  EXPECT_EQ(own_point(Capsule{{0, 0, 0}, {2, 4, 6}, 1.0}), Vector3(1, 2, 3));
  EXPECT_EQ(part_name(Comb{}, 0), "the handle");
  EXPECT_EQ(part_name(Comb{}, 3), "tooth 3");
  EXPECT_EQ(part_name(Sphere{}, 0), "");
  EXPECT_TRUE(is_from_file(Mesh{}));
  EXPECT_FALSE(is_from_file(Plane{}));
  EXPECT_EQ(extent(Capsule{{0, 0, 0}, {2, 0, 0}, 0.5}, {3, 0, 0}), 3.5);
}

// What a kind must have; what lacks a part of it is no entry of the list.
struct Wordless {
  static void fields(auto&, auto&&) {}
  Vector3 own_point() const { return Vector3::Zero(); }
  Parts parts() const { return {}; }
};
struct Keyless {
  static constexpr std::string_view word = "keyless";
  Vector3 own_point() const { return Vector3::Zero(); }
  Parts parts() const { return {}; }
};
struct Whole : Keyless {
  static void fields(auto&, auto&&) {}
};
static_assert(!Kind<Wordless> && !Kind<Keyless> && Kind<Whole> && !FreeKind<Whole> && FreeKind<Sphere>);

TEST(Shapes, DistancesAreFromTheSkinAndNegativeInside) {
  EXPECT_DOUBLE_EQ(signed_distance(Plane{Vector3(0, 0, 1), Vector3::UnitZ()}, {5, 5, 0.25}), -0.75);
  EXPECT_DOUBLE_EQ(signed_distance(Sphere{Vector3(1, 0, 0), 2.0}, {1, 0, 0}), -2.0);
  EXPECT_DOUBLE_EQ(signed_distance(Sphere{Vector3(1, 0, 0), 2.0}, {1, 4, 3}), 3.0);
  const Shape capsule = Capsule{Vector3(0, 0, 0), Vector3(2, 0, 0), 0.5};
  EXPECT_DOUBLE_EQ(signed_distance(capsule, {1, 0, 0.2}), -0.3);
  EXPECT_DOUBLE_EQ(signed_distance(capsule, {5, 4, 0}), 4.5);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::bodies
