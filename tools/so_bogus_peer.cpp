// One solve of So-bogus behind a C function, for tools/compare_friction --so-bogus LIBRARY. With its sources in S:
//   g++ -O3 -march=native -DNDEBUG -DBOGUS_DONT_PARALLELIZE -DBOGUS_INSTANTIATE_3D_SOC -shared -fPIC -w
//     -IS/src -I/usr/include/eigen3 tools/so_bogus_peer.cpp S/src/bogus/Interfaces/FrictionProblem.cpp
//     S/src/bogus/Extra/SOC/*.cpp -o libso_bogus_peer.so
#include <chrono>

#include <Eigen/Sparse>

#include <bogus/Core/Block.impl.hpp>
#include <bogus/Core/Block.io.hpp>
#include <bogus/Core/BlockSolvers/GaussSeidel.impl.hpp>
#include <bogus/Interfaces/FrictionProblem.hpp>

namespace {

struct Counter {
  unsigned iterations = 0;
  void update(unsigned iteration, double) { iterations = iteration; }
};

}  // namespace

/// W (3n, 3n) in compressed columns. `kind`: 0 Gauss-Seidel, 1 Cadoux's fixed point with Gauss-Seidel (projected
/// gradients are for problems without friction's coupling). `tolerance` is So-bogus' own, on the mean square of its
/// complementarity function. r (3n): the start, and what was found. Seconds of the solve alone.
extern "C" double so_bogus_solve(int n, const int* begin, const int* row, const double* value, const double* q,
                                 const double* mu, int kind, double tolerance, int max_iterations, double* r,
                                 int* iterations) {
  using Problem = bogus::DualFrictionProblem<3>;
  const Eigen::Map<const Eigen::SparseMatrix<double>> W(3 * n, 3 * n, begin[3 * n], begin, row, value);
  Problem problem;
  bogus::convert(Eigen::SparseMatrix<double, Eigen::RowMajor>(W), problem.W, 3, 3);
  problem.W.cacheTranspose();
  problem.b = Eigen::VectorXd::Map(q, 3 * n);
  problem.mu = Eigen::VectorXd::Map(mu, n);
  Counter counter;
  bogus::Signal<unsigned, double> told;
  told.connect(counter, &Counter::update);
  const auto start = std::chrono::steady_clock::now();
  Problem::GaussSeidelType solver;
  solver.setTol(tolerance);
  solver.setMaxIters(static_cast<unsigned>(max_iterations));
  solver.setMaxThreads(1);
  if (kind == 1) {
    problem.solveCadoux(solver, r, 1000, &told);
  } else {
    solver.callback().connect(told);
    problem.solveWith(solver, r, false);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  *iterations = static_cast<int>(counter.iterations);
  return seconds;
}
