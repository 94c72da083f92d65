#include <tresse/friction/convex.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/solver.hpp>

#include "support/friction_cases.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Status;
using tresse::Vector3;
using tresse::VectorX;

VectorX zero(const VectorX& q) { return VectorX::Zero(q.size()); }

double energy(const FactoredProblem& p, const VectorX& r) {
  const VectorX u = velocity(p, r);
  return 0.5 * r.dot(u + p.q);
}

/// One contact, W = I: the projection of -q on the cone.
TEST(Convex, one_contact_is_a_projection) {
  for (const double mu : {0.0, 0.4, 2.0}) {
    FrictionProblem p{block_matrix(tresse::MatrixX::Identity(3, 3)), VectorX(3), VectorX::Constant(1, mu)};
    p.q << -1.0, 3.0, 1.0;
    const ConvexSolution found = solve_convex(p, zero(p.q), {.tolerance = 1e-14});
    EXPECT_EQ(found.status, Status::converged) << found.error;
    EXPECT_LE((found.impulse - project_on_cone(Vector3(-p.q), mu)).norm(), 1e-13);
  }
}

/// Both forms reach the same minimum; no duality gap is left, and no feasible point nearby is lower.
TEST(Convex, both_forms_agree_without_a_duality_gap) {
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  for (unsigned seed = 0; seed < 12; ++seed) {
    // Of every second one the contacts outnumber what the bodies can do: 8 between bodies of 6 unknowns, 24 equations.
    FactoredProblem p =
        seed % 2 == 0 ? tresse_test::chain(6, 8, 6, 0.1 * seed, seed, 3) : tresse_test::chain(12, 3, 9, 0.4, seed, 5);
    // A velocity that the bodies have: then stopping them is feasible. The primal form has no solution otherwise.
    VectorX free = p.q;
    p.q.setZero();
    p.q = velocity(p, free);
    p.q /= p.q.norm();
    const ConvexSolution dual = solve_convex(p, zero(p.q), {.tolerance = 1e-12});
    const ConvexSolution primal = solve_convex(p, zero(p.q), {.tolerance = 1e-12, .form = ConvexForm::primal});
    ASSERT_EQ(dual.status, Status::converged) << seed << " " << dual.error;
    ASSERT_EQ(primal.status, Status::converged) << seed << " " << primal.error;
    EXPECT_EQ(dual.error, convex_error(p, dual.impulse));
    EXPECT_LE((dual.velocity - primal.velocity).norm(), 1e-9 * p.q.norm()) << seed;  // unique, unlike the impulses
    const double size = dual.primal_energy;
    for (const ConvexSolution& found : {dual, primal}) {
      EXPECT_NEAR(found.dual_energy, -found.primal_energy, 1e-10 * size) << seed;
      EXPECT_NEAR(found.dual_energy, energy(p, found.impulse), 1e-12 * size) << seed;
    }
    for (int trial = 0; trial < 50; ++trial) {
      VectorX other = dual.impulse;
      for (double& x : other) x += 0.1 * normal(generator) * dual.impulse.norm();
      for (Eigen::Index i = 0; i < p.mu.size(); ++i)
        other.segment<3>(3 * i) = project_on_cone(other.segment<3>(3 * i), p.mu[i]);
      EXPECT_GE(energy(p, other), dual.dual_energy - 1e-10 * size) << seed;
    }
  }
}

/// Coulomb's solution solves the convex problem with its own s = mu |u_T|.
TEST(Convex, coulombs_solution_is_the_fixed_point) {
  FactoredProblem p = tresse_test::chain(10, 2, 12, 0.4, 6);
  const FrictionSolution coulomb = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-13});
  ASSERT_EQ(coulomb.status, Status::converged);
  for (Eigen::Index i = 0; i < p.mu.size(); ++i)
    p.q[3 * i] += p.mu[i] * tangential_norm(Vector3(coulomb.velocity.segment<3>(3 * i)));
  EXPECT_LE(convex_error(p, coulomb.impulse), 1e-12);
  const ConvexSolution found = solve_convex(p, zero(p.q), {.tolerance = 1e-12});
  ASSERT_EQ(found.status, Status::converged);
  EXPECT_LE((found.impulse - coulomb.impulse).norm(), 1e-8 * coulomb.impulse.norm());
}

TEST(Convex, refuses_what_it_cannot_do) {
  FrictionProblem p{block_matrix(tresse::MatrixX::Identity(3, 3)), VectorX::Ones(3), VectorX::Ones(1)};
  EXPECT_THROW(static_cast<void>(solve_convex(p, zero(p.q), {.form = ConvexForm::primal})), tresse::InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_convex(p, VectorX(2), {})), tresse::InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_convex(p, zero(p.q), {.tolerance = 0.0})), tresse::InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_convex(p, zero(p.q), {.max_iterations = 0})), tresse::InvalidInput);
}

/// Immovable and pushed in: the dual energy falls without bound, and no one claims otherwise.
TEST(Convex, an_infeasible_problem_is_not_said_to_converge) {
  FrictionProblem p{block_matrix(tresse::MatrixX::Zero(6, 6)), VectorX::Zero(6), VectorX::Constant(2, 0.3)};
  p.q[0] = -1.0;
  const ConvexSolution found = solve_convex(p, zero(p.q), {.max_iterations = 100});
  EXPECT_NE(found.status, Status::converged);
  EXPECT_TRUE(found.impulse.allFinite());
}

}  // namespace TRESSE_TEST_FILE
