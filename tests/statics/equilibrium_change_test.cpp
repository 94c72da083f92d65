#include <gtest/gtest.h>

#include <functional>

#include <tresse/math/rotations.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/equilibrium.hpp>
#include <tresse/statics/equilibrium_change.hpp>

#include "support/messages.hpp"

namespace tresse::statics {
namespace TRESSE_TEST_FILE {

const Vector3 down(2.0, 1.0, -9.0);

/// A rod that hangs, with `h` of a variation.
struct Hanging {
  std::unique_ptr<rods::Rod> rod;
  Vector3 gravity;
};

Hanging hanging(bool clothoid, const EquilibriumVariation& by, double h) {
  const rods::Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.3};
  const double thicker = std::sqrt(std::sqrt(1.0 + h * by.stiffness[1]));
  // A round section whose bending and twisting stiffness change together, and whose weight does not.
  const rods::CrossSection section = rods::CrossSection::circle(6e-5 * thicker);
  rods::Material own = material;
  own.density *= (1.0 + h * by.density) / (thicker * thicker);
  constexpr int n = 6;
  std::vector<Vector3> natural(clothoid ? n + 1 : n, Vector3(10.0, 40.0, 25.0));
  if (by.natural.size() > 0) {
    for (std::size_t i = 0; i < natural.size(); ++i)
      natural[i] += h * by.natural.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  Hanging out;
  const auto root = rods::RootCondition::clamped;
  if (clothoid) {
    out.rod =
        rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(n, {0.012, section}), natural, own, root);
  } else {
    std::vector<rods::SuperHelixElement> parts;
    for (const Vector3& k : natural) parts.push_back({0.012, section, k});
    out.rod = rods::make_super_helix(parts, own, root);
  }
  out.gravity = down + h * by.gravity;
  const Pose pose{Vector3::Zero(), math::rotation_exp(h * by.turn)};
  const rods::RodState start = out.rod->shaped(pose, {}, out.rod->rest_curvature(), VectorX::Zero(out.rod->dof()));
  EXPECT_EQ(solve_equilibrium(*out.rod, start, out.gravity, {.tolerance = 1e-13}).status, Status::converged);
  return out;
}

TEST(EquilibriumChange, IsThatOfDifferences) {
  for (const bool clothoid : {false, true}) {
    const Hanging at = hanging(clothoid, {}, 0.0);
    const Eigen::Index m = at.rod->coordinate_count();
    std::vector<EquilibriumVariation> all(5);
    all[0].stiffness.setOnes();
    all[1].density = 1.0;
    all[2].natural = VectorX::LinSpaced(m, -20.0, 30.0);
    all[3].gravity = Vector3(3.0, -5.0, 4.0);
    all[4].turn = Vector3(0.5, 1.0, -0.7);
    for (const EquilibriumVariation& by : all) {
      const double h = 1e-2;
      const auto curvature = [&](double scale) { return hanging(clothoid, by, scale * h).rod->curvature(); };
      const VectorX expected = (8.0 * (curvature(1) - curvature(-1)) - (curvature(2) - curvature(-2))) / (12.0 * h);
      const VectorX found = equilibrium_change(*at.rod, at.gravity, by);
      EXPECT_LT((found - expected).norm(), 1e-7 * expected.norm());  // of the step to the fourth
    }
  }
}

TEST(EquilibriumChange, BadInputIsTold) {
  const Hanging at = hanging(false, {}, 0.0);
  EXPECT_EQ(test::error_of([&] {
              EquilibriumVariation by;
              by.natural = VectorX::Zero(2);
              static_cast<void>(equilibrium_change(*at.rod, down, by));
            }),
            "equilibrium change: natural curvatures do not match the rod");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::statics
