#include <tresse/friction/primal.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/friction/nodal.hpp>
#include <tresse/friction/residual.hpp>

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
using tresse_test::worst_violation;

/// How the contacts of a heap lie.
struct Heap {
  int nodes = 12;
  int contacts = 8;
  bool pairs = true;       ///< every second contact is between two nodes, the others with something fixed
  bool loose = false;      ///< one contact touches no node
  bool few_nodes = false;  ///< all contacts are at a third of the nodes
};

/// Nodes of different masses, tied to some others by stiff springs (dt^2 k), which fall on each other.
PrimalProblem heap(const Heap& wanted, double mu, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  const int n = wanted.nodes;
  std::uniform_int_distribution<int> any(0, n - 1), touching(0, wanted.few_nodes ? n / 3 : n - 1);
  const auto direction = [&] { return Vector3(normal(generator), normal(generator), normal(generator)).normalized(); };
  MatrixX M = MatrixX::Zero(3 * n, 3 * n);
  for (int i = 0; i < n; ++i) M.block<3, 3>(3 * i, 3 * i) = std::exp(normal(generator)) * Matrix3::Identity();
  for (int spring = 0; spring < 2 * n; ++spring) {
    const int i = any(generator), j = (i + 1 + any(generator) % 3) % n;
    const Vector3 d = direction();
    const Matrix3 k = 5.0 * (0.1 * Matrix3::Identity() + d * d.transpose());
    M.block<3, 3>(3 * i, 3 * i) += k;
    M.block<3, 3>(3 * j, 3 * j) += k;
    M.block<3, 3>(3 * i, 3 * j) -= k;
    M.block<3, 3>(3 * j, 3 * i) -= k;
  }
  PrimalProblem out;
  out.M = block_matrix(M);
  out.f.resize(3 * n);
  for (double& x : out.f) x = normal(generator);
  const int contacts = wanted.contacts;
  out.mu = VectorX::Constant(contacts, mu);
  out.offset.resize(3 * contacts);
  for (int k = 0; k < contacts; ++k) {
    out.offset.segment<3>(3 * k) = 0.1 * direction();
    Matrix3 frame;
    // Upwards, and of two nodes from that of the lower number: then all can be apart, and there is a solution.
    frame.col(0) = (direction() + 1.3 * Vector3::UnitZ()).normalized();
    frame.col(1) = frame.col(0).unitOrthogonal();
    frame.col(2) = frame.col(0).cross(frame.col(1));
    const bool loose = wanted.loose && k == contacts / 2;
    const int a = touching(generator), b = touching(generator);
    if (!loose && wanted.pairs && k % 2 == 0 && a != b) {
      out.H.column.insert(out.H.column.end(), {std::min(a, b), std::max(a, b)});
      out.H.block.insert(out.H.block.end(), {-frame.transpose(), frame.transpose()});
    } else if (!loose) {
      out.H.column.push_back(a);
      out.H.block.emplace_back(frame.transpose());
    }
    if (loose) out.offset[3 * k] = std::abs(out.offset[3 * k]);  // likewise
    out.H.row_begin.push_back(static_cast<int>(out.H.column.size()));
  }
  return out;
}

