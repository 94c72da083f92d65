#include <tresse/friction/solver.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <rapidcheck/gtest.h>
#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>
#include <tresse/friction/residual.hpp>

#include "support/coulomb_law.hpp"
#include "support/friction_cases.hpp"
#include "support/messages.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::MatrixX;
using tresse::Status;
using tresse::Vector3;
using tresse::VectorX;
using tresse::test::expect_refused;
using tresse_test::coulomb_violation;
using tresse_test::dense;
using tresse_test::worst_violation;

VectorX zero(const VectorX& q) { return VectorX::Zero(q.size()); }

/// Fixed-point iteration on the projection in long double with a short step: slow, simple, shares no code.
VectorX projected_iteration(const MatrixX& W, const VectorX& q, const VectorX& mu) {
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const auto w = W.cast<long double>().eval();
  const Long free = q.cast<long double>();
  Long r = Long::Zero(q.size());
  const long double step = 0.7L / W.operatorNorm();
  for (int k = 0; k < 60000; ++k) {
    const Long u = w * r + free;
    long double change = 0;
    for (Eigen::Index i = 0; i < mu.size(); ++i) {
      const long double m = mu[i];
      const long double slip = std::hypot(u[3 * i + 1], u[3 * i + 2]);
      const long double n = r[3 * i] - step * (u[3 * i] + m * slip);
      const long double a = r[3 * i + 1] - step * u[3 * i + 1], b = r[3 * i + 2] - step * u[3 * i + 2];
      const long double t = std::hypot(a, b);
      long double rn = n, scale = 1;
      if (t > m * n) {
        rn = m * t <= -n ? 0 : (n + m * t) / (1 + m * m);
        scale = rn > 0 ? m * rn / t : 0;
      }
      change = std::max({change, std::abs(rn - r[3 * i]), std::abs(scale * a - r[3 * i + 1])});
      r[3 * i] = rn;
      r[3 * i + 1] = scale * a;
      r[3 * i + 2] = scale * b;
    }
    if (change < 1e-17L) break;
  }
  return r.cast<double>();
}

TEST(GaussSeidel, random_problems_against_projected_iteration) {
  std::mt19937 generator(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 25; ++trial) {
    const int n = 2 + trial % 4;
    MatrixX a(3 * n, 3 * n + 4);
    for (double& x : a.reshaped()) x = normal(generator);
    const MatrixX W = a * a.transpose() / (3 * n) + 0.3 * MatrixX::Identity(3 * n, 3 * n);
    FrictionProblem p{block_matrix(W), VectorX(3 * n), VectorX::Constant(n, 0.1 * (trial % 5))};
    for (double& x : p.q) x = normal(generator);
    const VectorX expected = projected_iteration(W, p.q, p.mu);
    const auto found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
    ASSERT_EQ(found.status, Status::converged) << trial;
    // Well conditioned, weakly coupled: the solution is unique.
    EXPECT_LE((found.impulse - expected).norm(), 1e-9 * expected.norm()) << trial;
    EXPECT_LE(worst_violation(W, p.q, p.mu, found.impulse), 1e-11) << trial;
  }
}

/// The scenes of one fibre solve 1 to 15 contacts a step, some nearly the same: everyone must reach 1e-12.
TEST(GaussSeidel, single_fibre_problems_all_reach_1e12) {
  int solved = 0;
  for (unsigned seed = 0; seed < 900; ++seed) {
    const tresse_test::FibreCase wanted{1 + static_cast<int>(seed % 15), (seed / 15) % 2 == 1, (seed / 30) % 2 == 1};
    const FactoredProblem p = tresse_test::single_fibre(wanted, seed);
    const auto found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
    ASSERT_EQ(found.status, Status::converged) << "seed " << seed << " error " << found.scaled_error;
    EXPECT_LE(found.scaled_error, 1e-12) << seed;
    EXPECT_TRUE(found.unsolvable.empty()) << seed;
    const FrictionProblem whole = assembled(p);
    EXPECT_LE(worst_violation(dense(whole), p.q, p.mu, found.impulse), 1e-11) << seed;
    solved += found.status == Status::converged;
  }
  EXPECT_EQ(solved, 900);
}

