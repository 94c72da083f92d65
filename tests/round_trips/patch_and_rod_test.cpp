#include <cmath>

#include <gtest/gtest.h>

#include <tresse/rods/rod.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/surfaces/developable_patch.hpp>

// A patch that is bent along a side is a super-helix of one element with EI = D b and rho S = rho h b.
namespace tresse {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-12;
constexpr double length = 0.4, width = 0.1, area_density = 0.3, rigidity = 5e-3, natural = 2.0;

std::unique_ptr<rods::Rod> strip() {
  const double radius = 1e-3;
  const rods::CrossSection section = rods::CrossSection::circle(radius);
  rods::Material material;
  material.density = area_density * width / rods::area(section);
  material.young_modulus = rigidity * width * 4.0 / (M_PI * std::pow(radius, 4));
  material.poisson_ratio = 0.3;
  material.rotary_inertia = false;
  return rods::make_super_helix({{.length = length, .section = section, .rest_curvature = {0.0, 0.0, natural}}},
                                material, rods::RootCondition::clamped);
}

TEST(PatchAndRod, AtAngleZeroEveryTermIsThatOfASuperHelix) {
  const surfaces::DevelopablePatch patch({.length = length,
                                          .width = width,
                                          .area_density = area_density,
                                          .rigidity = rigidity,
                                          .poisson_ratio = 0.3,
                                          .natural_curvature = natural});
  const auto rod = strip();
  for (const double k : {-6.0, 1e-4, 3.0}) {
    rods::RodState state;
    state.coordinates = Vector3(0.0, 0.0, k);
    state.rates = Vector3(0.0, 0.0, 1.3);
    // The patch bends towards e_3, the rod towards n_1; both start along the first axis.
    Matrix3 frame;
    frame << 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0;
    state.root.frame = frame;
    rod->update(state);
    surfaces::PatchVector v = surfaces::PatchVector::Zero();
    v[0] = 1.3;
    const surfaces::PatchIntegrals of = patch.integrals(k, 0.0, v);
    MatrixX mass(rod->dof(), rod->dof());
    rod->mass_matrix(mass);
    EXPECT_NEAR(of.mass(0, 0), mass(2, 2), rounding * mass(2, 2));
    const double energy = rod->elastic_energy();
    EXPECT_NEAR(patch.elastic_energy(k, 0.0), energy, rounding * energy);
    const Vector3 gravity(0.4, 0.0, -9.81);
    VectorX weight(rod->dof()), both(rod->dof());
    rod->gravity_force(gravity, weight);
    rod->inertial_and_external_force({gravity, {}, 0.0, Vector3::Zero(), {}}, both);
    EXPECT_NEAR(of.first_moment_slope.col(0).dot(gravity), weight[2], rounding * std::abs(weight[2]));
    EXPECT_NEAR(of.inertia[0], weight[2] - both[2], 1e-11 * std::abs(weight[2]));
    for (const double s : {0.1, 0.4}) {
      const Vector3 middle = surfaces::patch_point(s, 0.0, k, 0.0).x;
      EXPECT_LT((middle - rod->section(s).position).norm(), rounding * length);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
