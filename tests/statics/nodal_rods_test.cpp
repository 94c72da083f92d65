#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/equilibrium.hpp>

namespace tresse::statics {
namespace TRESSE_TEST_FILE {

using nlohmann::json;

/// Rod of unit length and unit EI, weight gamma per unit length under unit gravity.
using Make = decltype(&rods::make_discrete_elastic_rod);
std::unique_ptr<rods::Rod> unit_rod(Make make, int edges, double gamma) {
  const double radius = 1e-3;  // strains of gamma r^2 / 4
  const rods::Material material{.density = gamma / (M_PI * radius * radius),
                                .young_modulus = 4.0 / (M_PI * std::pow(radius, 4)),
                                .poisson_ratio = 0.3};
  const rods::RodEdge edge{1.0 / edges, rods::CrossSection::circle(radius), Vector3::Zero()};
  return make(std::vector<rods::RodEdge>(edges, edge), material, rods::RootCondition::clamped);
}

class NodalRodEquilibrium : public ::testing::TestWithParam<Make> {};
INSTANTIATE_TEST_SUITE_P(Models, NodalRodEquilibrium,
                         ::testing::Values(&rods::make_discrete_elastic_rod, &rods::make_mass_spring),
                         [](const auto& tested) { return tested.index == 0 ? "DiscreteElasticRod" : "MassSpring"; });

TEST_P(NodalRodEquilibrium, PlanarHeavyCantileversConvergeToTheElasticaInSecondOrder) {
  std::ifstream file(TRESSE_TEST_DATA "/cantilever/cantilever.json");
  const json data = json::parse(file);
  for (const json& point : data["planar"]["points"]) {
    const double gamma = point["Gamma"];
    const Vector3 exact(point["W_over_L"].get<double>(), -point["H_over_L"].get<double>(), 0.0);
    double previous = 0.0;
    for (const int edges : {20, 40, 80}) {
      const auto rod = unit_rod(GetParam(), edges, gamma);
      const rods::RodState start = rod->state();
      const Equilibrium found = solve_equilibrium(*rod, start, {0, -1, 0}, {});
      const double error = (rod->section(1.0).position - exact).norm();
      if (std::getenv("TRESSE_TEST_PRINT") != nullptr) {
        std::printf("Gamma %g, %d edges: tip %.2e, residual %.1e after %d steps\n", gamma, edges, error, found.residual,
                    found.iterations);
      }
      ASSERT_EQ(found.status, Status::converged) << gamma << " " << edges << " " << found.residual;
      EXPECT_TRUE(found.stable());
      // The load bends a root stretch of about gamma^(-1/2), which 20 edges do not resolve at the largest loads.
      if (edges == 80 && gamma < 60) {
        EXPECT_GT(std::log2(previous / error), 1.7) << gamma;
      }
      if (edges == 80) {
        EXPECT_LT(error, gamma < 60 ? 1e-3 : 1e-2);
      }
      previous = error;
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::statics
