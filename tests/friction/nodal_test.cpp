#include <tresse/friction/nodal.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/friction/residual.hpp>

#include "support/coulomb_law.hpp"
#include "support/messages.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::MatrixX;
using tresse::Status;
using tresse::Vector3;
using tresse::VectorX;
using tresse::test::expect_refused;

/// A square cloth of n x n points, one implicit step: mass m, springs to the neighbours along both directions with
/// their tangent stiffness (stiff along, a little across), falling at `speed` on what it touches at random points.
PrimalProblem cloth(int n, double mu, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  const double mass = 1e-4, along = 3e-2, across = 2e-3;  // [kg], dt^2 times N/m
  const int count = n * n;
  MatrixX M = mass * MatrixX::Identity(3 * count, 3 * count);
  const auto tie = [&](int i, int j, const Vector3& d) {
    const Matrix3 k = across * Matrix3::Identity() + (along - across) * d * d.transpose();
    M.block<3, 3>(3 * i, 3 * i) += k;
    M.block<3, 3>(3 * j, 3 * j) += k;
    M.block<3, 3>(3 * i, 3 * j) -= k;
    M.block<3, 3>(3 * j, 3 * i) -= k;
  };
  for (int x = 0; x < n; ++x) {
    for (int y = 0; y < n; ++y) {
      const Vector3 tilt = 0.3 * Vector3(normal(generator), normal(generator), normal(generator));
      if (x + 1 < n) tie(x * n + y, (x + 1) * n + y, (Vector3::UnitX() + tilt).normalized());
      if (y + 1 < n) tie(x * n + y, x * n + y + 1, (Vector3::UnitY() + tilt).normalized());
    }
  }
  VectorX f(3 * count);
  std::vector<NodalContact> contacts;
  for (int i = 0; i < count; ++i)
    f.segment<3>(3 * i) = mass * Vector3(0.5 + 0.3 * normal(generator), 0.2 * normal(generator), -1.0);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < count; ++i) {
    if (uniform(generator) < 0.4) continue;
    const Vector3 n0 = (Vector3::UnitZ() + 0.5 * Vector3(normal(generator), normal(generator), 0.0)).normalized();
    const Vector3 t1 = n0.unitOrthogonal();
    NodalContact contact;
    contact.node = i;
    contact.mu = mu;
    contact.frame << n0, t1, n0.cross(t1);
    contact.offset = 0.1 * Vector3(normal(generator), normal(generator), normal(generator));
    contacts.push_back(contact);
  }
  return nodal_problem(block_matrix(M), f, contacts);
}

double mass_scale(const PrimalProblem& problem) { return std::sqrt(problem.M.block.front().trace() / 3.0); }

TEST(Nodal, agrees_with_the_problem_in_impulses) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const PrimalProblem problem = cloth(5 + static_cast<int>(seed) % 4, 0.1 * (seed % 6), seed);
    const PrimalSolution found = solve_nodal(problem, VectorX::Zero(problem.f.size()), {.tolerance = 1e-12});
    ASSERT_EQ(found.status, Status::converged) << "seed " << seed << " error " << found.error;
    EXPECT_LT(primal_error(problem, found.velocity, found.impulse), 2e-12);
    const FrictionProblem small = condensed(problem);
    EXPECT_LT(scaled_error(small, found.impulse), 1e-10) << seed;
    const FrictionSolution expected =
        solve(small, VectorX::Zero(small.q.size()), {.tolerance = 1e-13, .solver = Solver::automatic});
    ASSERT_EQ(expected.status, Status::converged) << seed;
    EXPECT_LT((expected.velocity - found.contact_velocity).norm(), 1e-8 * expected.velocity.norm()) << seed;
    EXPECT_LT((expected.impulse - found.impulse).norm(), 1e-8 * expected.impulse.norm()) << seed;
  }
}

