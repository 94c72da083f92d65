#include <tresse/friction/solver.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <rapidcheck/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/friction/detail/newton.hpp>
#include <tresse/friction/residual.hpp>

#include "support/friction_cases.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::MatrixX;
using tresse::Status;
using tresse::VectorX;
using tresse_test::dense;
using tresse_test::worst_violation;

constexpr Solver all[] = {Solver::hybrid_gauss_seidel,
                          Solver::alart_curnier_newton,
                          Solver::fischer_burmeister_newton,
                          Solver::cadoux,
                          Solver::path_following,
                          Solver::automatic};

VectorX zero(const VectorX& q) { return VectorX::Zero(q.size()); }

/// W = A A^T / 3n + ridge: 3n + 4 columns of A, so well conditioned.
FrictionProblem random_problem(int n, double mu, double ridge, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  MatrixX a(3 * n, 3 * n + 4);
  for (double& x : a.reshaped()) x = normal(generator);
  const MatrixX W = a * a.transpose() / (3 * n) + ridge * MatrixX::Identity(3 * n, 3 * n);
  FrictionProblem p{block_matrix(W), VectorX(3 * n), VectorX::Constant(n, mu)};
  for (double& x : p.q) x = normal(generator);
  return p;
}

TEST(SolverFamily, names_are_those_of_the_enumeration) {
  for (const Solver solver : all) EXPECT_EQ(tresse::find_word<Solver>(tresse::word(solver)), solver);
  EXPECT_EQ(tresse::word(Solver::hybrid_gauss_seidel), "hybrid-gauss-seidel");
  EXPECT_EQ(tresse::word(Solver::automatic), "auto");
  EXPECT_FALSE(tresse::find_word<Solver>("newton").has_value());
  EXPECT_FALSE(tresse::find_word<Solver>("").has_value());
}

/// Well conditioned and weakly coupled: the solution is unique, and everyone's.
TEST(SolverFamily, all_find_the_unique_solution) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const FrictionProblem p = random_problem(2 + static_cast<int>(seed) % 12, 0.1 * (seed % 6), 0.3, seed);
    const VectorX expected = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-13}).impulse;
    for (const Solver solver : all) {
      const FrictionSolution found = solve(p, zero(p.q), {.tolerance = 1e-12, .solver = solver});
      ASSERT_EQ(found.status, Status::converged)
          << tresse::word(solver) << " seed " << seed << " " << found.scaled_error;
      EXPECT_LE(found.scaled_error, 1e-12);
      EXPECT_LE((found.impulse - expected).norm(), 1e-9 * expected.norm()) << tresse::word(solver) << " seed " << seed;
      EXPECT_LE(worst_violation(dense(p), p.q, p.mu, found.impulse), 1e-11) << tresse::word(solver);
    }
  }
}

TEST(SolverFamily, both_forms_of_a_problem_agree) {
  const FactoredProblem p = tresse_test::chain(30, 2, 9, 0.3, 4, 7);
  const FrictionProblem whole = assembled(p);
  for (const Solver solver : all) {
    const SolverOptions options{.tolerance = 1e-12, .solver = solver};
    const FrictionSolution factored = solve(p, zero(p.q), options);
    const FrictionSolution stored = solve(whole, zero(p.q), options);
    ASSERT_EQ(factored.status, Status::converged) << tresse::word(solver) << " " << factored.scaled_error;
    ASSERT_EQ(stored.status, Status::converged) << tresse::word(solver) << " " << stored.scaled_error;
    EXPECT_EQ(factored.islands, stored.islands);
    EXPECT_LE((factored.velocity - stored.velocity).norm(), 1e-9 * p.q.norm()) << tresse::word(solver);
    EXPECT_LE(worst_violation(dense(whole), p.q, p.mu, factored.impulse), 1e-10) << tresse::word(solver);
  }
}

/// Large enough that W is kept in blocks and the linear systems are sparse.
TEST(SolverFamily, large_islands_are_solved_by_sparse_systems) {
  const FactoredProblem p = tresse_test::chain(90, 3, 12, 0.4, 5);
  const FrictionProblem whole = assembled(p);
  for (const Solver solver : all) {
    const FrictionSolution found = solve(p, zero(p.q), {.tolerance = 1e-11, .solver = solver});
    ASSERT_EQ(found.islands, 1);
    EXPECT_EQ(found.status, Status::converged) << tresse::word(solver) << " " << found.scaled_error;
    EXPECT_LE(worst_violation(dense(whole), p.q, p.mu, found.impulse), 1e-9) << tresse::word(solver);
  }
}

