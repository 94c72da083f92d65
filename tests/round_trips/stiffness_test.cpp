#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include <tresse/inverse/stiffness.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/equilibrium.hpp>

#include "support/messages.hpp"

// How stiff a rod is, from shapes in which the forward code finds it at rest.
namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

const rods::CrossSection section{6e-5, 4e-5};
const rods::Material nominal{.density = 1300.0, .young_modulus = 2e9, .poisson_ratio = 0.5};
const rods::Material real{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.3};

using Natural = std::function<Vector3(double)>;
Vector3 curled(double s) { return {20.0, 60.0 - 30.0 * s, 40.0 * s}; }
Vector3 uniform(double) { return {15.0, 50.0, 20.0}; }

std::unique_ptr<rods::Rod> made_of(bool clothoid, const rods::Material& material, const Natural& natural) {
  constexpr int elements = 12;
  const double length = 0.1 / elements;
  const auto root = rods::RootCondition::clamped;
  if (clothoid) {
    std::vector<Vector3> at;
    for (int i = 0; i <= elements; ++i) at.push_back(natural(static_cast<double>(i) / elements));
    return rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(elements, {length, section}), at, material,
                                     root);
  }
  std::vector<rods::SuperHelixElement> of;
  for (int i = 0; i < elements; ++i) of.push_back({length, section, natural((i + 0.5) / elements)});
  return rods::make_super_helix(of, material, root);
}

PoseAtRest at_rest(bool clothoid, const Natural& natural, const Vector3& gravity) {
  const std::unique_ptr<rods::Rod> rod = made_of(clothoid, real, natural);
  const rods::RodState start = rod->shaped({}, {}, rod->rest_curvature(), VectorX::Zero(rod->dof()));
  const statics::Equilibrium found = statics::solve_equilibrium(*rod, start, gravity, {.tolerance = 1e-13});
  EXPECT_EQ(found.status, Status::converged);
  return {found.curvature, gravity};
}

/// As the rod's own sections say it.
Vector3 truth() {
  return rods::bending_stiffness(section, real).cwiseQuotient(rods::bending_stiffness(section, nominal));
}

const Vector3 down(2.0, -3.0, -9.0), side(-6.0, 7.0, 3.0);

class Stiffness : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Models, Stiffness, testing::Bool(),
                         [](const auto& of) { return of.param ? "clothoid" : "helix"; });

TEST_P(Stiffness, OfTwoPosesIsExact) {
  const std::vector<PoseAtRest> poses{at_rest(GetParam(), curled, down), at_rest(GetParam(), curled, side)};
  const std::unique_ptr<rods::Rod> model = made_of(GetParam(), nominal, [](double) { return Vector3(1.0, 2.0, 3.0); });
  const MeasuredStiffness found = stiffness_of_poses(*model, poses);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_LT((found.ratio - truth()).norm(), 1e-8) << found.ratio.transpose();  // of equilibria to 1e-13, ill posed
  EXPECT_LT(found.deviation.maxCoeff(), 1e-8);
}

TEST_P(Stiffness, OfOnePoseIsExactWhereTheNaturalCurvatureIsUniform) {
  const std::unique_ptr<rods::Rod> model = made_of(GetParam(), nominal, curled);
  const MeasuredStiffness found = stiffness_of_uniform(*model, at_rest(GetParam(), uniform, down));
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_LT((found.ratio - truth()).norm(), 1e-8) << found.ratio.transpose();
}

/// Of many estimates from noisy poses: how often the truth is within an error bar of 2.5 standard deviations, which
/// holds 98.8 % of normal errors, and how the spread of the estimates compares with the deviations that they state.
struct Coverage {
  Eigen::Array3i within = Eigen::Array3i::Zero();  // trials in which each is
  Vector3 spread_ratio = Vector3::Zero();
};

