#include <tresse/rods/fit_curve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

namespace tresse::rods {
namespace TRESSE_TEST_FILE {

constexpr double kSameParameters = 1e-9;  ///< of curvature times length, points with all their digits
constexpr double kSingle = 1e-8;          ///< of the length, mean distance of points kept in single precision: their
                                          ///< coordinates, up to one length, are rounded by 3e-8
constexpr Material kMaterial{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3};
const Pose kRoot{{0.1, -0.2, 0.3}, math::rotation_exp({0.3, -0.8, 1.1})};

using Points = std::vector<Vector3>;

VectorX stacked(const std::vector<Vector3>& values) {
  VectorX out(3 * static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) out.segment<3>(3 * static_cast<Eigen::Index>(i)) = values[i];
  return out;
}

/// The rod that a simulation would have.
std::unique_ptr<Rod> rod_of(const std::vector<double>& lengths, const std::vector<Vector3>& curvature, bool affine,
                            const Pose& root) {
  const CrossSection section = CrossSection::circle(1e-4);
  std::unique_ptr<Rod> rod;
  if (affine) {
    std::vector<SuperClothoidElement> elements;
    for (const double l : lengths) elements.push_back({l, section});
    rod = make_super_clothoid(elements, curvature, kMaterial, RootCondition::clamped);
  } else {
    std::vector<SuperHelixElement> elements;
    for (std::size_t i = 0; i < lengths.size(); ++i) elements.push_back({lengths[i], section, curvature[i]});
    rod = make_super_helix(elements, kMaterial, RootCondition::clamped);
  }
  rod->update(rod->shaped(root, {}, stacked(curvature), VectorX::Zero(rod->coordinate_count())));
  return rod;
}

Points sample(const Rod& rod, int segments) {
  Points out;
  for (int j = 0; j <= segments; ++j) out.push_back(rod.section(rod.length() * j / segments).position);
  return out;
}

std::vector<double> equal_lengths(std::size_t count, double length) {
  return std::vector<double>(count, length / static_cast<double>(count));
}

/// Largest distance from the points to a rod, by a search that shares nothing with the fit.
double farthest(const Points& points, const Rod& rod) {
  const Points curve = sample(rod, 4000);
  double out = 0.0;
  for (const Vector3& x : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < curve.size(); ++i) {
      const Vector3 edge = curve[i] - curve[i - 1];
      const double share = std::clamp((x - curve[i - 1]).dot(edge) / edge.squaredNorm(), 0.0, 1.0);
      nearest = std::min(nearest, (x - curve[i - 1] - share * edge).norm());
    }
    out = std::max(out, nearest);
  }
  return out;
}

/// Twist and amount of bending: what the choice of n1 at the root does not change.
void expect_same(const FittedCurve& found, const std::vector<Vector3>& curvature, double length, double tolerance) {
  ASSERT_EQ(found.curvature.size(), curvature.size());
  EXPECT_NEAR(std::accumulate(found.lengths.begin(), found.lengths.end(), 0.0), length, tolerance * length);
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    EXPECT_NEAR(found.curvature[i].x() * length, curvature[i].x() * length, tolerance) << i;
    EXPECT_NEAR(found.curvature[i].tail<2>().norm() * length, curvature[i].tail<2>().norm() * length, tolerance) << i;
  }
}

double largest_bend(const FittedCurve& fit) {
  double out = 0.0;
  for (const Vector3& k : fit.curvature) out = std::max(out, k.norm());
  return out;
}

Points in_single_precision(Points points) {
  for (Vector3& x : points) x = x.cast<float>().cast<double>();
  return points;
}

struct Shape {
  bool affine;
  double length;
  std::vector<Vector3> curvature;
};

