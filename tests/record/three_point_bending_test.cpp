#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/statics/world_equilibrium.hpp>

/// The shipped three-point bending scene against the planar elastica in contact with a disc: scene file, super-helix,
/// contact detection, friction and time stepping in one number, the force on the support. The full set is
/// validation/three_point_bending.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

constexpr double kFirstIndentation = 0.02;  // before, the support's start from rest at its full speed still rings
constexpr double kForceTolerance = 3e-3;    // of the largest force: 20 elements leave 0.17 to 0.26 %

/// Reference values with the scene's own dimensions.
struct Reference {
  double span, force_scale;                ///< [m], [N]
  std::vector<double> indentation, force;  ///< dimensionless
  double largest;
};

Reference reference(int natural_curvature, const std::string& friction) {
  std::ifstream file(TRESSE_TEST_DATA "/three_point_bending/three_point_bending.json");
  const auto data = nlohmann::json::parse(file);
  const auto& curve = data.at("curves").at(fmt::format("kappa0_{:.1f}_mu_{}", natural_curvature / 100.0, friction));
  Reference out{.span = data.at("parameters").at("Delta_m"),
                .force_scale = data.at("parameters").at("force_scale_F_over_Fbar_N"),
                .indentation = curve.at("delta_bar"),
                .force = curve.at("F_bar"),
                .largest = 0.0};
  out.largest = *std::max_element(out.force.begin(), out.force.end());
  return out;
}

struct Curve {
  std::vector<double> indentation, force;  ///< dimensionless, one entry a step

  double force_at(double where) const {
    const auto above = std::lower_bound(indentation.begin(), indentation.end(), where);
    if (above == indentation.begin() || above == indentation.end()) throw std::out_of_range("indentation");
    const auto i = static_cast<std::size_t>(above - indentation.begin());
    const double share = (where - indentation[i - 1]) / (indentation[i] - indentation[i - 1]);
    return force[i - 1] + share * (force[i] - force[i - 1]);
  }
};

Curve simulate(const scene_file::ParameterOverrides& set, const Reference& scale, double last_indentation) {
  scene::Case built = scene::build(scene_file::read_scene(TRESSE_SCENES "/three_point_bending.toml", set));
  const double speed = 5e-3;  // of the support, as the scene has it [m/s]
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  Curve curve;
  while (curve.indentation.empty() || curve.indentation.back() < last_indentation) {
    const dynamics::StepReport report = stepper.step();
    if (!report.finite || report.solver_status != Status::converged) throw std::runtime_error("a step failed");
    curve.indentation.push_back(speed * report.time / scale.span);
    curve.force.push_back(2.0 * std::abs(report.obstacles.at(0).force.y()) / scale.force_scale);
  }
  return curve;
}

struct Setting {
  int natural_curvature;  ///< [1/m]
  const char* friction;
  const char* time_step;  ///< [s]
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << "curvature " << setting.natural_curvature << ", friction " << setting.friction << ", step "
       << setting.time_step;
}

class ThreePointBendingForce : public testing::TestWithParam<Setting> {};

TEST_P(ThreePointBendingForce, force_is_that_of_the_elastica) {
  const auto& [natural_curvature, friction, time_step] = GetParam();
  const Reference expected = reference(natural_curvature, friction);
  const Curve curve = simulate(
      {{"natural_curvature", std::to_string(natural_curvature)}, {"friction", friction}, {"time_step", time_step}},
      expected, 0.301);
  double worst = 0.0;
  int compared = 0;
  for (std::size_t i = 0; i < expected.indentation.size(); ++i) {
    if (expected.indentation[i] < kFirstIndentation - 1e-12) continue;
    const double error = (curve.force_at(expected.indentation[i]) - expected.force[i]) / expected.largest;
    EXPECT_LE(std::abs(error), kForceTolerance) << "at indentation " << expected.indentation[i];
    worst = std::max(worst, std::abs(error));
    ++compared;
  }
  EXPECT_EQ(compared, 57);
  RecordProperty("worst_error", fmt::format("{:.2e}", worst));
}

