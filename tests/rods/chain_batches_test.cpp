#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include <tresse/rods/detail/dense_chain_matrix.hpp>
#include <tresse/rods/detail/dense_step_matrix.hpp>

#include "rods/rod_cases.hpp"

// What a step takes of a chain at once, against the same one by one.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

VectorX random_vector(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  VectorX v(n);
  for (double& x : v) x = u(random);
  return v;
}

std::unique_ptr<StepMatrix> in_place(Model model) {
  if (model == Model::super_helix) return std::make_unique<detail::DenseChainMatrix<detail::HelixShape>>();
  return std::make_unique<detail::DenseChainMatrix<detail::ClothoidShape>>();
}

void expect_the_same_matrix(const Rod& rod, const StepTerms& terms, Model model) {
  constexpr double tolerance = 1e-13;
  const auto matrix = in_place(model);
  detail::DenseStepMatrix written_out;
  const VectorX v = random_vector(rod.dof(), 5);
  VectorX momentum, expected;
  ASSERT_TRUE(matrix->factor(rod, terms, v, momentum));
  ASSERT_TRUE(written_out.factor(rod, terms, v, expected));
  EXPECT_LT(relative(momentum, expected), tolerance);
  EXPECT_NEAR(matrix->squared_norm(v), written_out.squared_norm(v), tolerance * written_out.squared_norm(v));
}

TEST(ChainBatches, TheStepMatrixIsTheSumOfItsTerms) {
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      for (const int elements : {1, 2, 3, 5, 12}) {
        const Case c = make_case({.elements = elements, .turn = 0.7, .root = root, .seed = 3, .model = model});
        expect_the_same_matrix(*c.rod, {1e-6, 1e-3, 0.0}, model);
        expect_the_same_matrix(*c.rod, {1e-6, 1e-3, 1e-3 * 0.02}, model);  // of differing densities
      }
    }
  }
}

/// Rods that share memory say what they say alone, whichever was asked or moved last.
TEST(ChainBatches, SharedMemoryMixesNoRods) {
  const Case first = make_case({.elements = 5, .turn = 0.7, .seed = 3, .model = Model::super_helix});
  const Case second = make_case({.elements = 9, .turn = 0.5, .seed = 4, .model = Model::super_helix});
  const RodLoads loads{.gravity = {0.0, 0.0, -9.81}};
  const auto force = [&](const Rod& rod) {
    VectorX out(rod.dof());
    rod.inertial_and_external_force(loads, out);
    return out;
  };
  const VectorX of_first = force(*first.rod), of_second = force(*second.rod);
  RodState bent = first.rod->state();
  bent.coordinates *= 1.1;
  const auto alone = first.rod->clone();
  alone->update(bent);
  const VectorX of_bent = force(*alone);
  ASSERT_NE(of_bent, of_first);

  first.rod->share_memory(*second.rod);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(force(*first.rod), of_first);
    EXPECT_EQ(force(*second.rod), of_second);
  }
  const auto copy = first.rod->clone();
  first.rod->update(bent);
  EXPECT_EQ(force(*copy), of_first);
  EXPECT_EQ(force(*first.rod), of_bent);
  EXPECT_EQ(force(*copy), of_first);
}

TEST(ChainBatches, DragOnARodOfOneDensityWeighsItsMass) {
  for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
    const Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.48, .damping_time = 1e-3};
    const std::vector<SuperHelixElement> parts(
        7, {.length = 0.02, .section = CrossSection::circle(35e-6), .rest_curvature = {0, 0, 40.0}});
    const auto rod = make_super_helix(parts, material, root);
    expect_the_same_matrix(*rod, {1e-6, 1e-3, 1e-3 * 5e-4}, Model::super_helix);
  }
}