/// Bent gently and into several turns.
std::vector<Shape> shapes() {
  const std::vector<Vector3> helix{{4, 10, 20}, {-6, 25, 3}, {2, -12, 14}, {9, 5, 30}};
  const std::vector<Vector3> clothoid{{0, 10, 20}, {5, 25, 3}, {8, 2, 14}, {-4, -15, 10}};
  std::vector<Shape> out{{false, 0.3, helix}, {true, 0.3, clothoid}};
  for (const double k : {100.0, 200.0, 400.0}) {
    std::vector<Vector3> curl;
    for (int i = 0; i < 6; ++i) curl.emplace_back(0.3 * k + i, -i, k + 2 * i);
    out.push_back({false, 0.1, curl});
    curl.emplace_back(0.3 * k, 0, k);
    out.push_back({true, 0.1, curl});
  }
  return out;
}

TEST(FitCurve, FindsRodsAgainToRounding) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.curvature.back().norm() * (shape.affine ? -1.0 : 1.0));
    const std::size_t elements = shape.curvature.size() - (shape.affine ? 1 : 0);
    const auto rod = rod_of(equal_lengths(elements, shape.length), shape.curvature, shape.affine, kRoot);
    const Points points = sample(*rod, static_cast<int>(8 * elements));
    const FitOptions options{.affine = shape.affine, .elements = static_cast<int>(elements)};
    const FittedCurve fit = fit_curve(points, options);
    EXPECT_EQ(fit.status, Status::converged);
    EXPECT_LT(fit.largest_distance, 1e-14);
    expect_same(fit, shape.curvature, shape.length, kSameParameters);
    const FittedCurve rounded = fit_curve(in_single_precision(points), options);
    EXPECT_LT(rounded.largest_distance, 6e-8 * (kRoot.position.norm() + shape.length));
    EXPECT_LT(rounded.mean_distance, 3 * kSingle * (kRoot.position.norm() + shape.length));
  }
}

TEST(FitCurve, FindsUnequalElementsByTheirParts) {
  const std::vector<Vector3> curvature{{4, 10, 20}, {-6, 25, 3}, {2, -12, 14}};
  const std::vector<double> lengths{0.05, 0.1, 0.15};
  const auto rod = rod_of(lengths, curvature, false, kRoot);
  const FittedCurve fit = fit_curve(sample(*rod, 40), {.parts = {1, 2, 3}});
  expect_same(fit, curvature, 0.3, kSameParameters);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(fit.lengths[i], lengths[i], 1e-12);
}

TEST(FitCurve, ToleranceTakesTheElementsThatMadeThePoints) {
  const std::vector<Vector3> curvature{{4, 10, 20}, {-6, 25, 3}, {2, -12, 14}, {9, 5, 30}};
  const auto rod = rod_of(equal_lengths(4, 0.3), curvature, false, kRoot);
  const FittedCurve fit = fit_curve(in_single_precision(sample(*rod, 60)), {.tolerance = 1e-6});
  EXPECT_EQ(fit.lengths.size(), 4U);
  EXPECT_LT(fit.largest_distance, 1e-7);
}

TEST(FitCurve, TakesMoreElementsForSmallerTolerances) {
  Points points;  // a curl of six turns that opens out
  for (int i = 0; i <= 150; ++i) {
    const double t = i / 150.0, angle = 12 * std::numbers::pi * t;
    points.emplace_back((0.004 + 0.004 * t) * std::cos(angle), (0.004 + 0.004 * t) * std::sin(angle), 0.1 * t);
  }
  std::size_t last = 0;
  for (const double tolerance : {1e-3, 1e-4}) {
    const FittedCurve fit = fit_curve(points, {.tolerance = tolerance});
    EXPECT_LE(fit.largest_distance, tolerance);
    EXPECT_LE(fit.mean_distance, fit.largest_distance);
    EXPECT_GT(fit.lengths.size(), last);
    EXPECT_LT(fit.lengths.size(), 20U);
    last = fit.lengths.size();
  }
}

TEST(FitCurve, MakesNoCurlsFromNoiseAboutAStraightLine) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> noise(-0.01 / 63, 0.01 / 63);  // a hundredth of a segment
    Points points;
    for (int i = 0; i < 64; ++i) points.emplace_back(i / 63.0 + noise(random), noise(random), noise(random));
    for (const bool affine : {false, true}) {
      const FittedCurve fit = fit_curve(points, {.affine = affine, .elements = 20});
      // Through all points it would be near 30: a hundredth of a segment from one to the next.
      EXPECT_LT(largest_bend(fit), 0.1) << "rad over the whole length, seed " << seed;
      EXPECT_LT(fit.largest_distance, 0.02 / 63);
    }
  }
}