TEST(Nodal, obeys_the_law_and_moves_as_its_impulses_say) {
  for (const double mu : {0.0, 0.3, 2.0}) {
    const PrimalProblem problem = cloth(12, mu, 7);
    const PrimalSolution found = solve_nodal(problem, VectorX::Zero(problem.f.size()), {.tolerance = 1e-12});
    ASSERT_EQ(found.status, Status::converged) << "mu " << mu << " error " << found.error;
    VectorX load = problem.f;
    const double scale = mass_scale(problem);
    int stuck = 0, open = 0;
    for (int k = 0; k < problem.H.rows(); ++k) {
      const int node = problem.H.column[static_cast<std::size_t>(k)];
      const Matrix3 frame = problem.H.block[static_cast<std::size_t>(k)].transpose();
      const Vector3 r = found.impulse.segment<3>(3 * k);
      const Vector3 u = found.contact_velocity.segment<3>(3 * k);
      const Vector3 v = found.velocity.segment<3>(3 * node);
      EXPECT_LT((frame.transpose() * v + problem.offset.segment<3>(3 * k) - u).norm(), 1e-14);
      EXPECT_LT(tresse_test::coulomb_violation(u * scale, r / scale, mu), 1e-10) << "mu " << mu << " contact " << k;
      load.segment<3>(3 * node) += frame * r;
      open += r.norm() < 1e-12 ? 1 : 0;
      stuck += u.norm() < 1e-12 ? 1 : 0;
    }
    VectorX momentum = VectorX::Zero(load.size());
    for (int i = 0; i < problem.M.rows; ++i)
      for (int k = problem.M.row_begin[static_cast<std::size_t>(i)];
           k < problem.M.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
        momentum.segment<3>(3 * i) += problem.M.block[static_cast<std::size_t>(k)] *
                                      found.velocity.segment<3>(3 * problem.M.column[static_cast<std::size_t>(k)]);
    EXPECT_LT((momentum - load).norm(), 1e-10 * load.norm()) << mu;
    EXPECT_GT(open, 0) << mu;
    if (mu > 1.0) {
      EXPECT_GT(stuck, 0);
    }
  }
}

/// What is kept belongs to the places of the blocks; with others it is made anew.
TEST(Nodal, has_the_same_bits_with_what_it_keeps_from_others) {
  NodalMemory memory;
  for (const int n : {6, 6, 9, 6}) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      const PrimalProblem problem = cloth(n, 0.4, seed);
      const VectorX guess = VectorX::Zero(problem.f.size());
      const PrimalSolution alone = solve_nodal(problem, guess), with = solve_nodal(problem, guess, {}, &memory);
      EXPECT_EQ(alone.velocity, with.velocity) << n << " " << seed;
      EXPECT_EQ(alone.impulse, with.impulse) << n << " " << seed;
    }
  }
}

TEST(Nodal, without_contacts_moves_freely) {
  const PrimalProblem touching = cloth(4, 0.3, 1);
  const PrimalProblem problem = nodal_problem(touching.M, touching.f, {});
  const PrimalSolution found = solve_nodal(problem, VectorX::Zero(problem.f.size()), {.tolerance = 1e-13});
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.impulse.size(), 0);
  EXPECT_LE(found.iterations, 5);  // linear, but for the lift, which fades
}

TEST(Nodal, refuses_what_is_no_problem) {
  const PrimalProblem good = cloth(3, 0.3, 1);
  const VectorX zero = VectorX::Zero(good.f.size());
  const auto with = [&](const auto& change) {
    return [&good, &zero, change] {
      PrimalProblem problem = good;
      change(problem);
      static_cast<void>(solve_nodal(problem, zero));
    };
  };
  expect_refused(with([](PrimalProblem& p) { p.H.column[1] = p.H.column[0]; }), "expected one a node");
  expect_refused(with([](PrimalProblem& p) { p.H.block[0] *= 2.0; }), "contact 0: its axes are not orthonormal");
  expect_refused(with([](PrimalProblem& p) { ++p.H.row_begin[1]; }), "contact 0: expected one node");
  expect_refused([&] { static_cast<void>(solve_nodal(good, VectorX::Zero(5))); }, "guess");
  expect_refused([&] { static_cast<void>(solve_nodal(good, zero, {.tolerance = 0.0})); }, "tolerance");
}

}  // namespace TRESSE_TEST_FILE