TEST(GaussSeidel, both_forms_agree) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const FactoredProblem p = tresse_test::chain(6, 1, 12, 0.3, seed);
    const auto factored = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
    const auto whole = solve_gauss_seidel(assembled(p), zero(p.q), {.tolerance = 1e-12});
    ASSERT_EQ(factored.status, Status::converged);
    ASSERT_EQ(whole.status, Status::converged);
    EXPECT_LE((factored.velocity - whole.velocity).norm(), 1e-9 * p.q.norm());
    EXPECT_LE((factored.impulse - whole.impulse).norm(), 1e-8 * whole.impulse.norm());
  }
}

TEST(GaussSeidel, large_coupled_problem_without_newton) {
  const FactoredProblem p = tresse_test::chain(80, 3, 12, 0.4, 5);
  const auto found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12, .newton_contacts = 0});
  EXPECT_EQ(found.status, Status::converged) << found.scaled_error;
  EXPECT_EQ(found.newton_steps, 0);
  const FrictionProblem whole = assembled(p);
  EXPECT_LE(worst_violation(dense(whole), p.q, p.mu, found.impulse), 1e-10);
  const auto plain = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12, .anderson_depth = 0, .newton_contacts = 0});
  EXPECT_LT(found.iterations, plain.iterations);  // what the mixing is for
}

TEST(GaussSeidel, islands_are_found_and_do_not_disturb_each_other) {
  const FactoredProblem p = tresse_test::chain(12, 2, 9, 0.3, 8, 3);
  const auto found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-11});
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.islands, 4);
  EXPECT_EQ(islands(p), islands(assembled(p)));
}

TEST(GaussSeidel, same_bits_for_any_number_of_threads) {
  const FactoredProblem p = tresse_test::chain(40, 3, 9, 0.3, 4, 5);
  VectorX one, four;
  {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1);
    one = solve_gauss_seidel(p, zero(p.q), {}).impulse;
  }
  {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
    four = solve_gauss_seidel(p, zero(p.q), {}).impulse;
  }
  EXPECT_TRUE(one == four);
}

/// One island of 2000 contacts: sweeps by schedule.
TEST(GaussSeidel, a_large_island_has_the_same_bits_for_any_number_of_threads) {
  const FactoredProblem p = tresse_test::tangle(250, 2000, 18, 0.3, 11);
  const SolverOptions options{.tolerance = 1e-10};
  FrictionSolution one, four;
  {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1);
    one = solve_gauss_seidel(p, zero(p.q), options);
  }
  {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
    four = solve_gauss_seidel(p, zero(p.q), options);
  }
  ASSERT_EQ(one.islands, 1);
  EXPECT_EQ(one.status, Status::converged) << one.scaled_error;
  EXPECT_TRUE(one.impulse == four.impulse);
  EXPECT_EQ(one.iterations, four.iterations);
  EXPECT_LE(worst_violation(dense(assembled(p)), p.q, p.mu, one.impulse), 1e-8);
}

TEST(GaussSeidel, a_load_that_drifts_between_near_copies_is_settled) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const FactoredProblem p = tresse_test::with_near_copies(tresse_test::chain(60, 3, 12, 0.3, seed), 1e-3, seed);
    const FrictionSolution found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12, .max_iterations = 1000});
    EXPECT_EQ(found.islands, 1);
    EXPECT_EQ(found.status, Status::converged) << seed << " " << found.scaled_error;
    EXPECT_LE(worst_violation(dense(assembled(p)), p.q, p.mu, found.impulse), 1e-10) << seed;
  }
}

