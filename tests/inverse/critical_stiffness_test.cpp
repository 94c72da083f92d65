#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <tresse/inverse/critical_stiffness.hpp>
#include <tresse/inverse/rest_shape.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

#include "support/messages.hpp"

namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-3;

/// Unit length, unit weight under unit gravity, bending stiffness 1 times `stiffness`.
rods::Material unit_material(double stiffness) {
  return {.density = 1.0 / (M_PI * radius * radius),
          .young_modulus = stiffness * 4.0 / (M_PI * std::pow(radius, 4)),
          .poisson_ratio = 0.3};
}

std::unique_ptr<rods::Rod> helix(int elements, double stiffness, const VectorX& shape) {
  auto out =
      rods::make_super_helix(std::vector<rods::SuperHelixElement>(
                                 elements, {1.0 / elements, rods::CrossSection::circle(radius), Vector3::Zero()}),
                             unit_material(stiffness), rods::RootCondition::clamped);
  out->update(out->shaped({}, {}, shape, VectorX::Zero(shape.size())));
  return out;
}

/// Greenhill's heavy column: it buckles at w L^3 / EI = 7.837347.
TEST(CriticalStiffness, OfAnUprightRodIsGreenhills) {
  constexpr double greenhill = 7.837347438;
  double before = 0.0;
  for (const int elements : {10, 20, 40}) {
    const auto rod = helix(elements, 1.0, VectorX::Zero(3 * elements));
    const CriticalStiffness found = critical_stiffness(*rod, {-1.0, 0.0, 0.0});
    const double error = std::abs(found.scale * greenhill - 1.0);
    if (before > 0.0) {
      EXPECT_NEAR(std::log2(before / error), 2.0, 0.1) << elements;
    }
    before = error;
  }
  EXPECT_LT(before, 1e-3);
  auto clothoid = rods::make_super_clothoid(
      std::vector<rods::SuperClothoidElement>(20, {0.05, rods::CrossSection::circle(radius)}),
      std::vector<Vector3>(21, Vector3::Zero()), unit_material(1.0), rods::RootCondition::clamped);
  EXPECT_NEAR(critical_stiffness(*clothoid, {-1.0, 0.0, 0.0}).scale * greenhill, 1.0, 1e-5);
  auto discrete = rods::make_discrete_elastic_rod(
      std::vector<rods::RodEdge>(80, {1.0 / 80, rods::CrossSection::circle(radius), Vector3::Zero()}),
      unit_material(1.0), rods::RootCondition::clamped);
  EXPECT_NEAR(critical_stiffness(*discrete, {-1.0, 0.0, 0.0}).scale * greenhill, 1.0, 1e-3);
}

TEST(CriticalStiffness, OfAHangingRodIsNone) {
  const auto rod = helix(5, 1e-3, VectorX::Zero(15));
  const CriticalStiffness found = critical_stiffness(*rod, {1.0, 0.0, 0.0});
  EXPECT_NEAR(found.scale, 0.0, 1e-12);
  EXPECT_NEAR(found.sufficient, 0.0, 1e-12);
}

/// Four shapes of four elements, (twist, k1, k2) by element.
std::vector<VectorX> shapes() {
  std::vector<VectorX> out(4, VectorX::Zero(12));
  out[0] << 0, 1, 2, 0, -2, 1, 1, 3, 0, 0, 1, -2;
  out[1] << 0, 0, 0.5, 0, 0, 0.5, 0, 0, 0.5, 0, 0, 0.5;
  out[2] << 2, 3, 0, 2, 3, 0, 2, 3, 0, 2, 3, 0;
  out[3] << 1, -1, 4, 0, 2, 3, -1, 0, 2, 0, -3, 1;
  return out;
}

/// Energy of an inverted rod of this stiffness, displaced along a mode by `step`.
double energy(double stiffness, const VectorX& shape, const Vector3& gravity, const VectorX& step) {
  const auto rod = helix(4, stiffness, shape);
  rod->set_rest_curvature(rest_curvature(*rod, {.gravity = gravity}));
  rod->update(rod->shaped({}, {}, shape + step, VectorX::Zero(shape.size())));
  const rods::RodEnergies parts = rod->energies(gravity);
  return parts.elastic + parts.gravity;
}

/// The bend of the energy along the mode changes its sign there, and along no direction before.
TEST(CriticalStiffness, IsWhereTheEnergyNoLongerHasAMinimum) {
  for (const Vector3& gravity : {Vector3(-1.0, 0.0, 0.0), Vector3(0.0, 0.6, -0.8)}) {
    for (const VectorX& shape : shapes()) {
      const CriticalStiffness found = critical_stiffness(*helix(4, 1.0, shape), gravity);
      if (std::getenv("TRESSE_TEST_PRINT") != nullptr)
        std::printf("critical %.4f, enough %.4f\n", found.scale, found.sufficient);
      EXPECT_GE(found.sufficient, found.scale);
      if (found.scale == 0.0) continue;
      EXPECT_GT(found.sufficient, 1.1 * found.scale);
      const VectorX step = 1e-3 / found.mode.norm() * found.mode;
      const auto bend = [&](double stiffness) {
        return energy(stiffness, shape, gravity, step) + energy(stiffness, shape, gravity, -step) -
               2.0 * energy(stiffness, shape, gravity, VectorX::Zero(12));
      };
      EXPECT_GT(bend(1.01 * found.scale), 0.0);
      EXPECT_LT(bend(0.99 * found.scale), 0.0);
      // The same stiffness whatever that of the rod is that is asked.
      EXPECT_NEAR(2.0 * critical_stiffness(*helix(4, 2.0, shape), gravity).scale, found.scale, 1e-10 * found.scale);
    }
  }
}

TEST(CriticalStiffness, AsksForAClampedRoot) {
  auto rod = rods::make_super_helix({{1.0, rods::CrossSection::circle(radius), Vector3::Zero()}}, unit_material(1.0),
                                    rods::RootCondition::free);
  EXPECT_EQ(test::error_of([&] {
              static_cast<void>(critical_stiffness(*rod, {0, 0, -1}));
            }),
            "inverse: critical stiffness of a root that is not clamped; expected a clamped one");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