TEST(FitCurve, FollowsNoisyWavesWithoutTheNoise) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.0, 1e-4);
  Points points;
  for (int i = 0; i < 80; ++i) {
    const double t = i / 79.0;
    points.emplace_back(0.2 * t + noise(random), 0.01 * std::sin(20 * t) + noise(random),
                        0.004 * std::cos(17 * t) + noise(random));
  }
  for (const bool affine : {false, true}) {
    const FittedCurve fit = fit_curve(points, {.affine = affine, .elements = 24});
    const auto rod = rod_of(fit.lengths, fit.curvature, affine, fit.root);
    EXPECT_NEAR(fit.largest_distance, farthest(points, *rod), 1e-6);
    EXPECT_LT(fit.largest_distance, 5e-4);
    // The waves' own is 0.01 * (20 / 0.2)^2 = 100 / m.
    EXPECT_LT(largest_bend(fit), 160.0);
  }
}

TEST(FitCurve, TwoAndThreePointsAreALineAndAnArc) {
  const FittedCurve line = fit_curve({{0, 0, 0}, {0, 0, 0.5}}, {.elements = 3});
  EXPECT_NEAR(line.lengths[0], 0.5 / 3, 1e-15);
  EXPECT_EQ(largest_bend(line), 0.0);
  EXPECT_NEAR((line.root.frame.col(0) - Vector3::UnitZ()).norm(), 0.0, 1e-15);
  // Three corners of a square lie on a half circle about its middle.
  const FittedCurve arc = fit_curve({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}, {.elements = 1});
  EXPECT_NEAR(arc.curvature[0].norm(), std::numbers::sqrt2, 1e-9);
  EXPECT_NEAR(arc.curvature[0].x(), 0.0, 1e-9);
  EXPECT_LT(arc.largest_distance, 1e-12);
  // Turned back on itself: the fold is opened by less than the tolerance.
  const FittedCurve folded = fit_curve({{0, 0, 0}, {1, 0, 0}, {0.001, 0, 0}}, {.tolerance = 1e-3});
  EXPECT_LE(folded.deviation, 1e-3);
  EXPECT_NEAR(folded.length_ratio, 1.0, 0.01);
}

TEST(FitCurve, HairpinsAreAsLongAsTheirPolylines) {
  const std::vector<Points> rows{
      {{0, 0, 0}, {0, 0, 0.01}, {0, 0, 0.02}, {0.05, 0, 0}, {0.05, 0, 0.01}, {0.05, 0, 0.02}},
      {{0, 0, 0}, {0, 0, 0.01}, {0, 0, 0.02}, {0.002, 0, 0.01}, {0.004, 0, 0}},
      {{0, 0, 0}, {0, 0, 0.01}, {0, 0, 0.02}, {0.01, 0, 0.02}, {0.02, 0, 0.02}},
  };
  for (const Points& row : rows) {
    double length = 0.0;
    for (std::size_t j = 1; j < row.size(); ++j) length += (row[j] - row[j - 1]).norm();
    for (const bool affine : {false, true}) {
      const FittedCurve fit = fit_curve(row, {.affine = affine, .tolerance = 1e-4});
      EXPECT_NEAR(std::accumulate(fit.lengths.begin(), fit.lengths.end(), 0.0), length, 5e-3 * length);
      EXPECT_LE(fit.deviation, 1e-4);
      EXPECT_LE(farthest(row, *rod_of(fit.lengths, fit.curvature, affine, fit.root)), fit.largest_distance + 1e-5);
    }
  }
}