INSTANTIATE_TEST_SUITE_P(CurvatureFrictionStep, ThreePointBendingForce,
                         testing::Values(Setting{0, "0.0", "1e-2"}, Setting{0, "0.5", "1e-2"},
                                         Setting{30, "0.0", "1e-2"}, Setting{30, "0.5", "1e-2"},
                                         Setting{0, "0.0", "1e-3"}, Setting{0, "0.5", "1e-3"},
                                         Setting{30, "0.0", "1e-3"}, Setting{30, "0.5", "1e-3"}));

/// Statics, the support moved up slowly: no ringing, so that first touch counts too. 40 elements leave a quarter of the
/// error of 20.
TEST(ThreePointBendingStatics, force_is_that_of_the_elastica) {
  for (const int natural_curvature : {0, 20}) {
    const Reference expected = reference(natural_curvature, "0.0");
    for (const double indentation : {0.01, 0.05, 0.2}) {
      scene::Case built = scene::build(
          scene_file::read_scene(TRESSE_SCENES "/three_point_bending.toml",
                                 {{"natural_curvature", std::to_string(natural_curvature)}, {"elements", "40"}}));
      statics::WorldEquilibriumOptions options;
      options.time = indentation * expected.span / 5e-3;
      options.margin = built.options.margin;
      options.broad_phase = built.options.broad_phase;
      assembly::Kinematics rods(built.world);
      const statics::WorldEquilibrium found = statics::solve_equilibrium(rods, built.state.rods, options);
      ASSERT_EQ(found.status, Status::converged) << indentation << " " << found.residual;
      EXPECT_TRUE(found.stable());
      ASSERT_EQ(found.contacts.size(), 1U);
      const assembly::ContactReport& contact = found.contacts[0];
      const double force = 2.0 * std::abs(contact.force.y()) / expected.force_scale;
      const auto at =
          std::min_element(expected.indentation.begin(), expected.indentation.end(),
                           [&](double x, double y) { return std::abs(x - indentation) < std::abs(y - indentation); });
      ASSERT_NEAR(*at, indentation, 1e-12);
      const double exact = expected.force[static_cast<std::size_t>(at - expected.indentation.begin())];
      EXPECT_NEAR(force / exact, 1.0, 1.5e-3) << natural_curvature << " " << indentation;
    }
  }
}

/// Total variation over indentation 0.02 to 0.1 of the force minus its centred moving average over `window` steps, over
/// the largest force.
double roughness(const Curve& curve, std::size_t window, double largest) {
  const std::size_t half = window / 2;
  double variation = 0.0, previous = 0.0;
  bool first = true;
  for (std::size_t i = half; i + half < curve.force.size(); ++i) {
    if (curve.indentation[i] < kFirstIndentation || curve.indentation[i] > 0.1) continue;
    double mean = 0.0;
    for (std::size_t j = i - half; j <= i + half; ++j) mean += curve.force[j] / static_cast<double>(2 * half + 1);
    const double deviation = curve.force[i] - mean;
    if (!first) variation += std::abs(deviation - previous);
    previous = deviation;
    first = false;
  }
  return variation / largest;
}

TEST(ThreePointBendingRoughness, segments_are_many_times_rougher_than_certified_detection) {
  constexpr double kMostRoughness = 5e-4;  // asked of the whole range at steps of 1e-4 s
  constexpr double kLeastRatio = 100.0;
  constexpr std::size_t kWindow = 21;  // 0.002 of indentation in steps of 1e-3 s
  const Reference scale = reference(30, "0.0");
  const scene_file::ParameterOverrides smooth{{"natural_curvature", "30"}, {"time_step", "1e-3"}};
  scene_file::ParameterOverrides broken = smooth;
  broken.emplace_back("detection", "segments");
  const double certified = roughness(simulate(smooth, scale, 0.102), kWindow, scale.largest);
  const double segments = roughness(simulate(broken, scale, 0.102), kWindow, scale.largest);
  RecordProperty("certified", fmt::format("{:.2e}", certified));
  RecordProperty("segments", fmt::format("{:.2e}", segments));
  EXPECT_LE(certified, kMostRoughness);
  EXPECT_GE(segments, kLeastRatio * certified);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