/// M, H and the problem in impulses by dense matrices.
struct Dense {
  MatrixX M, H, W;
  VectorX q;
  explicit Dense(const PrimalProblem& problem)
      : M(MatrixX::Zero(problem.f.size(), problem.f.size())),
        H(MatrixX::Zero(problem.offset.size(), problem.f.size())) {
    const auto fill = [](const auto& blocks, int rows, MatrixX& out) {
      for (int i = 0; i < rows; ++i)
        for (int k = blocks.row_begin[static_cast<std::size_t>(i)];
             k < blocks.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
          out.block<3, 3>(3 * i, 3 * blocks.column[static_cast<std::size_t>(k)]) =
              blocks.block[static_cast<std::size_t>(k)];
    };
    fill(problem.M, problem.M.rows, M);
    fill(problem.H, problem.H.rows(), H);
    const Eigen::LLT<MatrixX> factor(M);
    W = H * factor.solve(H.transpose());
    q = H * factor.solve(problem.f) + problem.offset;
  }
};

PrimalSolution solved(const PrimalProblem& problem) {
  return solve_primal(problem, VectorX::Zero(problem.offset.size()),
                      {.tolerance = 1e-13, .max_iterations = 20000, .solver = Solver::automatic});
}

TEST(Primal, condensed_is_the_same_problem) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const PrimalProblem problem =
        heap({.nodes = 5 + static_cast<int>(seed), .contacts = 9, .loose = seed % 2 == 1}, 0.4, seed);
    const Dense expected(problem);
    const FrictionProblem found = condensed(problem);
    validate(found);
    EXPECT_LT((tresse_test::dense(found) - expected.W).norm(), 1e-13 * expected.W.norm()) << seed;
    EXPECT_LT((found.q - expected.q).norm(), 1e-13 * expected.q.norm()) << seed;
  }
}

TEST(Primal, contacts_that_nothing_ties_have_no_block) {
  PrimalProblem problem = heap({.nodes = 2, .contacts = 2, .pairs = false}, 0.4, 3);
  problem.M = block_matrix(MatrixX::Identity(6, 6));
  problem.H.column = {0, 1};
  EXPECT_EQ(condensed(problem).W.block.size(), 2U);
  problem.H.column = {1, 1};
  EXPECT_EQ(condensed(problem).W.block.size(), 4U);
}

TEST(Primal, both_forms_agree) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const double mu = 0.2 * (seed % 5);
    const PrimalProblem problem = heap({.contacts = 4 + static_cast<int>(seed),
                                        .pairs = seed % 3 != 0,
                                        .loose = seed % 4 == 1,
                                        .few_nodes = seed % 2 == 0},
                                       mu, seed);
    const PrimalSolution found = solved(problem);
    ASSERT_EQ(found.status, Status::converged) << seed;
    EXPECT_LT(found.error, 1e-10) << seed;
    EXPECT_LT(primal_error(problem, found.velocity, found.impulse), 1e-10) << seed;
    const Dense dense(problem);
    EXPECT_LT((dense.M * found.velocity - problem.f - dense.H.transpose() * found.impulse).norm(),
              1e-12 * problem.f.norm());
    EXPECT_LT((dense.H * found.velocity + problem.offset - found.contact_velocity).norm(), 1e-12) << seed;
    EXPECT_LT((dense.W * found.impulse + dense.q - found.contact_velocity).norm(), 1e-10 * dense.q.norm()) << seed;
    EXPECT_LT(worst_violation(dense.W, dense.q, problem.mu, found.impulse), 1e-10) << seed;
  }
}

TEST(Primal, without_contacts_moves_freely) {
  const PrimalProblem problem = heap({.contacts = 0}, 0.3, 1);
  const PrimalSolution found = solved(problem);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.impulse.size(), 0);
  EXPECT_LT((Dense(problem).M * found.velocity - problem.f).norm(), 1e-13 * problem.f.norm());
  EXPECT_LT(found.error, 1e-14);
}

