#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <tresse/base/errors.hpp>
#include <tresse/scene/build.hpp>

/// Fibres on a circle.
namespace tresse::scene {
namespace TRESSE_TEST_FILE {

const Vector3 kAxis = Vector3(1.0, 2.0, 2.0) / 3.0;
const Vector3 kMiddle(0.1, -0.2, 0.3);

Scene on_ring(const Ring& ring) {
  FibreGroup group;
  group.name = group.material_name = "hair";
  group.material = {.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4, .damping_time = 0.01};
  group.element_lengths.assign(2, 0.01);
  group.sections.assign(2, rods::CrossSection::circle(5e-4));
  group.natural_curvature.assign(2, Vector3::Zero());
  group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
  group.root.position = kMiddle;
  group.ring = ring;
  Scene out;
  out.fibres.push_back(group);
  return out;
}

TEST(Ring, RootsStandEvenlyOnACircle) {
  for (const bool turned : {false, true}) {
    const Vector3 first(0.0, 0.0, 1.0);
    const Case built = build(on_ring({.count = 5, .radius = 0.03, .axis = kAxis, .first = first, .turned = turned}));
    ASSERT_EQ(built.world.fibres.size(), 5U);
    const auto arm = [&](std::size_t i) -> Vector3 { return built.world.fibres[i % 5].root.position - kMiddle; };
    // The first is as near the given direction as the circle allows.
    EXPECT_LT((arm(0) / 0.03 - (first - first.dot(kAxis) * kAxis).normalized()).norm(), 1e-14);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(arm(i).norm(), 0.03, 1e-16);
      EXPECT_NEAR(arm(i).dot(kAxis), 0.0, 1e-16);
      EXPECT_NEAR(std::atan2(arm(i).cross(arm(i + 1)).dot(kAxis), arm(i).dot(arm(i + 1))), 2.0 * std::numbers::pi / 5.0,
                  1e-12);
      // A frame that turns keeps its place in the axes of its arm.
      const Matrix3& frame = built.world.fibres[i].root.frame;
      const Matrix3& of_first = built.world.fibres[0].root.frame;
      if (turned) {
        EXPECT_LT((frame.transpose() * arm(i) - of_first.transpose() * arm(0)).norm(), 1e-15);
        EXPECT_LT((frame.transpose() * kAxis - of_first.transpose() * kAxis).norm(), 1e-14);
      } else {
        EXPECT_EQ(frame, of_first);
      }
    }
  }
}

TEST(Ring, WhatItCannotBeIsRefused) {
  EXPECT_THROW(build(on_ring({.count = 5, .radius = 0.0, .axis = kAxis, .first = {}})), InvalidInput);
  EXPECT_THROW(build(on_ring({.count = 5, .radius = 0.1, .axis = kAxis, .first = kAxis})), InvalidInput);
  Scene both = on_ring({.count = 5, .radius = 0.1, .axis = kAxis, .first = {}});
  both.fibres[0].grid.count = 4;
  both.fibres[0].grid.spacing = 0.1;
  EXPECT_THROW(build(both), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
