#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

// M, G, A, K and end points against values computed with 60 digits by another program (tests/data/darboux). Units cm,
// g, s.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using nlohmann::json;

// Reference values are rounded to double and checked to 6e-15; what is left is our rounding, relative to the largest
// entry.
constexpr double reference_tolerance = 1e-13;

json load(const std::string& name) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/" + name);
  return json::parse(file);
}

VectorX vector(const json& j) {
  VectorX v(j.size());
  for (std::size_t i = 0; i < j.size(); ++i) v[i] = j[i].get<double>();
  return v;
}

MatrixX matrix(const json& j) {
  MatrixX m(j.size(), j[0].size());
  for (std::size_t i = 0; i < j.size(); ++i) m.row(i) = vector(j[i]).transpose();
  return m;
}

double relative_error(const MatrixX& found, const MatrixX& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / std::max(expected.cwiseAbs().maxCoeff(), 1e-300);
}

/// The rod of one entry: a circular section whose line density and stiffness are those of the file.
std::unique_ptr<Rod> rod_of(const json& entry) {
  const VectorX k3 = vector(entry["K3_dyn_cm2"]);
  const double density = 1.0;
  const double area_of_section = entry["rhoS_g_per_cm"].get<double>() / density;
  const double radius = std::sqrt(area_of_section / M_PI);
  Material material{.density = density, .rotary_inertia = false};  // the reference has none
  material.young_modulus = k3[1] / (M_PI / 4.0 * std::pow(radius, 4));
  material.poisson_ratio = k3[1] / k3[0] - 1.0;
  const CrossSection section = CrossSection::circle(radius);
  if (entry["model"] == "super_helix") {
    std::vector<SuperHelixElement> elements;
    for (const json& l : entry["lengths"]) elements.push_back({.length = l, .section = section});
    return make_super_helix(elements, material, RootCondition::clamped);
  }
  std::vector<SuperClothoidElement> elements;
  for (const json& l : entry["lengths"]) elements.push_back({.length = l, .section = section});
  return make_super_clothoid(elements, std::vector<Vector3>(elements.size() + 1, Vector3::Zero()), material,
                             RootCondition::clamped);
}

TEST(CurvatureRodsReference, MassForcesAndStiffness) {
  const json data = load("darboux/darboux.json");
  int count = 0;
  for (const json& entry : data["dynamics"]) {
    ++count;
    const auto rod = rod_of(entry);
    RodState state;
    state.root = {vector(entry["r0"]), matrix(entry["frame0"])};
    state.coordinates = vector(entry["q"]);
    state.rates = vector(entry["qdot"]);
    rod->update(state);
    const Vector3 gravity = vector(entry["gravity_cm_s2"]);
    const int n = rod->dof();
    MatrixX m(n, n);
    rod->mass_matrix(m);
    MatrixX k = MatrixX::Zero(n, n);
    rod->add_stiffness(1.0, 0.0, k);
    VectorX a(n);
    VectorX g_and_a(n);
    rod->inertial_and_external_force({}, a);
    RodLoads loads;
    loads.gravity = gravity;
    rod->inertial_and_external_force(loads, g_and_a);
    const VectorX g = g_and_a - a;
    EXPECT_LT(relative_error(m, matrix(entry["M"])), reference_tolerance);
    EXPECT_LT(relative_error(k, matrix(entry["K_stiffness"])), reference_tolerance);
    EXPECT_LT(relative_error(-a, vector(entry["A_qdot_bias"])), reference_tolerance);
    EXPECT_LT(relative_error(-g, vector(entry["G_gravity"])), reference_tolerance);
    const RodEnergies energies = rod->energies(gravity);
    EXPECT_NEAR(energies.gravity, entry["potential_gravity_erg"].get<double>(), reference_tolerance);
    if (std::getenv("TRESSE_TEST_PRINT")) {
      std::printf("entry %d %s: M %.1e  A %.1e  G %.1e\n", entry["id"].get<int>(),
                  entry["model"].get<std::string>().c_str(), relative_error(m, matrix(entry["M"])),
                  relative_error(-a, vector(entry["A_qdot_bias"])), relative_error(-g, vector(entry["G_gravity"])));
    }
  }
  EXPECT_EQ(count, 8);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