TEST(FitCurve, FewSmoothPointsAreMetByAsManyElementsAsItTakes) {
  for (int count = 4; count <= 8; ++count) {
    Points points;
    for (int i = 0; i < count; ++i) points.emplace_back(0.001 * i * i, 0, 0.01 * i);
    for (const bool affine : {false, true}) {
      const FittedCurve fit = fit_curve(points, {.affine = affine, .tolerance = 1e-5});
      EXPECT_LE(fit.largest_distance, 1e-5) << count << " points";
      EXPECT_NEAR(fit.length_ratio, 1.0, 2e-3);
      // Of the parabola: as smooth as the points are.
      EXPECT_LT(largest_bend(fit), 30.0);
    }
    if (count == 4) {
      EXPECT_EQ(fit_curve(points, {.tolerance = 1e-5}).lengths.size(), 2U);
    }
  }
}

TEST(FitCurve, NeighboursThatAllButCoincideDoNotBendTheCurve) {
  Points points;
  for (int i = 0; i < 30; ++i) {
    const double angle = 0.1 * i;
    points.emplace_back(0.1 * std::sin(angle), 0.1 * std::cos(angle), 0.0);
    if (i % 5 == 2) points.emplace_back(points.back() + Vector3(0, 0, 1e-8));
  }
  const FittedCurve fit = fit_curve(points, {.tolerance = 1e-4});
  EXPECT_EQ(fit.lengths.size(), 1U);
  EXPECT_LT(fit.largest_distance, 1e-5);
}

TEST(FitCurve, ChainsOfEdgesGoThroughTheirNodes) {
  Points points;
  for (int i = 0; i < 30; ++i) {
    const double t = 0.2 * i + 0.05 * (i % 3);
    points.emplace_back(0.1 * std::cos(t), 0.1 * std::sin(t), 0.03 * t);
  }
  for (const bool clamped : {true, false}) {
    for (const int edges : {29, 12, 40}) {
      const FittedCurve fit = fit_polygon(points, {.elements = edges, .clamped_root = clamped});
      std::vector<RodEdge> made;
      for (std::size_t i = 0; i < fit.lengths.size(); ++i)
        made.push_back({fit.lengths[i], CrossSection::circle(1e-4), fit.curvature[i]});
      const auto condition = clamped ? RootCondition::clamped : RootCondition::free;
      for (const auto& rod :
           {make_discrete_elastic_rod(made, kMaterial, condition), make_mass_spring(made, kMaterial, condition)}) {
        const VectorX curvature = rod->curvature_of_elements(stacked(fit.curvature));
        rod->update(rod->shaped(fit.root, {}, curvature, VectorX::Zero(curvature.size())));
        EXPECT_NEAR((rod->section(rod->length()).position - points.back()).norm(), 0.0, 1e-12);
        EXPECT_NEAR(farthest(points, *rod), fit.largest_distance, 3e-5);  // the search cuts corners
        if (edges == 29) {
          EXPECT_EQ(fit.largest_distance, 0.0);
          for (int i = 0; i < 29; ++i)
            EXPECT_NEAR((rod->section(rod->piece_begin(i)).position - points[static_cast<std::size_t>(i)]).norm(), 0.0,
                        1e-12);
        }
      }
    }
  }
  const FittedCurve few = fit_polygon(points, {.tolerance = 2e-3});
  EXPECT_LE(few.largest_distance, 2e-3);
  EXPECT_LT(few.lengths.size(), 29U);
}

TEST(FitCurve, RefusesWhatIsNoRowOfPoints) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto fit : {fit_curve, fit_polygon}) {
    EXPECT_THROW(fit({{0, 0, 0}}, {.elements = 1}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {0, nan, 0}}, {.elements = 1}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {.elements = 1}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {.elements = 20'000}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {.elements = 1, .tolerance = -1.0}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {.elements = 1, .parts = {1.0}}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {.parts = {1.0, -1.0}}), InvalidInput);
    EXPECT_THROW(fit({{0, 0, 0}, {1, 0, 0}}, {.elements = 1, .max_iterations = 0}), InvalidInput);
  }
  EXPECT_THROW(fit_polygon({{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}}, {.elements = 2}), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