/// Rows rounded to single precision alone would end at 1e-8.
TEST(GaussSeidel, rounded_rows_of_a_large_island_do_not_bound_the_error) {
  const FactoredProblem p = tresse_test::tangle(200, 1100, 18, 0.3, 11);  // rounded from 1000 contacts on
  const FrictionSolution found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-13, .max_iterations = 20000});
  ASSERT_EQ(found.islands, 1);
  EXPECT_EQ(found.status, Status::converged) << found.scaled_error;
  EXPECT_LE(scaled_error(p, found.impulse), 1e-13);
}

/// Sixteen bits of the rows are good for a few digits between two checks: sweeps ask for one themselves.
TEST(GaussSeidel, a_large_island_converges_however_rarely_it_is_checked) {
  const FactoredProblem p = tresse_test::tangle(200, 1100, 18, 0.3, 11);
  const FrictionSolution found =
      solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12, .max_iterations = 200, .check_every = 1000});
  EXPECT_LE(found.scaled_error, 1e-12);
}

/// Every eighth check far from the tolerance, all of them near it.
TEST(GaussSeidel, checks_are_rare_until_the_tolerance_is_near) {
  const FactoredProblem p = tresse_test::chain(80, 3, 12, 0.4, 5);
  SolverOptions options{.tolerance = 1e-12, .newton_contacts = 0};
  const FrictionSolution found = solve_gauss_seidel(p, zero(p.q), options);
  ASSERT_EQ(found.status, Status::converged);
  ASSERT_GE(found.history.size(), 3U);
  int rare = 0;
  for (std::size_t k = 0; k + 1 < found.history.size(); ++k) {
    const int skipped = found.history[k + 1].sweeps - found.history[k].sweeps;
    EXPECT_TRUE(skipped % 5 == 0 && skipped <= 40) << skipped;
    rare += skipped > 5 ? 1 : 0;
  }
  EXPECT_GE(rare, 1);
  options.check_every = 1;
  EXPECT_LE(found.iterations, solve_gauss_seidel(p, zero(p.q), options).iterations + 10);
}

TEST(GaussSeidel, a_solution_as_guess_costs_no_sweep) {
  const FactoredProblem p = tresse_test::chain(8, 2, 12, 0.3, 9);
  const auto first = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
  const auto again = solve_gauss_seidel(p, first.impulse, {.tolerance = 1e-11});
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(again.status, Status::converged);
}

TEST(GaussSeidel, nonsymmetric_matrix_is_used_whole) {
  std::mt19937 generator(21);
  std::normal_distribution<double> normal;
  const int n = 6;
  MatrixX a(3 * n, 3 * n);
  for (double& x : a.reshaped()) x = normal(generator);
  MatrixX W = a * a.transpose() / (3 * n) + MatrixX::Identity(3 * n, 3 * n);
  for (double& x : W.reshaped()) x *= 1.0 + 0.05 * normal(generator);
  FrictionProblem p{block_matrix(W), VectorX(3 * n), VectorX::Constant(n, 0.3)};
  for (double& x : p.q) x = normal(generator);
  for (const int newton : {0, 40}) {
    const auto found = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12, .newton_contacts = newton});
    ASSERT_EQ(found.status, Status::converged);
    EXPECT_LE(worst_violation(W, p.q, p.mu, found.impulse), 1e-11);
    const MatrixX half = 0.5 * (W + W.transpose());
    EXPECT_GT(worst_violation(half, p.q, p.mu, found.impulse), 1e-4);  // another problem
  }
}

TEST(GaussSeidel, empty_and_all_zero_problems) {
  const FrictionProblem none{block_matrix(MatrixX(0, 0)), VectorX(0), VectorX(0)};
  EXPECT_EQ(solve_gauss_seidel(none, VectorX(0), {}).status, Status::converged);
  const FrictionProblem nothing{block_matrix(MatrixX::Zero(6, 6)), VectorX::Zero(6), VectorX::Constant(2, 0.3)};
  const auto found = solve_gauss_seidel(nothing, VectorX::Zero(6), {});
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.scaled_error, 0.0);
  EXPECT_EQ(found.natural_map_error, 0.0);
}

