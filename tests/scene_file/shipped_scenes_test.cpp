#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "scene_file/shipped_scenes.hpp"

namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

TEST(ThreePointBending, StartsAtFirstTouch) {
  const double c = 2 * 1.85e-4, span = 5e-2;
  for (const double k : {0.0, 1e-9, 1e-3, 10.0, 20.0, 30.0}) {
    const scene::Scene s = read_scene(kScenes / "three_point_bending.toml", {{"natural_curvature", std::to_string(k)}});
    const double given = s.fibres[0].natural_curvature[0].z();
    const auto& support = std::get<bodies::Cylinder>(obstacle(s, "support").shape);
    EXPECT_EQ(support.center.x(), span / 2);
    // The circle of curvature k through the origin, tangent to x, is exactly c away from the support's axis.
    const double distance =
        given == 0.0 ? -support.center.y() : (Vector3(0, 1 / given, 0) - support.center).norm() - 1 / given;
    EXPECT_NEAR(distance, c, 1e-13 + (given > 0.0 ? 1e-16 / given : 0.0)) << k;  // the check itself cancels 1/k
    EXPECT_EQ(support.axis, Vector3(0, 0, 1));
    EXPECT_EQ(obstacle(s, "support").motion.velocity, Vector3(0, 5e-3, 0));
    EXPECT_DOUBLE_EQ(s.simulation.duration, 4.0);
    EXPECT_TRUE(s.simulation.gravity.isZero(0.0));
    EXPECT_EQ(s.fibres[0].root.frame, Matrix3::Identity());
  }
}

TEST(ThreePointBending, TakesEveryParameterOfTheContract) {
  const scene::Scene s = read_scene(kScenes / "three_point_bending.toml", {{"natural_curvature", "0.3 1/cm"},
                                                                           {"friction", "0.5"},
                                                                           {"elements", "40"},
                                                                           {"detection", "segments"},
                                                                           {"proxy_segments", "200"},
                                                                           {"time_step", "1e-3"},
                                                                           {"max_indentation", "1e-2"}});
  EXPECT_DOUBLE_EQ(s.fibres[0].natural_curvature[3].z(), 30.0);
  EXPECT_EQ(s.friction.coefficient("nitinol", "support"), 0.5);
  EXPECT_EQ(s.fibres[0].element_lengths.size(), 40U);
  EXPECT_EQ(s.contact.detection, geometry::DetectionMethod::segments);
  EXPECT_EQ(s.contact.proxy_segments, 200);
  EXPECT_EQ(s.simulation.time_step, 1e-3);
  EXPECT_DOUBLE_EQ(s.simulation.duration, 2.0);
}

TEST(Comb, WaitsBehindTheWispAndThenMovesForwardsAndDown) {
  for (const char* fibres : {"1", "2025"}) {
    const scene::Scene s =
        read_scene(kScenes / "comb.toml", {{"fibres", fibres}, {"settle_time", "2"}, {"duration", "9"}, {"seed", "5"}});
    EXPECT_EQ(s.fibres[0].grid.count, std::stoi(fibres));
    // Tilted forwards by ten degrees: a fibre hanging straight would curl in one plane, into itself.
    EXPECT_NEAR(s.fibres[0].root.frame.col(0).dot(Vector3(0, 0, -1)), std::cos(10 * std::acos(-1.0) / 180), 1e-15);
    EXPECT_GT(s.fibres[0].root.frame(0, 0), 0.0);
    EXPECT_TRUE(s.fibres[0].initial_curvature[0].isZero(0.0));
    // Neighbours cannot overlap: spacing less both offsets exceeds the diameter.
    EXPECT_GT(s.fibres[0].grid.spacing - 2 * s.fibres[0].grid.jitter, 2 * s.fibres[0].sections[0].half_axis_1);
    const bodies::Obstacle& body = obstacle(s, "comb");
    const auto& comb = std::get<bodies::Comb>(body.shape);
    const double half_width = std::ceil(std::sqrt(std::stod(fibres))) * s.fibres[0].grid.spacing / 2;
    const double coil = 2.0 / 60.0;  // how far a fibre of the default curvature can stray
    EXPECT_LT(comb.base.x() + comb.tooth_length + comb.tooth_diameter / 2, -(half_width + coil));
    EXPECT_TRUE(bodies::displacement(body.motion, 2.0).position.isZero(0.0));
    const Vector3 entered = bodies::displacement(body.motion, 5.0).position;
    EXPECT_LT(comb.base.x() + entered.x() + comb.handle_diameter / 2, -(half_width + coil));
    EXPECT_GT(comb.base.x() + entered.x() + comb.tooth_length, half_width + coil);
    const Vector3 drawn =
        bodies::displacement(body.motion, 7.0).position - bodies::displacement(body.motion, 6.0).position;
    EXPECT_NEAR(drawn.norm(), 0.025, 1e-12);
    EXPECT_GT(drawn.x(), 0.0);
    EXPECT_LT(drawn.z(), 0.0);
  }
}

