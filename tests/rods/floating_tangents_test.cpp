#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include <tresse/math/rotations.hpp>
#include <tresse/rods/floating_tangents.hpp>

#include "rod_cases.hpp"
#include "support/messages.hpp"

namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using geometry::CubicBezier;

/// The chain's points at so many places of each piece, by plain trigonometry.
std::vector<Vector3> samples(const Pose& root, const std::vector<double>& lengths,
                             const std::vector<Vector3>& curvature, int parts) {
  VectorX q(3 * static_cast<Eigen::Index>(curvature.size()));
  for (std::size_t i = 0; i < curvature.size(); ++i) q.segment<3>(3 * static_cast<Eigen::Index>(i)) = curvature[i];
  std::vector<Vector3> out;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (int k = 1; k <= parts; ++k) {
      out.push_back(rod_cases::centreline<double>(root.position, root.frame, lengths, q, static_cast<int>(i),
                                                  lengths[i] * k / parts));
    }
  }
  return out;
}

/// A smooth curve of length 1 or so, and its derivative.
Vector3 smooth(double u) { return {std::sin(2.5 * u), 0.4 * std::cos(4.0 * u), 0.5 * u * u + 0.1 * std::sin(6.0 * u)}; }
Vector3 slope(double u) { return {2.5 * std::cos(2.5 * u), -1.6 * std::sin(4.0 * u), u + 0.6 * std::cos(6.0 * u)}; }

/// Cubic Hermite pieces of it, many enough to be it.
std::vector<CubicBezier> smooth_beziers(int count) {
  std::vector<CubicBezier> out;
  for (int i = 0; i < count; ++i) {
    const double a = static_cast<double>(i) / count, b = static_cast<double>(i + 1) / count, third = (b - a) / 3.0;
    out.push_back({{smooth(a), smooth(a) + third * slope(a), smooth(b) - third * slope(b), smooth(b)}});
  }
  return out;
}

std::vector<Vector3> sampled(const std::function<Vector3(double)>& curve, int points) {
  std::vector<Vector3> out;
  for (int j = 0; j < points; ++j) out.push_back(curve(static_cast<double>(j) / (points - 1)));
  return out;
}

double length_of(const std::vector<Vector3>& points) {
  double out = 0.0;
  for (std::size_t j = 1; j < points.size(); ++j) out += (points[j] - points[j - 1]).norm();
  return out;
}

TEST(FloatingTangents, ChainsOfHelicesComeBack) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const int pieces = 1 + trial % 20;
    Pose root{{uniform(engine), uniform(engine), uniform(engine)}, Matrix3::Identity()};
    std::vector<double> lengths;
    std::vector<Vector3> curvature;
    std::vector<CurveJoint> joints{{root.position, root.frame.col(0)}};
    Matrix3 frame = root.frame;
    for (int i = 0; i < pieces; ++i) {
      lengths.push_back(0.2 + 0.1 * uniform(engine));
      curvature.emplace_back(3.0 * uniform(engine), 5.0 * uniform(engine), 5.0 * uniform(engine));
      frame = frame * rod_cases::rodrigues<double>(lengths.back() * curvature.back());
      joints.push_back({samples(root, lengths, curvature, 1).back(), frame.col(0)});
    }
    const FloatingCurve found = float_tangents(joints);
    EXPECT_LT(found.moved, 1e-14);
    const Vector3 end = samples(found.root, found.lengths, found.curvature, 1).back();
    EXPECT_LT((end - joints.back().position).norm(), 1e-13);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_NEAR(found.lengths[i], lengths[i], 1e-12);
      EXPECT_NEAR(found.curvature[i].norm(), curvature[i].norm(), 1e-9);
      EXPECT_NEAR(found.curvature[i].x(), curvature[i].x(), 1e-9);  // the twist does not depend on the normal
    }
  }
}