TEST(Primal, one_contact_a_node_is_solved_both_ways) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    PrimalProblem problem = heap({.nodes = 20, .contacts = 12, .pairs = false}, 0.2 + 0.1 * seed, seed);
    for (int k = 0; k < 12; ++k) problem.H.column[static_cast<std::size_t>(k)] = (7 * k + 3) % 20;  // each once
    const PrimalSolution nodal = solve_nodal(problem, VectorX::Zero(problem.f.size()), {.tolerance = 1e-13});
    const PrimalSolution found = solved(problem);
    ASSERT_EQ(nodal.status, Status::converged) << seed;
    ASSERT_EQ(found.status, Status::converged) << seed;
    EXPECT_LT(primal_error(problem, nodal.velocity, nodal.impulse), 2e-13) << seed;
    EXPECT_NEAR(primal_error(problem, nodal.velocity, nodal.impulse), nodal.error, 1e-15) << seed;
    EXPECT_LT((nodal.velocity - found.velocity).norm(), 1e-10 * found.velocity.norm()) << seed;
    EXPECT_LT((nodal.impulse - found.impulse).norm(), 1e-10 * found.impulse.norm()) << seed;
    EXPECT_LT((nodal.contact_velocity - found.contact_velocity).norm(), 1e-10 * found.velocity.norm()) << seed;
  }
}

TEST(Primal, error_sees_what_is_wrong_in_any_unit_of_mass) {
  const PrimalProblem problem = heap({.contacts = 10}, 0.4, 5);
  const PrimalSolution found = solved(problem);
  ASSERT_EQ(found.status, Status::converged);
  EXPECT_GT(primal_error(problem, 1.001 * found.velocity, found.impulse), 1e-5);
  EXPECT_GT(primal_error(problem, found.velocity, 1.001 * found.impulse), 1e-5);
  PrimalProblem heavy = problem;
  constexpr double grams = 1000.0;
  for (Matrix3& block : heavy.M.block) block *= grams;
  heavy.f *= grams;
  const double error = primal_error(problem, 1.01 * found.velocity, found.impulse);
  EXPECT_NEAR(primal_error(heavy, 1.01 * found.velocity, grams * found.impulse), error, 1e-12 * error);
}

TEST(Primal, refuses_what_is_no_problem) {
  const PrimalProblem good = heap({.nodes = 9, .contacts = 4}, 0.3, 1);
  const auto with = [&](const auto& change) {
    return [&good, change] {
      PrimalProblem problem = good;
      change(problem);
      static_cast<void>(condensed(problem));
    };
  };
  expect_refused(with([](PrimalProblem& p) { p.H.column.back() = 9; }),
                 "primal problem: H: block columns of row 3 must");
  expect_refused(with([](PrimalProblem& p) { p.H.row_begin.pop_back(); }), "primal problem: H.row_begin");
  expect_refused(with([](PrimalProblem& p) { p.H.block[0](1, 2) = std::nan(""); }), "H holds a number");
  expect_refused(with([](PrimalProblem& p) { p.mu[2] = -0.1; }), "contact 2: mu must be >= 0");
  expect_refused(with([](PrimalProblem& p) { p.offset[1] = std::nan(""); }), "the offset must have three");
  expect_refused(with([](PrimalProblem& p) { p.f.resize(3); }), "f must have three");
  expect_refused(with([](PrimalProblem& p) { p.M.row_begin.pop_back(); }), "primal problem: M.row_begin");
  expect_refused(with([](PrimalProblem& p) { p.M.block[0] *= -1.0; }), "node 0 has no mass");
  expect_refused(with([](PrimalProblem& p) { p.M.block[0](0, 1) += 1.0; }), "M is not symmetric at nodes 0 and 0");
  expect_refused(with([](PrimalProblem& p) {
                   MatrixX M = MatrixX::Identity(27, 27);
                   M(0, 1) = M(1, 0) = 2.0;
                   p.M = block_matrix(M);
                 }),
                 "M is not positive definite");
  const VectorX zero = VectorX::Zero(good.f.size()), no_impulse = VectorX::Zero(good.offset.size());
  expect_refused([&] { static_cast<void>(primal_error(good, VectorX(3), no_impulse)); }, "the velocity must match f");
  expect_refused([&] { static_cast<void>(primal_error(good, zero, VectorX(3))); }, "the impulse must match");
  expect_refused([&] { static_cast<void>(solve_primal(good, zero, {})); }, "guess");
}

}  // namespace TRESSE_TEST_FILE
