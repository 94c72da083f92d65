#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include <Eigen/Geometry>

#include <tresse/bodies/rigid_body.hpp>

namespace tresse::bodies {
namespace TRESSE_TEST_FILE {

constexpr double pi = std::numbers::pi;
const Vector3 axis = Vector3(2, -1, 2) / 3.0;
const Vector3 center(0.3, -0.1, 0.2);
const Ring ring{center, axis, 0.05, 0.015};

/// Of a point from the torus, by its coordinates along the axis and beside it.
double distance(const Vector3& point) {
  const Vector3 from = point - center;
  const double height = axis.dot(from);
  return std::hypot((from - height * axis).norm() - ring.radius, height) - ring.tube_radius;
}

TEST(Ring, DistancesAreThoseOfATorus) {
  for (int i = 0; i < 500; ++i) {
    const auto number = [i](int k) { return std::sin(12.9898 * i + 78.233 * k); };
    const Vector3 point = center + 0.1 * Vector3(number(0), number(1), number(2));
    EXPECT_NEAR(signed_distance(ring, point), distance(point), 1e-12) << i;
  }
  EXPECT_NEAR(signed_distance(ring, center), 0.035, 1e-12);
}

// The parts are one closed circle about the axis.
TEST(Ring, PartsGoOnWhereOthersEnd) {
  const Parts all = parts(ring);
  EXPECT_TRUE(all.loop);
  ASSERT_EQ(all.tubes.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const geometry::Curve& arc = all.tubes[i].axis;
    const geometry::Curve& next = all.tubes[(i + 1) % 3].axis;
    const double end = geometry::domain(arc).end;
    EXPECT_NEAR((geometry::position(arc, end) - geometry::position(next, 0.0)).norm(), 0.0, 1e-16);
    EXPECT_NEAR((geometry::derivative(arc, end) - geometry::derivative(next, 0.0)).norm(), 0.0, 1e-14);
    for (int k = 0; k <= 10; ++k) {
      const Vector3 out = geometry::position(arc, 0.1 * k * end) - center;
      EXPECT_NEAR(out.norm(), ring.radius, 1e-16);
      EXPECT_NEAR(out.dot(axis), 0.0, 1e-16);
    }
  }
}

// The bars that are drawn leave the circle by less than a thousandth of its radius.
TEST(Ring, BarsAreNearTheCircle) {
  const std::vector<Bar> all = bars(Shape(ring));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR((all[i].to - all[(i + 1) % all.size()].from).norm(), 0.0, 1e-16);
    EXPECT_GT((0.5 * (all[i].from + all[i].to) - center).norm(), (1.0 - 1e-3) * ring.radius);
  }
  EXPECT_LT(all.size(), 100U);
}

// Against sums over a grid of boxes inside the torus.
TEST(Ring, MassIsThatOfItsVolume) {
  constexpr int n = 400;
  const double reach = ring.radius + ring.tube_radius;
  const double h = 2.0 * reach / n;
  double volume_sum = 0.0, axial = 0.0, transverse = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double x = -reach + (i + 0.5) * h;
      const double y = -reach + (j + 0.5) * h;
      const double beside = std::hypot(x, y) - ring.radius;
      const double half2 = ring.tube_radius * ring.tube_radius - beside * beside;
      if (half2 <= 0.0) continue;
      const double half = std::sqrt(half2);  // of the column above x, y
      volume_sum += 2.0 * half * h * h;
      axial += 2.0 * half * (x * x + y * y) * h * h;
      transverse += (2.0 * half * y * y + 2.0 / 3.0 * half * half2) * h * h;
    }
  }
  constexpr double error = 1e-4;  // of the sums
  const Solid body = solid(ring, 2.0);
  EXPECT_NEAR(volume(ring) / volume_sum, 1.0, error);
  EXPECT_NEAR(volume(ring), pi * 0.015 * 0.015 * 2.0 * pi * 0.05, 1e-18);
  EXPECT_NEAR(body.axial_inertia / (2.0 * axial / volume_sum), 1.0, error);
  EXPECT_NEAR(body.transverse_inertia / (2.0 * transverse / volume_sum), 1.0, error);
  EXPECT_EQ(body.centre, center);
  EXPECT_EQ(body.axis, axis);
  EXPECT_TRUE(is_centre(ring, center, 1e-9));
  EXPECT_FALSE(is_centre(ring, center + Vector3(1e-6, 0, 0), 1e-9));
  EXPECT_EQ(radius(ring), 0.015);
}

TEST(Ring, HasAHole) {
  std::string wrong;
  const auto complain = [&](std::string_view key, const std::string& message) { wrong = std::string(key) + message; };
  ring.check(complain);
  EXPECT_EQ(wrong, "");
  Ring{center, axis, 0.01, 0.01}.check(complain);
  EXPECT_EQ(wrong.substr(0, 14), "tube_radiusis ");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::bodies
