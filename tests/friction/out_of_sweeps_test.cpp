#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

#include "support/friction_cases.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;

// Islands with more contacts than Newton is tried on along the way: out of sweeps, it ends what they began.
TEST(GaussSeidel, an_island_out_of_sweeps_is_finished_by_newton) {
  int finished = 0, without = 0;
  constexpr unsigned problems = 10;
  for (unsigned seed = 0; seed < problems; ++seed) {
    const FactoredProblem p = tresse_test::chain(40, 3, 12, 0.3, seed);
    ASSERT_GT(p.contacts.size(), 80U);
    const tresse::VectorX zero = tresse::VectorX::Zero(p.q.size());
    const SolverOptions options{.tolerance = 1e-12, .max_iterations = 10};
    const FrictionSolution found = solve_gauss_seidel(p, zero, options);
    finished += found.status == tresse::Status::converged ? 1 : 0;
    EXPECT_EQ(found.islands, 1);
    EXPECT_EQ(found.status == tresse::Status::converged, scaled_error(p, found.impulse) <= 1e-12);
    SolverOptions sweeps = options;
    sweeps.newton_contacts = 0;
    const FrictionSolution alone = solve_gauss_seidel(p, zero, sweeps);
    without += alone.status == tresse::Status::converged ? 1 : 0;
    EXPECT_LE(found.scaled_error, alone.scaled_error) << "never worse than the sweeps";
    if (std::getenv("TRESSE_TEST_PRINT") != nullptr)
      std::printf("sweeps %.1e, and Newton %.1e\n", alone.scaled_error, found.scaled_error);
  }
  EXPECT_EQ(without, 0);
  EXPECT_GE(finished, 8) << "from a far start Newton need not converge";
}

}  // namespace TRESSE_TEST_FILE
