#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <tresse/inverse/framing.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/statics/equilibrium.hpp>

// The frame of a rod at rest, from its centreline alone: equilibria that the forward code finds.
namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

/// How a curve is framed: its own frame turned back by this angle is the reference.
double turned_back(double s) { return 0.4 + 1.5 * s - 0.8 * s * s; }
double turned_back_slope(double s) { return 1.5 - 1.6 * s; }

/// How far the angle that property 4.1 finds is from the one that the rod has.
double off(const rods::RodModel& model, const rods::Rod& rod, const Vector3& stiffness, int elements) {
  const double length = rod.length(), per_node = length / rod.piece_count();
  const ReferenceFrame reference{
      length, [&](double s) {
        const Vector3 k = rod.section(s).curvature;
        const double share = s / length, c = std::cos(turned_back(share)), d = std::sin(turned_back(share));
        return Vector3(k[0] - turned_back_slope(share) / length, c * k[1] - d * k[2], c * k[2] + d * k[1]);
      }};
  const auto natural = [&](double s) {
    const int i = std::min(static_cast<int>(s / per_node), rod.piece_count() - 1);
    const double u = s / per_node - i;
    const VectorX& rest = model.rest_curvature();
    return Vector3((1.0 - u) * rest.segment<3>(3 * i) + u * rest.segment<3>(3 * i + 3));
  };
  double best = 1e9;
  for (const Framing& one : framings(reference, {natural, stiffness, turned_back(0.0)}, {.elements = elements})) {
    double worst = 0.0;
    for (int i = 0; i <= elements; ++i)
      worst = std::max(worst, std::abs(one.angle[i] - turned_back(static_cast<double>(i) / elements)));
    best = std::min(best, worst);
  }
  return best;
}

/// Elliptic and curved clothoids at rest under their weight, sampled as curves.
TEST(FramedEquilibria, AngleIsThatOfTheRod) {
  const Vector3 gravity(0.0, 3.0, -9.0);
  const rods::CrossSection section{6e-5, 4e-5};
  const rods::Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.3};
  const Vector3 stiffness = rods::bending_stiffness(section, material);
  for (const int nodes : {16, 32, 64}) {
    std::vector<Vector3> natural;
    for (int i = 0; i <= nodes; ++i) {
      const double s = static_cast<double>(i) / nodes;
      natural.emplace_back(10.0, 30.0 + 10.0 * std::sin(3.0 * s), 15.0 * std::cos(2.0 * s));
    }
    const auto rod = rods::make_super_clothoid(
        std::vector<rods::SuperClothoidElement>(static_cast<std::size_t>(nodes), {0.06 / nodes, section}), natural,
        material, rods::RootCondition::clamped);
    const rods::RodState start = rod->shaped({}, {}, rod->rest_curvature(), VectorX::Zero(rod->dof()));
    const statics::Equilibrium rest = statics::solve_equilibrium(*rod, start, gravity, {});
    ASSERT_EQ(rest.status, Status::converged);
    const double angle = off(*rod->model(), *rod, stiffness, 64);
    if (printing()) std::printf("%d clothoids, 64 elements of angle: %.1e rad\n", nodes, angle);
    EXPECT_LT(angle, 1e-4);  // of 64 elements of second order; that of the clothoids is below
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