/// e_(k+1) = O(e_k^2) on the last steps: log e_(k+1) / log e_k nears 2, above rounding.
TEST(SolverFamily, newton_converges_quadratically) {
  for (const Solver solver : {Solver::alart_curnier_newton, Solver::fischer_burmeister_newton}) {
    int quadratic = 0, judged = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      const FrictionProblem p = random_problem(8, 0.3, 1.0, 100 + seed);
      const FrictionSolution found = solve(p, zero(p.q), {.tolerance = 1e-14, .solver = solver});
      const auto& h = found.history;
      double order = 0.0;
      for (std::size_t k = 2; k < h.size(); ++k) {
        constexpr double near = 1e-3, rounding = 1e-14;
        if (h[k - 1].error > near || h[k].error >= h[k - 1].error) continue;
        order = std::max(order, std::log(std::max(h[k].error, rounding)) / std::log(h[k - 1].error));
        EXPECT_LE(h[k].error, 1e3 * h[k - 1].error * h[k - 1].error + rounding)
            << tresse::word(solver) << " seed " << seed;
      }
      ++judged;
      quadratic += order > 1.7 ? 1 : 0;
    }
    EXPECT_GE(quadratic, judged * 9 / 10) << tresse::word(solver);
  }
}

TEST(SolverFamily, same_bits_for_any_number_of_threads) {
  const FactoredProblem p = tresse_test::chain(40, 3, 9, 0.3, 4, 5);
  for (const Solver solver : all) {
    const auto by = [&](std::size_t threads) {
      const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
      return solve(p, zero(p.q), {.solver = solver}).impulse;
    };
    EXPECT_TRUE(by(1) == by(4)) << tresse::word(solver);
  }
}

TEST(SolverFamily, history_is_in_order_and_holds_the_best) {
  const FactoredProblem p = tresse_test::chain(30, 3, 9, 0.4, 2);
  for (const Solver solver : all) {
    const FrictionSolution found = solve(p, zero(p.q), {.tolerance = 1e-11, .solver = solver});
    ASSERT_FALSE(found.history.empty());
    for (std::size_t k = 1; k < found.history.size(); ++k) {
      EXPECT_GE(found.history[k].sweeps, found.history[k - 1].sweeps) << tresse::word(solver);
      EXPECT_GE(found.history[k].seconds, found.history[k - 1].seconds) << tresse::word(solver);
    }
    const auto best = std::min_element(found.history.begin(), found.history.end(),
                                       [](const auto& x, const auto& y) { return x.error < y.error; });
    // Rounding between the scaled and the problem's own units.
    EXPECT_NEAR(found.scaled_error, best->error, 1e-15 + 1e-3 * best->error) << tresse::word(solver);
  }
}

TEST(SolverFamily, what_does_not_converge_is_said) {
  const FactoredProblem p = tresse_test::chain(30, 3, 9, 0.4, 2);
  const double at_start = scaled_error(p, zero(p.q));
  for (const Solver solver : all) {
    const FrictionSolution found =
        solve(p, zero(p.q), {.tolerance = 1e-14, .max_iterations = 1, .newton_contacts = 0, .solver = solver});
    EXPECT_NE(found.status, Status::converged) << tresse::word(solver);
    EXPECT_LE(found.iterations, 1) << tresse::word(solver);
    EXPECT_LE(found.scaled_error, at_start) << tresse::word(solver);
  }
}

TEST(SolverFamily, an_immovable_contact_is_named_by_all) {
  MatrixX W = MatrixX::Identity(6, 6);
  W.bottomRightCorner<3, 3>().setZero();
  FrictionProblem p{block_matrix(W), VectorX(6), VectorX::Constant(2, 0.3)};
  p.q << -1, 0.2, 0, -0.5, 0, 0;
  for (const Solver solver : all)
    EXPECT_EQ(solve(p, zero(p.q), {.solver = solver}).status, Status::no_solution) << tresse::word(solver);
}