Coverage coverage(bool clothoid, double noise, int trials, const std::vector<PoseAtRest>& poses) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.0, noise);
  const std::unique_ptr<rods::Rod> model = made_of(clothoid, nominal, curled);
  Coverage out;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<PoseAtRest> seen = poses;
    for (PoseAtRest& pose : seen) {
      for (double& k : pose.curvature) k += normal(random);
    }
    const MeasuredStiffness found =
        seen.size() > 1 ? stiffness_of_poses(*model, seen) : stiffness_of_uniform(*model, seen[0]);
    EXPECT_EQ(found.status, Status::converged);
    const Vector3 off = (found.ratio - truth()).cwiseQuotient(found.deviation);
    out.within += (off.array().abs() <= 2.5).cast<int>();
    out.spread_ratio += off.cwiseAbs2() / trials;
  }
  out.spread_ratio = out.spread_ratio.cwiseSqrt();
  if (printing())
    std::printf("%d %d %d of %d within; errors over their deviations %.2f %.2f %.2f\n", out.within[0], out.within[1],
                out.within[2], trials, out.spread_ratio[0], out.spread_ratio[1], out.spread_ratio[2]);
  return out;
}

TEST_P(Stiffness, OfNoisyPosesIsWithinItsErrorBar) {
  const std::vector<PoseAtRest> two{at_rest(GetParam(), curled, down), at_rest(GetParam(), curled, side)};
  const std::vector<PoseAtRest> one{at_rest(GetParam(), uniform, down)};
  for (const auto& poses : {two, one}) {
    const Coverage found = coverage(GetParam(), 0.05, 100, poses);
    EXPECT_GE(found.within.minCoeff(), 95);
    // Neither too small nor too large: the mean square of 100 normal numbers is off by 0.07 for one deviation.
    EXPECT_LT((found.spread_ratio - Vector3::Ones()).cwiseAbs().maxCoeff(), 0.25) << found.spread_ratio.transpose();
  }
}

/// In a plane nothing tells of twist; so weak a pull leaves the rod there.
TEST(MeasuredStiffness, SaysWhatThePosesDoNotTell) {
  const auto plane = [](double) { return Vector3(0.0, 0.0, 5.0); };
  const std::vector<PoseAtRest> poses{at_rest(false, plane, Vector3(0.0, -1.0, 0.0)),
                                      at_rest(false, plane, Vector3(0.0, 1.0, 0.0))};
  const std::unique_ptr<rods::Rod> model = made_of(false, nominal, plane);
  const MeasuredStiffness found = stiffness_of_poses(*model, poses);
  EXPECT_TRUE(std::isnan(found.ratio[0]) && std::isnan(found.ratio[1]));
  EXPECT_TRUE(std::isinf(found.deviation[0]));
  EXPECT_NEAR(found.ratio[2], 1.5, 1e-8);
}

TEST(MeasuredStiffness, BadInputIsTold) {
  const std::unique_ptr<rods::Rod> rod = made_of(false, nominal, curled);
  const PoseAtRest pose{rod->rest_curvature(), down};
  const auto told = [&](const std::vector<PoseAtRest>& poses) {
    return test::error_of([&] { static_cast<void>(stiffness_of_poses(*rod, poses)); });
  };
  EXPECT_EQ(told({pose}), "stiffness: fewer than two poses; a natural shape that is unknown needs two");
  EXPECT_EQ(told({pose, pose}), "stiffness: gravity does the same in every pose; expected poses that differ in it");
  EXPECT_EQ(told({pose, {VectorX::Zero(3), down}}), "stiffness: a pose has 3 curvatures; expected 36");
  EXPECT_EQ(told({pose, {VectorX::Constant(36, std::nan("")), down}}),
            "stiffness: a pose has numbers that are not finite");
  const std::unique_ptr<rods::Rod> free = rods::make_super_helix(
      std::vector<rods::SuperHelixElement>(2, {0.1, section, Vector3::Zero()}), nominal, rods::RootCondition::free);
  EXPECT_EQ(test::error_of([&] {
              static_cast<void>(stiffness_of_uniform(*free, {VectorX::Zero(6), down}));
            }),
            "stiffness: the root is not clamped; expected a clamped one");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
