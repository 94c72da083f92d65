#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/lowest_points.hpp>

#include "geometry/random_curves.hpp"

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

using test::RandomCurves;

RC_GTEST_PROP(LowestPoints, are_the_local_minima_of_dense_samples, (unsigned seed)) {
  RandomCurves random(seed);
  const Curve curve = random.any();
  const Interval part = random.part(curve);
  const Vector3 point = random.vector(0.01);
  const Vector3 normal = random.rotation().col(0);
  const auto height = [&](double s) { return normal.dot(position(curve, s) - point); };

  constexpr int samples = 1500;
  std::vector<double> h(samples + 1);
  for (int i = 0; i <= samples; ++i) h[i] = height(part.begin + (part.end - part.begin) * i / samples);
  const double step = (part.end - part.begin) / samples;
  const std::vector<double> found = lowest_points(curve, part, point, normal);
  for (int i = 0; i <= samples; ++i) {
    const bool low = (i == 0 || h[i] < h[i - 1]) && (i == samples || h[i] < h[i + 1]);
    if (!low) continue;
    const double s = part.begin + i * step;
    RC_ASSERT(
        std::any_of(found.begin(), found.end(), [&](double x) { return std::abs(x - s) <= 1.01 * step + 1e-15; }));
  }
  for (const double s : found) {
    // Sorted, inside, and lower than its neighbourhood, which may end before the next sample.
    RC_ASSERT(s >= part.begin && s <= part.end);
    const double near = 1e-5 * step;
    for (const double other : {s - near, s + near})
      RC_ASSERT(other < part.begin || other > part.end || height(other) >= height(s) - 1e-15);
  }
  RC_ASSERT(std::is_sorted(found.begin(), found.end()));

  double least = std::numeric_limits<double>::infinity();
  for (const double s : found) least = std::min(least, height(s));
  RC_ASSERT(least <= *std::min_element(h.begin(), h.end()) + 1e-16);

  const double bound = least + 1e-4;
  for (const double s : lowest_points(curve, part, point, normal, bound)) RC_ASSERT(height(s) <= bound);
}

TEST(LowestPoints, of_a_level_curve_are_its_ends) {
  const Vector3 up = Vector3::UnitZ();
  const LineSegment segment{Vector3(0, 0, 1), Vector3(2, 0, 1)};
  EXPECT_EQ(lowest_points(segment, {0.0, 2.0}, Vector3::Zero(), up), (std::vector<double>{0.0, 2.0}));
  const HelixArc circle{Vector3(0, 0, 1), Matrix3::Identity(), Vector3(0, 0, 100.0), 0.05};  // in the plane z = 1
  EXPECT_EQ(lowest_points(circle, {0.0, 0.05}, Vector3::Zero(), up).size(), 2U);
}

TEST(LowestPoints, of_a_coil_come_once_a_turn) {
  // Ten turns that start at the bottom, so eleven bottoms with both ends.
  const double k = 1000.0, twist = 200.0, rate = std::hypot(k, twist);
  const HelixArc coil{Vector3::Zero(), Matrix3::Identity(), Vector3(twist, 0.0, k), 10.0 * 2.0 * M_PI / rate};
  const std::vector<double> found = lowest_points(coil, {0.0, coil.length}, Vector3::Zero(), Vector3::UnitY());
  EXPECT_EQ(found.size(), 11U);
}

TEST(LowestPoints, of_a_point_is_the_point) {
  const LineSegment point{Vector3(1, 2, 3), Vector3(1, 2, 3)};
  EXPECT_EQ(lowest_points(point, {0.0, 0.0}, Vector3::Zero(), Vector3::UnitZ()), (std::vector<double>{0.0}));
}

TEST(LowestPoints, refuse_bad_input) {
  const LineSegment segment{Vector3::Zero(), Vector3::UnitX()};
  EXPECT_THROW(static_cast<void>(lowest_points(segment, {1.0, 0.0}, Vector3::Zero(), Vector3::UnitZ())), InvalidInput);
  EXPECT_THROW(static_cast<void>(lowest_points(segment, {0.0, 1.0}, Vector3::Zero(), Vector3(0, 0, 2))), InvalidInput);
  EXPECT_THROW(static_cast<void>(lowest_points(segment, {0.0, 1.0}, Vector3(NAN, 0, 0), Vector3::UnitZ())),
               InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