/// The normal equations of the constrained problem, densely.
TEST(FloatingTangents, PositionsMoveLeast) {
  std::mt19937 engine(2);
  std::normal_distribution<double> normal;
  for (const bool held : {true, false}) {
    std::vector<CurveJoint> joints;
    for (int i = 0; i < 9; ++i) {
      const double u = i / 8.0;
      const Vector3 aside = 0.01 * Vector3(normal(engine), normal(engine), normal(engine));
      joints.push_back({smooth(u) + aside, slope(u).normalized()});
    }
    const Eigen::Index n = 8, first = held ? 1 : 0, unknowns = 3 * (9 - first);
    MatrixX rows = MatrixX::Zero(n, unknowns);
    VectorX off(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Vector3 change = joints[k + 1].tangent - joints[k].tangent;
      if (i >= first) rows.block<1, 3>(i, 3 * (i - first)) = -change.transpose();
      rows.block<1, 3>(i, 3 * (i + 1 - first)) = change.transpose();
      off[i] = -change.dot(joints[k + 1].position - joints[k].position);
    }
    const VectorX step = rows.completeOrthogonalDecomposition().solve(off);
    const FloatingCurve found = float_tangents(joints, held);
    std::vector<double> lengths;
    std::vector<Vector3> curvature;
    double worst = 0.0, moved = 0.0;
    for (std::size_t i = 0; i + 1 < joints.size(); ++i) {
      lengths.push_back(found.lengths[i]);
      curvature.push_back(found.curvature[i]);
      const Vector3 change = step.segment<3>(3 * (static_cast<Eigen::Index>(i) + 1 - first));
      const Vector3 end = samples(found.root, lengths, curvature, 1).back();
      worst = std::max(worst, (end - joints[i + 1].position - change).norm());
      moved = std::max(moved, change.norm());
    }
    EXPECT_LT(worst, 1e-13) << held;
    EXPECT_GT(moved, 1e-3);
    if (held) {
      EXPECT_EQ(found.root.position, joints[0].position);
    } else {
      moved = std::max(moved, step.head<3>().norm());
    }
    EXPECT_NEAR(found.moved, moved, 1e-13);
  }
}

TEST(FloatingTangents, ErrorFallsAsTheSquareOfTheNumberOfPieces) {
  const std::vector<CubicBezier> curve = smooth_beziers(200);
  const double length = length_of(sampled(smooth, 2000));
  double first = 0.0, last = 0.0;
  for (const int pieces : {8, 16, 32, 64, 128}) {
    const FloatingFit found = fit_floating(curve, pieces);
    EXPECT_FALSE(found.least_squares);
    EXPECT_EQ(found.relaxed, 0);
    last = found.curve.largest_distance / length;
    if (pieces == 8) first = last;
    if (rod_cases::printing()) std::printf("%d pieces: %.2e of the length\n", pieces, last);
  }
  EXPECT_GT(std::log2(first / last) / 4.0, 1.8);  // by halving
}

TEST(FloatingTangents, DistancesAreThoseOfThePoints) {
  const std::vector<Vector3> points = sampled(smooth, 60);
  const FloatingFit found = fit_floating(points, 10);
  const std::vector<Vector3> along = samples(found.curve.root, found.curve.lengths, found.curve.curvature,
                                             2000);  // feet are in order, the nearest of these need not be
  double largest = 0.0, sum = 0.0;
  for (const Vector3& point : points) {
    double nearest = (point - found.curve.root.position).norm();
    for (const Vector3& x : along) nearest = std::min(nearest, (x - point).norm());
    largest = std::max(largest, nearest);
    sum += nearest / static_cast<double>(points.size());
  }
  EXPECT_NEAR(found.curve.largest_distance, largest, 1e-3 * largest + 1e-6);
  EXPECT_NEAR(found.curve.mean_distance, sum, 3e-2 * sum);
}

/// What the tangents of a spline cost beside exact ones.
TEST(FloatingTangents, PointsDoAsWellAsTheCurveThatTheyAreFrom) {
  const std::vector<CubicBezier> curve = smooth_beziers(200);
  for (const int pieces : {8, 15, 30}) {
    const double exact = fit_floating(curve, pieces).curve.largest_distance;
    const FloatingFit found = fit_floating(sampled(smooth, 100), pieces);
    if (rod_cases::printing())
      std::printf("%d: %.2e from the curve, %.2e from points\n", pieces, exact, found.curve.largest_distance);
    EXPECT_LT(found.curve.largest_distance, 1.5 * exact + 1e-5);
  }
}

TEST(FloatingTangents, NoiseMakesNoCoils) {
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  for (const double noise : {1e-6, 1e-5, 1e-4, 1e-3}) {
    double turns = 0.0, exact = 0.0, worst = 0.0, fine = 0.0;
    int squares = 0;
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Vector3> points = sampled(smooth, 100);
      const FloatingFit clean = fit_floating(points, 15);
      for (Vector3& x : points) x += noise * Vector3(normal(engine), normal(engine), normal(engine));
      const FloatingFit found = fit_floating(points, 15);
      for (std::size_t i = 0; i < 15; ++i) {
        turns += found.curve.lengths[i] * found.curve.curvature[i].norm();
        exact += clean.curve.lengths[i] * clean.curve.curvature[i].norm();
      }
      worst = std::max(worst, found.curve.largest_distance);
      fine = std::max(fine, clean.curve.largest_distance);
      squares += found.least_squares ? 1 : 0;
    }
    if (rod_cases::printing())
      std::printf("noise %.0e: turn %.3f of %.3f, distance %.1e, %d by least squares\n", noise, turns / 20, exact / 20,
                  worst, squares);
    EXPECT_LT(turns, 1.1 * exact) << noise;
    EXPECT_LT(worst, 1.1 * fine + 6.0 * noise) << noise;
  }
}