TEST(GaussSeidel, an_immovable_contact_is_named) {
  MatrixX W = MatrixX::Identity(6, 6);
  W.bottomRightCorner<3, 3>().setZero();
  FrictionProblem p{block_matrix(W), VectorX(6), VectorX::Constant(2, 0.3)};
  p.q << -1, 0.2, 0, -0.5, 0, 0;
  const auto found = solve_gauss_seidel(p, VectorX::Zero(6), {});
  EXPECT_EQ(found.status, Status::no_solution);
  EXPECT_EQ(found.unsolvable, std::vector<int>{1});
  EXPECT_LE(coulomb_violation(found.velocity.head<3>(), found.impulse.head<3>(), 0.3), 1e-14);  // the other is solved
  p.q[3] = 0.5;
  EXPECT_EQ(solve_gauss_seidel(p, VectorX::Zero(6), {}).status, Status::converged);
}

TEST(GaussSeidel, not_converged_is_said_and_the_best_iterate_kept) {
  const FactoredProblem p = tresse_test::chain(30, 3, 9, 0.4, 2);
  const auto found = solve_gauss_seidel(
      p, zero(p.q), {.tolerance = 1e-14, .max_iterations = 7, .check_every = 1, .newton_contacts = 0});
  EXPECT_EQ(found.status, Status::max_iterations);
  EXPECT_EQ(found.iterations, 7);
  const auto best = std::min_element(found.history.begin(), found.history.end(),
                                     [](const auto& x, const auto& y) { return x.error < y.error; });
  EXPECT_NEAR(found.scaled_error, best->error, 1e-12 * found.scaled_error);
}

TEST(GaussSeidel, sweeps_after_the_last_regular_check_count) {
  const FactoredProblem p = tresse_test::chain(30, 3, 9, 0.4, 2);
  const auto none = scaled_error(p, zero(p.q));
  const auto found = solve_gauss_seidel(
      p, zero(p.q), {.tolerance = 1e-14, .max_iterations = 4, .check_every = 1000, .newton_contacts = 0});
  EXPECT_EQ(found.iterations, 4);
  EXPECT_LT(found.scaled_error, 0.5 * none);
}

/// Units of mass, length and time change numbers, not the solution.
RC_GTEST_PROP(GaussSeidel, solution_scales_with_the_units, ()) {
  const auto seed = static_cast<unsigned>(*rc::gen::inRange(0, 10000));
  const double mass = std::pow(10.0, *rc::gen::inRange(-6, 7));
  const FactoredProblem p = tresse_test::chain(4, 1, 9, 0.3, seed);
  FrictionProblem q = assembled(p);
  const auto first = solve_gauss_seidel(q, zero(p.q), {.tolerance = 1e-12});
  for (Matrix3& block : q.W.block) block /= mass;
  const auto second = solve_gauss_seidel(q, zero(p.q), {.tolerance = 1e-12});
  RC_ASSERT(first.status == second.status);
  RC_ASSERT((second.velocity - first.velocity).norm() <= 1e-10 * p.q.norm());
}

RC_GTEST_PROP(GaussSeidel, solution_does_not_depend_on_the_order_of_contacts, ()) {
  const auto seed = static_cast<unsigned>(*rc::gen::inRange(0, 10000));
  FactoredProblem p = tresse_test::chain(5, 1, 12, 0.2, seed);
  const auto first = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
  const auto n = static_cast<Eigen::Index>(p.contacts.size());
  std::reverse(p.contacts.begin(), p.contacts.end());
  const VectorX q = p.q;
  for (Eigen::Index i = 0; i < n; ++i) p.q.segment<3>(3 * i) = q.segment<3>(3 * (n - 1 - i));
  const auto second = solve_gauss_seidel(p, zero(p.q), {.tolerance = 1e-12});
  RC_ASSERT(second.status == Status::converged);
  for (Eigen::Index i = 0; i < n; ++i)
    RC_ASSERT((second.velocity.segment<3>(3 * (n - 1 - i)) - first.velocity.segment<3>(3 * i)).norm() <=
              1e-9 * q.norm());
}