TEST(ChainBatches, RowsOfFourPointsAreTheirJacobians) {
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      for (const auto& [curl, arm] : {std::pair(0.7, 0.0), std::pair(0.7, 0.03), std::pair(9.0, 0.03)}) {
        const Case c = make_case({.elements = 5, .turn = curl, .root = root, .seed = 6, .model = model});
        const Rod& rod = *c.rod;
        std::vector<RodPoint> points;
        for (const int piece : {3, 0, 3, 1}) {
          const Vector3 turn = random_vector(3, static_cast<unsigned>(points.size()));
          points.push_back({piece, 0.3 * c.lengths[piece], math::rotation_exp(turn), arm * turn});
        }
        std::vector<FourRows> rows(static_cast<std::size_t>(rod.touched(3)));
        std::vector<Vector3> prescribed(4);
        rod.point_rows(points, rows, prescribed);
        const VectorX v = random_vector(rod.dof(), 9);
        for (std::size_t k = 0; k < points.size(); ++k) {
          const auto& [piece, u, directions, aside] = points[k];
          Matrix3X jacobian = Matrix3X::Zero(3, rod.dof());
          rod.jacobian(piece, u, aside, jacobian);
          MatrixX found(3, static_cast<Eigen::Index>(rows.size()));
          const auto at = static_cast<Eigen::Index>(k);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            for (int d = 0; d < 3; ++d) found(d, static_cast<Eigen::Index>(i)) = rows[i][place_in_rows(at, d)];
          }
          EXPECT_LT(relative(found, directions.transpose() * jacobian.leftCols(found.cols())), 1e-14);
          const Vector3 velocity = found * v.head(found.cols()) + prescribed[k];
          const Vector3 expected = rod.velocity(piece, u, v) + rod.angular_velocity(piece, u, v).cross(aside);
          EXPECT_LT((velocity - directions.transpose() * expected).norm(), 1e-13 * velocity.norm());
          // Alone: the same bits.
          std::vector<FourRows> alone(static_cast<std::size_t>(rod.touched(piece)));
          rod.point_rows({&points[k], 1}, alone, prescribed);
          for (std::size_t i = 0; i < rows.size(); ++i) {
            for (int d = 0; d < 3; ++d) {
              const double same = i < alone.size() ? alone[i][place_in_rows(0, d)] : 0.0;
              EXPECT_EQ(rows[i][place_in_rows(at, d)], same);
            }
          }
        }
      }
    }
  }
}

TEST(ChainBatches, APointOfTheSurfaceMovesWithItsSection) {
  constexpr double tolerance = 1e-9;  // sixth-order differences
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const Case c = make_case({.elements = 4, .turn = 0.8, .root = root, .seed = seed, .model = model});
        VectorX v = random_vector(c.rod->dof(), seed);
        v.tail(c.rod->coordinate_count()) *= 10.0;
        const Vector3 local = 0.02 * random_vector(3, seed + 10);
        for (const double share : {0.0, 0.4, 1.0}) {
          for (const int piece : {0, 2, 3})
            EXPECT_LT(surface_point_error(c, piece, share * (1.0 - 1e-12), local, v, 2e-3), tolerance);
        }
      }
    }
  }
}

/// An update to other rates alone leaves the kinematics; what depends on rates follows.
TEST(ChainBatches, OtherRatesAreSeen) {
  for (const Model model : curvature_models) {
    Case c = make_case({.elements = 4, .turn = 0.7, .seed = 8, .model = model});
    Case other = make_case({.elements = 4, .turn = 0.7, .seed = 8, .model = model});
    const Vector3 gravity(0.0, 1.0, -9.81);
    VectorX force(c.rod->dof()), expected(c.rod->dof());
    c.rod->inertial_and_external_force({gravity, {}, 0.0, Vector3::Zero(), {}}, force);
    RodState next = c.state;
    next.rates *= -0.3;
    next.root_velocity.angular *= 2.0;
    c.rod->update(next);
    RodState away = next;
    away.coordinates *= 1.1;
    other.rod->update(away);
    other.rod->update(next);
    EXPECT_EQ(c.rod->energies(gravity).kinetic, other.rod->energies(gravity).kinetic);
    c.rod->inertial_and_external_force({gravity, {}, 0.0, Vector3::Zero(), {}}, force);
    other.rod->inertial_and_external_force({gravity, {}, 0.0, Vector3::Zero(), {}}, expected);
    EXPECT_EQ(force, expected);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
