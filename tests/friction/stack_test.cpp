#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

#include "support/friction_cases.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::VectorX;

constexpr int nodes = 16;
constexpr int contacts_per_pair = 2 * nodes - 1;
constexpr double fall = 0.01;  // velocity that gravity gives in a step

/// Chains of free nodes of unit mass lie on each other and the lowest on the ground; contacts at the nodes and half way
/// between them, as where the chains are shifted by half a segment: the latter are redundant.
FactoredProblem stack_of_chains(int layers, double mu) {
  FactoredProblem out;
  constexpr int unknowns = 3 * nodes;
  for (int b = 0; b <= layers; ++b) out.body_begin.push_back(b * unknowns);
  std::vector<double> q;
  const auto side = [&](int body, int k, double sign) {
    const ContactRows rows{body, unknowns, static_cast<int>(out.rows.size())};
    tresse::MatrixX x = tresse::MatrixX::Zero(3, unknowns);
    constexpr int axis_of[] = {2, 0, 1};  // normal first
    for (int a = 0; a < 3; ++a) {
      x(a, 3 * (k / 2) + axis_of[a]) += 0.5 * sign;
      x(a, 3 * ((k + 1) / 2) + axis_of[a]) += 0.5 * sign;
    }
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < unknowns; ++c) out.rows.push_back(x(a, c));
    return rows;
  };
  for (int layer = 0; layer < layers; ++layer) {
    for (int k = 0; k < contacts_per_pair; ++k) {
      const ContactRows upper = side(layer, k, 1.0);
      out.contacts.push_back({upper, layer == 0 ? ContactRows{} : side(layer - 1, k, -1.0)});
      q.insert(q.end(), {layer == 0 ? -fall : 0.0, 0.0, 0.0});
    }
  }
  out.q = Eigen::Map<const VectorX>(q.data(), static_cast<Eigen::Index>(q.size()));
  out.mu = VectorX::Constant(static_cast<Eigen::Index>(out.contacts.size()), mu);
  return out;
}

double carried(const VectorX& impulse, int layer) {
  double sum = 0.0;
  for (int k = 0; k < contacts_per_pair; ++k) sum += impulse[3 * (layer * contacts_per_pair + k)];
  return sum;
}

// What lies above weighs on every layer, however its contacts share it.
TEST(Stack, of_chains_carries_its_weight) {
  constexpr int layers = 12;
  const FactoredProblem p = stack_of_chains(layers, 0.3);
  const FrictionSolution found = solve_gauss_seidel(p, VectorX::Zero(p.q.size()), {.tolerance = 1e-10});
  EXPECT_EQ(found.islands, 1);
  EXPECT_EQ(found.status, tresse::Status::converged);
  for (int layer = 0; layer < layers; ++layer)  // errors of a layer's contacts add up
    EXPECT_NEAR(carried(found.impulse, layer), (layers - layer) * nodes * fall, 1e-8 * layers * nodes * fall) << layer;
}

// An island too large for the Newton method of small ones, with near copies of contacts: where sweeps stall the
// proximal one takes over.
TEST(Stack, of_chains_is_solved_by_newton_where_sweeps_stall) {
  int by_sweeps = 0;
  for (unsigned seed = 0; seed < 4; ++seed) {
    const FactoredProblem p = tresse_test::with_near_copies(stack_of_chains(12, 0.3), 1e-5, seed);
    ASSERT_GT(p.contacts.size(), 400U);
    const VectorX zero = VectorX::Zero(p.q.size());
    SolverOptions options{.tolerance = 1e-10, .max_iterations = 1000};
    const FrictionSolution found = solve_gauss_seidel(p, zero, options);
    EXPECT_EQ(found.status, tresse::Status::converged);
    EXPECT_LE(scaled_error(p, found.impulse), 1e-10);
    EXPECT_GT(found.newton_steps, 0);
    EXPECT_LT(found.iterations, 1000);
    options.newton_contacts = 0;
    const FrictionSolution sweeps = solve_gauss_seidel(p, zero, options);
    by_sweeps += sweeps.status == tresse::Status::converged ? 1 : 0;
    if (std::getenv("TRESSE_TEST_PRINT") != nullptr)
      std::printf("stack: %d sweeps and %d Newton steps; sweeps alone %d, to %.1e\n", found.iterations,
                  found.newton_steps, sweeps.iterations, sweeps.scaled_error);
  }
  EXPECT_EQ(by_sweeps, 0);
}

// The island's share of the normaliser comes from the guess: one that is too large must not let an error pass.
TEST(Stack, a_guess_that_is_far_too_large_is_seen_through) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const FactoredProblem p = tresse_test::chain(30, 2, 12, 0.3, seed, 6);
    const VectorX zero = VectorX::Zero(p.q.size());
    const SolverOptions options{.tolerance = 1e-10};
    const FrictionSolution right = solve_gauss_seidel(p, zero, options);
    EXPECT_GT(right.islands, 1);
    const FrictionSolution found = solve_gauss_seidel(p, 1e6 * right.impulse, options);
    EXPECT_EQ(found.status, tresse::Status::converged) << found.scaled_error;
    EXPECT_LE(scaled_error(p, found.impulse), 1e-10);
    EXPECT_LT((found.velocity - right.velocity).norm(), 1e-8 * p.q.norm());
  }
}

}  // namespace TRESSE_TEST_FILE