/// Velocities and impulses whose squares are no numbers any more: no solver has a best iterate by comparing errors.
TEST(SolverFamily, what_overflows_has_an_honest_status) {
  for (const double size : {1e200, -1e200, 1e300, 1e308}) {
    MatrixX W = 2.0 * MatrixX::Identity(6, 6);
    W(0, 3) = W(3, 0) = 0.5;
    VectorX q(6);
    q << -1.0, size, 0.0, -1.0, 0.0, 0.0;
    const FrictionProblem problem{block_matrix(W), q, VectorX::Constant(2, 0.5)};
    VectorX huge = VectorX::Zero(6);
    huge[0] = 1e250;
    for (const VectorX& guess : {zero(q), huge}) {
      for (const std::string_view name : solver_names) {
        for (const int facets : {0, 4}) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(size) + ", " + std::to_string(facets));
          const FrictionSolution found = solve(
              problem, guess, {.max_iterations = 200, .solver = *tresse::find_word<Solver>(name), .facets = facets});
          ASSERT_EQ(found.impulse.size(), 6);
          const bool measured = std::isfinite(found.scaled_error);
          EXPECT_EQ(found.status == Status::not_finite, !measured);
          if (found.status == Status::converged) {
            EXPECT_LE(found.scaled_error, 1e-10);
          }
        }
      }
    }
  }
}

TEST(GaussSeidel, bad_input_is_refused_with_one_line) {
  const FrictionProblem good{block_matrix(MatrixX::Identity(6, 6)), VectorX::Zero(6), VectorX::Zero(2)};
  const auto with = [&](auto change) {
    FrictionProblem p = good;
    change(p);
    return [p] { static_cast<void>(solve_gauss_seidel(p, VectorX::Zero(6), {})); };
  };
  expect_refused(with([](auto& p) { p.mu[1] = -0.1; }), "contact 1");
  expect_refused(with([](auto& p) { p.mu[0] = std::numeric_limits<double>::infinity(); }), "finite");
  expect_refused(with([](auto& p) { p.q[2] = std::nan(""); }), "q holds");
  expect_refused(with([](auto& p) { p.q.resize(5); }), "expected 6");
  expect_refused(with([](auto& p) { p.mu.resize(1); }), "expected 2");
  expect_refused(with([](auto& p) { p.W.block[0](0, 0) = std::nan(""); }), "block row 0");
  expect_refused(with([](auto& p) { p.W.column[0] = 7; }), "ascend within 0..1");
  expect_refused(with([](auto& p) { p.W.row_begin.pop_back(); }), "row_begin");
  expect_refused([&] { static_cast<void>(solve_gauss_seidel(good, VectorX::Zero(5), {})); }, "guess");
  expect_refused([&] { static_cast<void>(solve_gauss_seidel(good, VectorX::Zero(6), {.tolerance = 0.0})); },
                 "tolerance");
  expect_refused([&] { static_cast<void>(solve_gauss_seidel(good, VectorX::Zero(6), {.max_iterations = 0})); },
                 "max_iterations");
  expect_refused([&] { static_cast<void>(solve_gauss_seidel(good, VectorX::Zero(6), {.check_every = 0})); },
                 "check_every");
  for (const int facets : {-1, 1, 2})
    expect_refused([&] { static_cast<void>(solve(good, VectorX::Zero(6), {.facets = facets})); }, "facets");
  expect_refused([&] { static_cast<void>(solve(good, VectorX::Zero(6), {.check_every = 0, .facets = 4})); },
                 "check_every");
  FactoredProblem factored = tresse_test::chain(3, 1, 6, 0.3, 1);
  factored.contacts[0][0].columns = 7;
  expect_refused([&] { static_cast<void>(solve_gauss_seidel(factored, zero(factored.q), {})); }, "contact 0");
}

}  // namespace TRESSE_TEST_FILE
