#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tresse/assembly/tree.hpp>
#include <tresse/inverse/rest_shapes.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

#include "support/messages.hpp"

namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

constexpr rods::Material wood{.density = 800.0, .young_modulus = 1e8, .poisson_ratio = 0.3};

assembly::Fibre fibre(int elements, double length, rods::RootCondition root, bool clothoid) {
  const rods::CrossSection section{1e-3, 0.8e-3};
  const auto n = static_cast<std::size_t>(elements);
  const double l = length / elements;
  assembly::Fibre out;
  out.model = clothoid ? rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(n, {l, section}),
                                                   std::vector<Vector3>(n + 1, Vector3::Zero()), wood, root)
                             ->model()
                       : rods::make_super_helix(std::vector<rods::SuperHelixElement>(n, {l, section, Vector3::Zero()}),
                                                wood, root)
                             ->model();
  return out;
}

/// A trunk with a branch, which has one of its own, in random shapes.
struct Plant {
  assembly::World world;
  std::vector<rods::RodState> states;
};
Plant plant() {
  Plant out;
  const auto carried = rods::RootCondition::carried;
  out.world.fibres = {fibre(4, 0.4, rods::RootCondition::clamped, false), fibre(3, 0.2, carried, true),
                      fibre(2, 0.1, carried, false)};
  const Matrix3 aside = Eigen::AngleAxisd(0.8, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  out.world.fibres[1].attachment = {0, 2, 0.06, {Vector3(0.0, 1e-3, 0.0), aside}};
  out.world.fibres[2].attachment = {1, 1, 0.03, {Vector3::Zero(), aside.transpose()}};
  set_load(out.world, assembly::Gravity({1.0, 2.0, -9.0}));
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-6.0, 6.0);
  for (const assembly::Fibre& one : out.world.fibres) {
    VectorX q(one.model->coordinate_count());
    for (Eigen::Index i = 0; i < q.size(); ++i) q[i] = uniform(engine);
    out.states.push_back({one.root, {}, q, VectorX::Zero(q.size()), {}});
  }
  return out;
}

double energy(assembly::Kinematics& at, std::vector<rods::RodState> states, const FibreLoad& load) {
  const assembly::Forest forest = assembly::make_forest(at.world());
  for (const assembly::Tree& tree : forest.trees) assembly::update_tree(at, tree, states);
  double out = 0.0;
  for (std::size_t f = 0; f < states.size(); ++f) {
    const rods::RodEnergies parts = at.rod(static_cast<int>(f)).energies(assembly::gravity_of(at.world()));
    out += parts.elastic + parts.gravity;
  }
  const rods::Rod& rod = at.rod(load.fibre);
  return out - load.load.force.dot(rod.section(rod.piece_begin(load.load.piece) + load.load.u).position);
}

TEST(RestShapes, OfATreeKeepItWithItsBranches) {
  Plant one = plant();
  const FibreLoad load{2, {1, 0.02, Vector3(1e-4, -2e-4, 3e-4)}};
  assembly::Kinematics at(one.world);
  const assembly::Forest forest = assembly::make_forest(one.world);
  assembly::update_tree(at, forest.trees[0], one.states);
  const std::vector<RestingRod> found = resting_rods(at, {load});
  assembly::World grown = one.world;
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_LT(found[f].residual, 1e-12);
    grown.fibres[f].model = found[f].model;
  }
  assembly::Kinematics rests(grown), straight(one.world);
  for (std::size_t f = 0; f < 3; ++f) {
    for (Eigen::Index k = 0; k < one.states[f].coordinates.size(); ++k) {
      const auto slope = [&](assembly::Kinematics& of, double h) {
        std::vector<rods::RodState> up = one.states, down = one.states;
        up[f].coordinates[k] += h;
        down[f].coordinates[k] -= h;
        return (energy(of, up, load) - energy(of, down, load)) / (2.0 * h);
      };
      const auto exact = [&](assembly::Kinematics& of) { return (4.0 * slope(of, 5e-3) - slope(of, 1e-2)) / 3.0; };
      const double weight = 9.0 * 800.0 * 2.5e-6 * 0.01;  // of a plant of this size, times its square
      EXPECT_LT(std::abs(exact(rests)), 1e-7 * weight) << f << " " << k;
    }
  }
}

TEST(RestShapes, OfFibresWithoutBranchesAreThoseOfEachToTheBit) {
  assembly::World world;
  world.fibres = {fibre(4, 0.4, rods::RootCondition::clamped, false),
                  fibre(3, 0.3, rods::RootCondition::clamped, true)};
  set_load(world, assembly::Gravity({0.0, 0.0, -9.81}));
  const assembly::Kinematics at(world);
  const std::vector<RestingRod> found = resting_rods(at, {});
  for (int f = 0; f < 2; ++f) {
    EXPECT_EQ(found[static_cast<std::size_t>(f)].model->rest_curvature(),
              rest_curvature(at.rod(f), {.gravity = {0.0, 0.0, -9.81}}));
  }
}

TEST(RestShapes, AFibreThatCannotRestIsNamed) {
  assembly::World world;
  world.fibres = {fibre(2, 0.1, rods::RootCondition::clamped, false), fibre(2, 0.1, rods::RootCondition::free, false)};
  set_load(world, assembly::Gravity({0.0, 0.0, -9.81}));
  const assembly::Kinematics at(world);
  EXPECT_EQ(test::error_of([&] { static_cast<void>(resting_rods(at, {})); }),
            "fibre 1: inverse: the loads on a free rod do not balance; no natural shape holds it");
  EXPECT_EQ(test::error_of([&] {
              static_cast<void>(resting_rods(at, {FibreLoad{2, PointLoad{}}}));
            }),
            "inverse: a load on fibre 2; expected one of the world");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