/// Random problems of every kind: whatever happens, numbers stay finite, the error reported is that of what is
/// returned, and converged means that the law holds contact by contact.
FrictionProblem drawn_problem() {
  const int n = *rc::gen::inRange(2, 9);
  const int columns = *rc::gen::inRange(1, 3 * n + 4);  // fewer than 3n: W is singular
  const auto seed = *rc::gen::arbitrary<unsigned>();
  const double mu = *rc::gen::element(0.0, 1e-3, 0.3, 1.0, 10.0);
  const double unit = *rc::gen::element(1e-9, 1e-3, 1.0, 1e9);
  const double speed = *rc::gen::element(1e-9, 1.0, 1e9);
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  MatrixX a(3 * n, columns);
  for (double& x : a.reshaped()) x = normal(generator);
  VectorX q(3 * n), v(columns);
  for (double& x : v) x = normal(generator);
  q = a * v;  // what the bodies can do: a problem of dynamics
  if (*rc::gen::inRange(0, 4) == 0)
    for (double& x : q) x += 0.1 * normal(generator);  // and one that may have no solution
  return {block_matrix(unit * (a * a.transpose())), speed * q, VectorX::Constant(n, mu)};
}

/// Sweeps that stall are followed by Newton's methods from the best iterate: loads that drift between near copies of
/// contacts for thousands of sweeps, with nothing that helps sweeps on their own.
TEST(SolverFamily, auto_goes_on_where_sweeps_are_stuck) {
  const FactoredProblem p = tresse_test::with_near_copies(tresse_test::chain(30, 3, 12, 0.3, 2), 1e-3, 2);
  SolverOptions options{.tolerance = 1e-11, .max_iterations = 2000, .anderson_depth = 0, .newton_contacts = 0};
  const FrictionSolution sweeps = solve(p, zero(p.q), options);
  EXPECT_NE(sweeps.status, Status::converged);
  options.solver = Solver::automatic;
  const FrictionSolution found = solve(p, zero(p.q), options);
  EXPECT_EQ(found.status, Status::converged) << found.scaled_error;
  EXPECT_GT(found.newton_steps, 0);
  EXPECT_LT(found.iterations, 2000);
  EXPECT_LE(worst_violation(dense(assembled(p)), p.q, p.mu, found.impulse), 1e-9);
}

RC_GTEST_PROP(SolverFamily, robust_whatever_is_drawn, ()) {
  const FrictionProblem p = drawn_problem();
  for (const Solver solver : all) {
    const FrictionSolution found = solve(p, zero(p.q), {.tolerance = 1e-9, .max_iterations = 300, .solver = solver});
    RC_ASSERT(found.impulse.allFinite());
    RC_ASSERT(found.velocity.allFinite());
    RC_ASSERT(found.scaled_error == scaled_error(p, found.impulse));
    RC_ASSERT(found.iterations <= 300);
    RC_ASSERT((found.status == Status::converged) == (found.scaled_error <= 1e-9));
    if (found.status == Status::converged) RC_ASSERT(worst_violation(dense(p), p.q, p.mu, found.impulse) <= 1e-7);
  }
}

/// One contact of two bodies a hundred times over: rank 3 of 300.
TEST(SolverFamily, the_same_contact_a_hundred_times) {
  for (const double mu : {0.0, 0.3, 10.0}) {
    FactoredProblem p = tresse_test::chain(2, 1, 12, mu, 3);
    FactoredProblem many = p;
    constexpr int times = 100;
    many.contacts.assign(times, p.contacts.front());
    many.q = p.q.replicate(times, 1);
    many.q = VectorX(3 * times);
    for (int i = 0; i < times; ++i) many.q.segment<3>(3 * i) << -1.0, 0.8, -0.3;
    many.mu = VectorX::Constant(times, mu);
    p.q << -1.0, 0.8, -0.3;
    const VectorX one = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-13}).velocity;
    for (const Solver solver : all) {
      const FrictionSolution found = solve(many, zero(many.q), {.tolerance = 1e-10, .solver = solver});
      EXPECT_EQ(found.scaled_error, scaled_error(many, found.impulse)) << tresse::word(solver);
      // Its derivative stays singular here; it says so.
      if (solver == Solver::fischer_burmeister_newton && mu > 1.0 && found.status == Status::stalled) continue;
      ASSERT_EQ(found.status, Status::converged) << tresse::word(solver) << " mu " << mu << " " << found.scaled_error;
      EXPECT_LE((found.velocity.head<3>() - one).norm(), 1e-8) << tresse::word(solver) << " mu " << mu;
    }
  }
}

}  // namespace TRESSE_TEST_FILE