TEST(Comb, KeepsItsSenseForAnyTimes) {
  for (const char* settle : {"0", "0.5", "4", "30"}) {
    for (const char* duration : {"0.1", "5", "40"}) {
      EXPECT_NO_THROW(
          static_cast<void>(read_scene(kScenes / "comb.toml", {{"settle_time", settle}, {"duration", duration}})));
    }
  }
}

TEST(InclinedPlane, FibreLiesOnThePlaneAlongTheSlope) {
  const scene::Scene s = read_scene(kScenes / "inclined_plane.toml", {{"slope_deg", "35"}});
  const auto& plane = std::get<bodies::Plane>(obstacle(s, "plane").shape);
  const scene::Root& root = s.fibres[0].root;
  EXPECT_NEAR(std::acos(plane.normal.z()), 35 * std::acos(-1.0) / 180, 1e-14);
  EXPECT_NEAR((root.position - plane.point).dot(plane.normal), s.fibres[0].sections[0].half_axis_1, 1e-18);
  EXPECT_NEAR(root.frame.col(0).dot(plane.normal), 0.0, 1e-15);
  EXPECT_LT(root.frame(2, 0), 0.0);
}

TEST(Cantilever, TakesEveryParameterOfTheContract) {
  const scene::Scene s = read_scene(kScenes / "cantilever.toml", {{"length", "1"},
                                                                  {"radius", "1e-3"},
                                                                  {"young_modulus", "2e9"},
                                                                  {"poisson_ratio", "0.25"},
                                                                  {"density", "1100"},
                                                                  {"natural_curvature", "3"},
                                                                  {"elements", "32"},
                                                                  {"model", "super-clothoid"},
                                                                  {"gravity", "1.5"},
                                                                  {"root_pitch_deg", "30"}});
  const scene::FibreGroup& rod = s.fibres[0];
  EXPECT_EQ(rod.element_lengths.size(), 32U);
  EXPECT_NEAR(std::accumulate(rod.element_lengths.begin(), rod.element_lengths.end(), 0.0), 1.0, 1e-14);
  EXPECT_DOUBLE_EQ(rod.element_lengths[31] / rod.element_lengths[0], 24.0) << "graded: it bends near its root";
  EXPECT_NEAR(rod.element_lengths[1] / rod.element_lengths[0], std::pow(24.0, 1.0 / 31), 1e-14);
  EXPECT_EQ(rod.sections[0].half_axis_1, 1e-3);
  EXPECT_EQ(rod.material.young_modulus, 2e9);
  EXPECT_EQ(rod.material.poisson_ratio, 0.25);
  EXPECT_EQ(rod.material.density, 1100.0);
  EXPECT_EQ(rod.natural_curvature[0], Vector3(0, 0, 3));
  EXPECT_EQ(rod.model, scene::RodModel::super_clothoid);
  EXPECT_EQ(s.simulation.gravity, Vector3(0, 0, -1.5));
  const double a = std::acos(-1.0) / 6;
  Matrix3 pitched;  // a turn by 30 degrees about -y: the tangent rises
  pitched << std::cos(a), 0, -std::sin(a), 0, 1, 0, std::sin(a), 0, std::cos(a);
  EXPECT_LT((rod.root.frame - pitched).norm(), 1e-15);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
