#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <Eigen/Cholesky>

#include "rods/rod_cases.hpp"

// Equilibria found with potential_gradient and potential_hessian against heavy cantilevers computed by shooting, and
// against super-helices of another program (tests/data/cantilever; L = 1, EI = 1).
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;
using nlohmann::json;

Vector3 vector3(const json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

/// Rod of length 1 with EI = 1, GJ = 1 / (1 + nu) and weight gamma per unit length under unit gravity.
std::unique_ptr<Rod> unit_rod(int elements, double gamma, double nu, const Vector3& rest) {
  const double radius = 1e-2;
  Material material;
  material.density = gamma / (M_PI * radius * radius);
  material.young_modulus = 4.0 / (M_PI * std::pow(radius, 4));
  material.poisson_ratio = nu;
  const std::vector<SuperHelixElement> parts(
      elements, {.length = 1.0 / elements, .section = CrossSection::circle(radius), .rest_curvature = rest});
  return make_super_helix(parts, material, RootCondition::clamped);
}

/// Newton's method with the weight turned on in steps. Returns the norm of the last gradient.
double equilibrium(Rod& rod, const Vector3& gravity) {
  const int n = rod.dof();
  VectorX gradient(n);
  MatrixX hessian(n, n);
  constexpr int loads = 40;
  for (int load = 1; load <= loads; ++load) {
    for (int iteration = 0; iteration < (load == loads ? 8 : 3); ++iteration) {
      rod.potential_gradient(gravity * load / loads, gradient);
      rod.potential_hessian(gravity * load / loads, hessian);
      RodState state = rod.state();
      state.coordinates -= Eigen::LDLT<MatrixX>(hessian).solve(gradient);
      rod.update(state);
    }
  }
  rod.potential_gradient(gravity, gradient);
  return gradient.norm();
}

TEST(SuperHelixStatics, TipsOfCurvedHeavyRodsInSpace) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/cantilever/cantilever.json");
  const json data = json::parse(file);
  for (const json& p : data["bend_twist_3d"]["points"]) {
    const auto& check = p["superhelix_check"];
    double previous = 0.0;
    for (std::size_t k = 0; k < check["N"].size(); ++k) {
      const auto rod = unit_rod(check["N"][k], p["Gamma"], p["nu"], vector3(p["kappa_nat_times_L"]));
      EXPECT_LT(equilibrium(*rod, vector3(p["gravity_direction"])), 1e-11);
      const Vector3 tip = rod->section(1.0).position;
      EXPECT_LT((tip - vector3(check["tips"][k])).norm(), 1e-9);  // the other program stopped near 1e-10
      const double error = (tip - vector3(p["tip_over_L"])).norm();
      if (k > 0) {
        EXPECT_NEAR(previous / error, 4.0, 0.2);  // second order in the element's length
      }
      previous = error;
    }
  }
}

TEST(SuperHelixStatics, PlanarHeavyCantilevers) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/cantilever/cantilever.json");
  const json data = json::parse(file);
  constexpr int elements = 32;
  for (const json& p : data["planar"]["points"]) {
    const double gamma = p["Gamma"];
    if (gamma > 50.0) continue;  // heavier ones need finer elements near the root
    const auto rod = unit_rod(elements, gamma, 0.3, Vector3::Zero());
    EXPECT_LT(equilibrium(*rod, -Vector3::UnitY()), 1e-10);
    const RodSection tip = rod->section(1.0);
    EXPECT_NEAR(-tip.position.y(), p["H_over_L"].get<double>(), 2e-3);
    EXPECT_NEAR(tip.position.x(), p["W_over_L"].get<double>(), 2e-3);
    EXPECT_NEAR(tip.position.z(), 0.0, 1e-14);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
