#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tresse/base/errors.hpp>
#include <tresse/laws/penalty_problem.hpp>

namespace tresse::laws {
namespace TRESSE_TEST_FILE {

constexpr double radius = 1e-3, delta = 1e-5, nu = 1e-4, dt = 1e-3;

/// A chain of bodies: contact i between body i and i + 1, the last on the ground; six unknowns each.
friction::FactoredProblem chain(int count, double mu, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  friction::FactoredProblem problem;
  for (int b = 0; b <= count; ++b) problem.body_begin.push_back(6 * b);
  for (int i = 0; i < count; ++i)
    problem.contacts.push_back(
        {friction::ContactRows{i, 6, 0}, friction::ContactRows{i + 1 < count ? i + 1 : -1, 6, 0}});
  problem.rows.resize(static_cast<std::size_t>(friction::lay_out_rows(problem.contacts)));
  for (double& x : problem.rows) x = 20.0 * normal(random);
  problem.q.resize(3 * count);
  for (int i = 0; i < count; ++i)
    problem.q.segment<3>(3 * i) = 1e-2 * Vector3(-1.0 + 0.3 * normal(random), normal(random), normal(random));
  problem.mu = VectorX::Constant(count, mu);
  return problem;
}

double miss(const PenaltyProblem& problem, const friction::FrictionSolution& solution) {
  double worst = 0.0;
  const VectorX u = friction::velocity(problem.contacts, solution.impulse);
  const Eigen::Index n = problem.contacts.mu.size();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vector3 at = u.segment<3>(3 * i);
    const double felt = delta * (problem.reach.size() > 0 ? problem.reach[i] : 1.0);
    const Force force = contact_force(energy(problem.penalty.law, dt * at[0], 0.0, felt), problem.stiffness[i], at,
                                      {problem.contacts.mu[i], nu});
    worst = std::max(worst, (solution.impulse.segment<3>(3 * i) - dt * force.value).norm());
  }
  return worst / solution.impulse.norm();
}

TEST(PenaltyProblem, ImpulsesAreTheLawsAnswerToTheVelocities) {
  for (const Law law : {Law::imc, Law::ipc}) {
    for (const int count : {1, 7, 60}) {
      for (const double mu : {0.0, 0.3, 1.0}) {
        const friction::FactoredProblem contacts = chain(count, mu, 3);
        const Penalty penalty{law, delta, nu};
        const double load = largest_load(contacts, penalty, dt);
        const PenaltyProblem problem{
            contacts, penalty, VectorX::Constant(contacts.mu.size(), adaptive_stiffness(law, load, radius, delta)), dt};
        const friction::FrictionSolution found = solve_penalty(problem, VectorX::Zero(3 * count));
        EXPECT_EQ(found.status, Status::converged) << word(law) << count << " " << mu;
        EXPECT_LT(miss(problem, found), 1e-6) << word(law) << count << " " << mu;
        EXPECT_LT(found.iterations, mu < 1.0 ? 60 : 200);
        if (law != Law::ipc) continue;
        for (int i = 0; i < count; ++i) EXPECT_GT(found.velocity[3 * i], 0.0);
      }
    }
  }
}

// Contacts that are felt at a part of delta obey the law with that part.
TEST(PenaltyProblem, ReachIsAShareOfDelta) {
  for (const Law law : {Law::imc, Law::ipc}) {
    const int count = 7;
    const friction::FactoredProblem contacts = chain(count, 0.3, 3);
    const Penalty penalty{law, delta, nu};
    const double load = largest_load(contacts, penalty, dt);
    PenaltyProblem problem{contacts, penalty, VectorX::Constant(count, adaptive_stiffness(law, load, radius, delta)),
                           dt, VectorX::LinSpaced(count, 0.2, 1.0)};
    const friction::FrictionSolution found = solve_penalty(problem, VectorX::Zero(3 * count));
    EXPECT_EQ(found.status, Status::converged) << word(law);
    EXPECT_LT(miss(problem, found), 1e-6) << word(law);
    problem.reach[0] = 0.0;
    EXPECT_THROW(static_cast<void>(solve_penalty(problem, VectorX::Zero(3 * count))), InvalidInput);
  }
}

// More contacts than have a dense factor.
TEST(PenaltyProblem, ManyContacts) {
  const friction::FactoredProblem contacts = chain(500, 0.3, 4);
  for (const Law law : {Law::imc, Law::ipc}) {
    const Penalty penalty{law, delta, nu};
    const double load = largest_load(contacts, penalty, dt);
    const PenaltyProblem problem{
        contacts, penalty, VectorX::Constant(contacts.mu.size(), adaptive_stiffness(law, load, radius, delta)), dt};
    const friction::FrictionSolution found = solve_penalty(problem, VectorX::Zero(1500));
    EXPECT_EQ(found.status, Status::converged) << word(law) << " " << found.scaled_error;
    EXPECT_LT(miss(problem, found), 1e-6) << word(law);
  }
}

// As delta and nu vanish the law becomes Coulomb's, in the order of both.
TEST(PenaltyProblem, GoesToCoulombs) {
  const friction::FactoredProblem contacts = chain(12, 0.4, 5);
  const VectorX none = VectorX::Zero(36);
  const friction::FrictionSolution exact = friction::solve(contacts, none, {.tolerance = 1e-12});
  ASSERT_EQ(exact.status, Status::converged);
  for (const Law law : {Law::imc, Law::ipc}) {
    double before = 0.0;
    for (const double softness : {1e-1, 1e-2, 1e-3}) {
      const Penalty penalty{law, softness * delta, softness * nu};
      const double load = largest_load(contacts, penalty, dt);
      const PenaltyProblem problem{
          contacts, penalty,
          VectorX::Constant(contacts.mu.size(), adaptive_stiffness(law, load, radius, penalty.delta)), dt};
      const friction::FrictionSolution found = solve_penalty(problem, none);
      EXPECT_EQ(found.status, Status::converged);
      const double off = (found.impulse - exact.impulse).norm() / exact.impulse.norm();
      if (before > 0.0) {
        EXPECT_NEAR(before / off, 10.0, 5.0) << word(law) << softness;
      }
      before = off;
    }
    EXPECT_LT(before, 1e-3) << word(law);  // 1.6e-4 and 5.5e-4 measured: a barrier keeps more of delta
  }
}

TEST(PenaltyProblem, BadOptionsAreRefused) {
  const friction::FactoredProblem contacts = chain(1, 0.0, 1);
  const VectorX none = VectorX::Zero(3);
  EXPECT_THROW(static_cast<void>(solve_penalty({contacts, {Law::coulomb, delta, nu}, VectorX::Ones(1), dt}, none)),
               InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_penalty({contacts, {Law::imc, 0.0, nu}, VectorX::Ones(1), dt}, none)),
               InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_penalty({contacts, {Law::imc, delta, -nu}, VectorX::Ones(1), dt}, none)),
               InvalidInput);
  EXPECT_THROW(static_cast<void>(solve_penalty({contacts, {Law::imc, delta, nu}, VectorX::Zero(1), dt}, none)),
               InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::laws
