#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <oneapi/tbb/task_arena.h>

#include <tresse/base/errors.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/problem_files/friction_file.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// Every friction solver on every problem of a folder, from zero impulses to a natural map of 1e-10.
namespace tresse::app::bench {
namespace {

constexpr double asked_tolerance = 1e-10;

std::vector<std::filesystem::path> problems_in(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".dat" || entry.path().extension() == ".hdf5") out.push_back(entry.path());
  require(!failed && !out.empty(), fmt::format("--problems: found no .dat or .hdf5 file in '{}'", folder));
  std::sort(out.begin(), out.end());
  return out;
}

nlohmann::ordered_json solve_by(friction::Solver solver, const problem_files::FrictionFile& file, int most) {
  const friction::SolverOptions options{.tolerance = asked_tolerance,
                                        .max_iterations = most,
                                        .measure = friction::SolverOptions::Measure::natural_map,
                                        .solver = solver};
  const auto begin = std::chrono::steady_clock::now();
  const friction::FrictionSolution found = friction::solve(file.problem, VectorX::Zero(file.problem.q.size()), options);
  const double seconds = seconds_since(begin);
  print("  {:26} {:10} {:9.3f} s {:6} iterations {:6} Newton steps  natural map {:8.1e}  scaled {:8.1e}", word(solver),
        to_string(found.status), seconds, found.iterations, found.newton_steps, found.natural_map_error,
        found.scaled_error);
  finish_output();
  return {{"solver", word(solver)},
          {"status", to_string(found.status)},
          {"seconds", seconds},
          {"iterations", found.iterations},
          {"newton_steps", found.newton_steps},
          {"natural_map_error", found.natural_map_error},
          {"scaled_error", found.scaled_error}};
}

}  // namespace

nlohmann::ordered_json solvers(const Arguments& arguments) {
  oneapi::tbb::task_arena arena(thread_count(arguments));
  const int most = arguments.quick ? 500 : 10000;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::filesystem::path& path : problems_in(arguments.problems)) {
    const problem_files::FrictionFile file = problem_files::read_friction_problem(path);
    const std::size_t islands = friction::islands(file.problem).size();
    print("{}: {} contacts, {} islands", path.filename().string(), file.problem.W.rows, islands);
    nlohmann::ordered_json row = {
        {"problem", path.filename().string()}, {"contacts", file.problem.W.rows}, {"islands", islands}};
    row["solvers"] = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < friction::solver_names.size(); ++k)
      arena.execute([&] { row["solvers"].push_back(solve_by(static_cast<friction::Solver>(k), file, most)); });
    rows.push_back(row);
  }
  return {{"tolerance", asked_tolerance}, {"max_iterations", most}, {"rows", rows}};
}

}  // namespace tresse::app::bench