TEST(FloatingTangents, AStraightNoisyRowIsStraight) {
  std::mt19937 engine(4);
  std::normal_distribution<double> normal;
  std::vector<Vector3> points;
  for (int j = 0; j < 100; ++j) points.emplace_back(0.01 * j, 1e-4 * normal(engine), 1e-4 * normal(engine));
  const FloatingFit found = fit_floating(points, 15);
  for (const Vector3& curvature : found.curve.curvature) EXPECT_LT(curvature.norm() * found.curve.lengths[0], 0.2);
  EXPECT_LT(found.curve.largest_distance, 5e-4);
}

TEST(FloatingTangents, ExactlyStraightRowsAreStraight) {
  for (const int count : {2, 3, 4, 50}) {
    std::vector<Vector3> points;
    for (int j = 0; j < count; ++j) points.emplace_back(Vector3(1, 2, 3) + 0.1 * j * Vector3(3, -1, 2));
    const FloatingFit found = fit_floating(points, 5);
    EXPECT_FALSE(found.least_squares);
    double length = 0.0;
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_LT(found.curve.curvature[i].norm() * found.curve.lengths[i], 1e-9) << count;
      length += found.curve.lengths[i];
    }
    EXPECT_NEAR(length, (points.back() - points.front()).norm(), 1e-12) << count;
    EXPECT_LT(found.curve.largest_distance, 1e-12) << count;
  }
}

TEST(FloatingTangents, BadInputIsTold) {
  const Vector3 x(1, 0, 0), y(0, 1, 0);
  const double nan = std::nan("");
  const std::vector<CubicBezier> bezier = smooth_beziers(3);
  const auto told = [](const auto& call) { return test::error_of(call); };
  EXPECT_EQ(told([&] {
              static_cast<void>(float_tangents(std::vector<CurveJoint>{{x, x}}));
            }),
            "fit: 1 joints; expected at least two");
  EXPECT_EQ(told([&] {
              static_cast<void>(float_tangents(std::vector<CurveJoint>{{x, x}, {Vector3(nan, 0, 0), x}}));
            }),
            "fit: joint 1 is not finite or beyond 1e9 m");
  EXPECT_EQ(told([&] {
              static_cast<void>(float_tangents(std::vector<CurveJoint>{{x, 2 * x}, {y, x}}));
            }),
            "fit: joint 0 has a tangent of another length than 1");
  EXPECT_EQ(told([&] {
              static_cast<void>(float_tangents(std::vector<CurveJoint>{{x, x}, {x, x}}));
            }),
            "fit: joint 1 coincides with the one before; expected them apart");
  EXPECT_EQ(told([&] {
              static_cast<void>(float_tangents(std::vector<CurveJoint>{{x, x}, {y, x}}));
            }),
            "fit: joints 0 and the next have equal tangents; expected one behind the other");
  EXPECT_EQ(told([&] {
              static_cast<void>(fit_floating(std::vector<Vector3>{x, x}, 2));
            }),
            "fit: points 0 and 1 coincide; expected them apart");
  EXPECT_EQ(told([&] {
              static_cast<void>(fit_floating(std::vector<Vector3>{x, y}, 0));
            }),
            "fit: elements; expected 1 to 1000");
  EXPECT_EQ(told([&] { static_cast<void>(fit_floating(std::span<const CubicBezier>(), 2)); }),
            "fit: no curve or no piece; expected at least one");
  EXPECT_EQ(told([&] {
              static_cast<void>(fit_floating(std::vector<CubicBezier>{{{x, x, x, x}}}, 2));
            }),
            "fit: Bezier curve 0 is a point");
  std::vector<Vector3> coil;
  for (int j = 0; j <= 200; ++j) coil.emplace_back(std::cos(0.1 * j), std::sin(0.1 * j), 0.01 * j);
  test::expect_refused([&] { static_cast<void>(fit_floating(coil, 3)); },
                       " rad; expected at least 7 elements, found 3");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
