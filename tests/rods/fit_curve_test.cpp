#include <tresse/rods/fit_curve.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::rods {
namespace {

constexpr double kSameCurve = 1e-9;  ///< of the length: least squares halves the digits, the points lie on the curve

/// Points of a chain of arcs, integrated by their closed form alone.
std::vector<Vector3> sample(const std::vector<Vector3>& curvature, bool affine, double length, int points) {
  const int elements = static_cast<int>(curvature.size()) - (affine ? 1 : 0);
  const double l = length / elements;
  Pose pose{{0.1, -0.2, 0.3}, math::rotation_exp({0.3, -0.8, 1.1})};
  std::vector<geometry::ClothoidArc> arcs;
  for (int i = 0; i < elements; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Vector3 slope = affine ? Vector3((curvature[k + 1] - curvature[k]) / l) : Vector3(Vector3::Zero());
    arcs.push_back({pose.position, pose.frame, curvature[k], slope, l});
    pose = geometry::end_pose(arcs.back());
  }
  std::vector<Vector3> out;
  for (int j = 0; j <= points; ++j) {
    const double s = length * j / points;
    const int i = std::min(static_cast<int>(s / l), elements - 1);
    const geometry::ClothoidArc& arc = arcs[static_cast<std::size_t>(i)];
    out.push_back(
        geometry::end_pose({arc.position, arc.frame, arc.curvature, arc.curvature_slope, std::max(s - i * l, 1e-300)})
            .position);
  }
  return out;
}

/// Twist and amount of bending: what the choice of n1 at the root does not change.
void expect_same_curvature(const std::vector<Vector3>& found, const std::vector<Vector3>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].x(), expected[i].x(), tolerance) << i;
    EXPECT_NEAR(found[i].tail<2>().norm(), expected[i].tail<2>().norm(), tolerance) << i;
  }
}

TEST(FitCurve, FindsASuperHelixAgain) {
  const std::vector<Vector3> curvature{{4, 10, 20}, {-6, 25, 3}, {2, -12, 14}, {9, 5, 30}};
  const auto points = sample(curvature, false, 0.3, 60);
  const FittedCurve fit = fit_curve(points, {.elements = 4});
  EXPECT_EQ(fit.status, Status::converged);
  EXPECT_LT(fit.largest_distance, kSameCurve * 0.3);
  EXPECT_NEAR(fit.length, 0.3, 1e-8 * 0.3);
  expect_same_curvature(fit.curvature, curvature, 1e-6);
}

TEST(FitCurve, FindsASuperClothoidAgain) {
  const std::vector<Vector3> curvature{{0, 10, 20}, {5, 25, 3}, {8, 2, 14}, {-4, -15, 10}};
  const auto points = sample(curvature, true, 0.3, 60);
  const FittedCurve fit = fit_curve(points, {.affine = true, .elements = 3});
  EXPECT_LT(fit.largest_distance, kSameCurve * 0.3);
  expect_same_curvature(fit.curvature, curvature, 1e-6);
}

TEST(FitCurve, TakesAsFewElementsAsTheToleranceAllows) {
  std::vector<Vector3> points;  // a curl of six turns that opens out
  for (int i = 0; i <= 300; ++i) {
    const double t = i / 300.0, angle = 12 * std::numbers::pi * t;
    points.emplace_back((0.004 + 0.004 * t) * std::cos(angle), (0.004 + 0.004 * t) * std::sin(angle), 0.1 * t);
  }
  int last = 0;
  for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
    const FittedCurve fit = fit_curve(points, {.tolerance = tolerance});
    EXPECT_LE(fit.largest_distance, tolerance);
    EXPECT_LE(fit.mean_distance, fit.largest_distance);
    EXPECT_GE(fit.elements, last);
    EXPECT_LT(fit.elements, 120);
    last = fit.elements;
  }
  EXPECT_GT(last, 6);
}

TEST(FitCurve, ReportsTheDistancesOfTheCurveItReturns) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.0, 3e-4);
  std::vector<Vector3> points;
  for (int i = 0; i < 80; ++i) {
    const double t = i / 79.0;
    points.emplace_back(0.2 * t + noise(random), 0.03 * std::sin(9 * t) + noise(random), noise(random));
  }
  const FittedCurve fit = fit_curve(points, {.elements = 20});
  double largest = 0.0;
  Pose pose = fit.root;
  std::vector<Vector3> curve;
  for (const Vector3& k : fit.curvature) {
    const double l = fit.length / fit.elements;
    for (int i = 0; i < 400; ++i)
      curve.push_back(geometry::position(geometry::HelixArc{pose.position, pose.frame, k, l}, l * i / 400));
    pose = geometry::end_pose({pose.position, pose.frame, k, Vector3::Zero(), l});
  }
  curve.push_back(pose.position);
  for (const Vector3& x : points) {
    double nearest = 1.0;
    for (const Vector3& y : curve) nearest = std::min(nearest, (x - y).norm());
    largest = std::max(largest, nearest);
  }
  EXPECT_NEAR(fit.largest_distance, largest, 2e-5);
  EXPECT_LT(largest, 5 * 3e-4) << "far from the points for their noise";
  for (const Vector3& k : fit.curvature) EXPECT_LT(k.norm() * fit.length / fit.elements, 2.0) << "curls made up";
}

TEST(FitCurve, StraightAndShortRowsNeedNothingMadeUp) {
  const FittedCurve two = fit_curve({{0, 0, 0}, {0, 0, 0.5}}, {.elements = 3});
  EXPECT_NEAR(two.length, 0.5, 1e-12);
  for (const Vector3& k : two.curvature) EXPECT_LT(k.norm(), 1e-6);
  EXPECT_NEAR((two.root.frame.col(0) - Vector3::UnitZ()).norm(), 0.0, 1e-9);
  // An edge turned back on itself: no smooth curve goes there, but one comes back.
  const FittedCurve folded = fit_curve({{0, 0, 0}, {1, 0, 0}, {0.001, 0, 0}}, {.tolerance = 1e-3});
  EXPECT_TRUE(std::isfinite(folded.largest_distance));
  for (const Vector3& k : folded.curvature) EXPECT_TRUE(k.allFinite());
}

TEST(FitCurve, RefusesWhatIsNoRowOfPoints) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fit_curve({{0, 0, 0}}, {.elements = 1}), InvalidInput);
  EXPECT_THROW(fit_curve({{0, 0, 0}, {0, nan, 0}}, {.elements = 1}), InvalidInput);
  EXPECT_THROW(fit_curve({{0, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {.elements = 1}), InvalidInput);
  EXPECT_THROW(fit_curve({{0, 0, 0}, {1, 0, 0}}, {}), InvalidInput);
  EXPECT_THROW(fit_curve({{0, 0, 0}, {1, 0, 0}}, {.elements = 20'000}), InvalidInput);
}

}  // namespace
}  // namespace tresse::rods
