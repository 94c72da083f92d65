#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>
#include <Eigen/Geometry>

#include <tresse/friction/nodal.hpp>
#include <tresse/friction/solver.hpp>

namespace {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::Vector3;
using tresse::VectorX;

/// A ring of bodies with two contacts between each pair of neighbours, so that a row of W holds six blocks; as many
/// unknowns as impulses, all free velocities closing. 100 sweeps are far from the solution.
FactoredProblem ring(int n) {
  constexpr int unknowns = 6;
  const int bodies = n / 2;
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<double> rows(static_cast<std::size_t>(6 * unknowns * n));
  for (double& x : rows) x = normal(generator);
  FactoredProblem p;
  for (int b = 0; b <= bodies; ++b) p.body_begin.push_back(b * unknowns);
  p.q.resize(3 * n);
  for (double& x : p.q) x = normal(generator);
  for (int i = 0; i < n; ++i) p.q[3 * i] = -std::abs(p.q[3 * i]);
  p.mu = VectorX::Constant(n, 0.3);
  p.rows = std::move(rows);
  for (int i = 0; i < n; ++i) {
    const int at = 6 * unknowns * i;
    const int body = i / 2;
    p.contacts.push_back(
        {ContactRows{body, unknowns, at}, ContactRows{(body + 1) % bodies, unknowns, at + 3 * unknowns}});
  }
  return p;
}

/// A wisp: `fibres` of 36 unknowns on a square grid, 14 contacts each, most with the eight neighbours.
FactoredProblem wisp(int fibres) {
  constexpr int unknowns = 36;
  const int side = static_cast<int>(std::ceil(std::sqrt(fibres)));
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> step(-1, 1), place(1, 12), any(0, fibres - 1);
  FactoredProblem p;
  for (int b = 0; b <= fibres; ++b) p.body_begin.push_back(b * unknowns);
  const int n = 14 * fibres;
  for (int i = 0; i < n; ++i) {
    const int a = i % fibres;
    int b = i % 20 == 0 ? any(generator) : a + step(generator) + side * step(generator);
    b = std::clamp(b, 0, fibres - 1);
    std::array<ContactRows, 2> rows;
    for (std::size_t k = 0; k < 2; ++k) {
      const int body = k == 0 ? a : b;
      if (k == 1 && b == a) continue;
      rows[k] = {body, 3 * place(generator), static_cast<int>(p.rows.size())};
      for (int e = 0; e < 3 * rows[k].columns; ++e) p.rows.push_back(normal(generator));
    }
    p.contacts.push_back(rows);
  }
  p.q.resize(3 * n);
  for (double& x : p.q) x = normal(generator);
  for (int i = 0; i < n; ++i) p.q[3 * i] = -std::abs(p.q[3 * i]);
  p.mu = VectorX::Constant(n, 0.1);
  return p;
}

/// One hair against fixed obstacles: every contact touches the same 36 unknowns.
FactoredProblem hair(int contacts) {
  constexpr int unknowns = 36;
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  FactoredProblem p;
  p.body_begin = {0, unknowns};
  for (int i = 0; i < contacts; ++i) p.contacts.push_back({ContactRows{0, unknowns, 3 * unknowns * i}, ContactRows{}});
  p.rows.resize(static_cast<std::size_t>(3 * unknowns * contacts));
  for (double& x : p.rows) x = normal(generator);
  p.q.resize(3 * contacts);
  for (double& x : p.q) x = normal(generator);
  for (int i = 0; i < contacts; ++i) p.q[3 * i] = -std::abs(p.q[3 * i]);
  p.mu = VectorX::Constant(contacts, 0.3);
  return p;
}

/// A whole solve of 100 sweeps, set-up and final errors included; per_contact: of one sweep over one contact.
void sweeps(benchmark::State& state, const auto& problem) {
  const SolverOptions options{.tolerance = 1e-300,
                              .max_iterations = 100,
                              .check_every = 1000,
                              .anderson_depth = static_cast<int>(state.range(0)),
                              .newton_contacts = 0};
  double done = 0.0;
  double loaded = 0.0;
  for (auto _ : state) {
    const FrictionSolution solution = solve_gauss_seidel(problem, VectorX::Zero(problem.q.size()), options);
    done += solution.iterations;
    loaded = static_cast<double>(
        (solution.impulse.reshaped<Eigen::RowMajor>(problem.mu.size(), 3).col(0).array() > 0.0).count());
  }
  const auto n = static_cast<double>(problem.mu.size());
  state.counters["loaded"] = loaded / n;
  state.counters["per_contact"] =
      benchmark::Counter(n * done, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void assembled_sweeps(benchmark::State& state) { sweeps(state, assembled(ring(1000))); }
BENCHMARK(assembled_sweeps)->Arg(0)->Arg(5)->Unit(benchmark::kMillisecond);

void factored_sweeps(benchmark::State& state) { sweeps(state, ring(1000)); }
BENCHMARK(factored_sweeps)->Arg(0)->Arg(5)->Unit(benchmark::kMillisecond);

/// Fibres, Anderson depth, threads.
void wisp_sweeps(benchmark::State& state) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(state.range(2)));
  const FactoredProblem problem = wisp(static_cast<int>(state.range(0)));
  SolverOptions options{.tolerance = 1e-300, .max_iterations = 100, .newton_contacts = 0};
  options.anderson_depth = static_cast<int>(state.range(1));
  double done = 0.0;
  for (auto _ : state) done += solve_gauss_seidel(problem, VectorX::Zero(problem.q.size()), options).iterations;
  state.counters["per_contact"] = benchmark::Counter(static_cast<double>(problem.mu.size()) * done,
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(wisp_sweeps)->ArgsProduct({{100, 2025}, {0, 5}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

/// What a step of a single hair asks for; the guess: the answer to a free velocity 1 % away.
void one_hair(benchmark::State& state) {
  FactoredProblem p = hair(static_cast<int>(state.range(0)));
  const SolverOptions options{.tolerance = 1e-10};
  const VectorX guess = solve_gauss_seidel(p, VectorX::Zero(p.q.size()), options).impulse;
  p.q *= 1.01;
  for (auto _ : state) benchmark::DoNotOptimize(solve_gauss_seidel(p, guess, options).scaled_error);
}
BENCHMARK(one_hair)->Arg(1)->Arg(2)->Arg(3)->Arg(5)->Arg(10)->Unit(benchmark::kMicrosecond);

void one_contact(benchmark::State& state) {
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  Matrix3 a;
  for (double& x : a.reshaped()) x = normal(generator);
  const PreparedContact contact = prepare_contact(a * a.transpose() + Matrix3::Identity(), 0.3);
  std::vector<Vector3> q(512);
  for (Vector3& v : q) v = Vector3(-std::abs(normal(generator)), normal(generator), normal(generator));
  const auto solver = static_cast<LocalSolver>(state.range(0));
  std::size_t k = 0;
  Vector3 r = Vector3::Zero();
  for (auto _ : state) {
    double alpha = 0.0;
    benchmark::DoNotOptimize(solve_contact(contact, q[k++ % q.size()], solver, alpha, r));
  }
}
BENCHMARK(one_contact)
    ->Arg(static_cast<int>(LocalSolver::hybrid))
    ->Arg(static_cast<int>(LocalSolver::fischer_burmeister))
    ->Arg(static_cast<int>(LocalSolver::enumerative));

/// A square cloth of side^2 points, stiff along its threads (dt^2 k = 300 m), that falls on a bumpy ground with every
/// sixth point.
PrimalProblem cloth(int side) {
  const double mass = 1e-4, along = 3e-2, across = 2e-3;
  BlockMatrix M;
  std::vector<NodalContact> contacts;
  const int count = side * side;
  M.rows = count;
  M.row_begin.push_back(0);
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  const auto spring = [&](const Vector3& d) -> Matrix3 {
    return across * Matrix3::Identity() + (along - across) * d * d.transpose();
  };
  const Matrix3 warp = spring(Vector3::UnitX()), weft = spring(Vector3::UnitY());
  for (int i = 0; i < count; ++i) {
    const int x = i / side, y = i % side;
    Matrix3 own = mass * Matrix3::Identity();
    std::vector<std::pair<int, Matrix3>> row;
    const auto tie = [&](bool there, int j, const Matrix3& k) {
      if (!there) return;
      own += k;
      row.emplace_back(j, -k);
    };
    tie(x > 0, i - side, warp);
    tie(y > 0, i - 1, weft);
    const auto middle = row.size();
    tie(y + 1 < side, i + 1, weft);
    tie(x + 1 < side, i + side, warp);
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(middle), {i, own});
    for (const auto& [j, block] : row) {
      M.column.push_back(j);
      M.block.push_back(block);
    }
    M.row_begin.push_back(static_cast<int>(M.column.size()));
  }
  VectorX f(3 * count);
  for (int i = 0; i < count; ++i) {
    f.segment<3>(3 * i) = mass * Vector3(0.5, 0.2, -1.0);
    if (i % 6 != 0) continue;
    const Vector3 up = (Vector3::UnitZ() + 0.4 * Vector3(normal(generator), normal(generator), 0.0)).normalized();
    const Vector3 t1 = up.unitOrthogonal();
    NodalContact contact;
    contact.node = i;
    contact.mu = 0.3;
    contact.frame << up, t1, up.cross(t1);
    contacts.push_back(contact);
  }
  return nodal_problem(M, f, contacts);
}

void nodal(benchmark::State& state) {
  const PrimalProblem problem = cloth(static_cast<int>(state.range(0)));
  PrimalSolution found;
  for (auto _ : state) found = solve_nodal(problem, VectorX::Zero(problem.f.size()), {.tolerance = 1e-10});
  state.counters["contacts"] = static_cast<double>(problem.mu.size());
  state.counters["steps"] = found.iterations;
  state.counters["error"] = found.error;
}
BENCHMARK(nodal)->Arg(20)->Arg(40)->Arg(78)->Unit(benchmark::kMillisecond);

/// The same in impulses: M^-1 H^T, W and the solve.
void nodal_in_impulses(benchmark::State& state) {
  const PrimalProblem problem = cloth(static_cast<int>(state.range(0)));
  PrimalSolution found;
  for (auto _ : state) {
    found =
        solve_primal(problem, VectorX::Zero(problem.offset.size()), {.tolerance = 1e-10, .solver = Solver::automatic});
  }
  state.counters["error"] = found.error;
}
BENCHMARK(nodal_in_impulses)->Arg(20)->Arg(40)->Arg(78)->Unit(benchmark::kMillisecond);

}  // namespace
