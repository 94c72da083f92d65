#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <oneapi/tbb/task_arena.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/friction/certificate.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/problem_files/friction_file.hpp>
#include <tresse/record/outputs.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "messages.hpp"
#include "slow_work.hpp"

namespace tresse::app {
namespace {

const std::string default_solver{word(friction::Solver::hybrid_gauss_seidel)};

std::string solver_list() { return fmt::format("{}", fmt::join(friction::solver_names, ", ")); }

struct FrictionArguments {
  std::string input;
  std::string output;
  std::string problem_output;  ///< empty: none
  std::string solver = default_solver;
  std::optional<double> tolerance;  ///< 1e-10 unless given
  int max_iterations = 10000;
  int repeat = 1;
  int facets = 0;   ///< 0: Coulomb's cone
  int threads = 0;  ///< 0: never given, all cores
  bool strict = false;
  bool quiet = false;
};

std::vector<double> numbers(const VectorX& v) { return {v.data(), v.data() + v.size()}; }

/// Where impulses missed the tolerance, or are so large that an error relative to them says nothing: whether there are
/// any. `status` then says so.
std::optional<friction::Certificate> look_for_proof(const friction::FrictionProblem& problem,
                                                    friction::FrictionSolution& solution) {
  constexpr double ordinary = 1e5;
  double mean = 0.0;
  for (const Matrix3& block : friction::diagonal_blocks(problem)) mean += block.trace() / (3.0 * problem.W.rows);
  const bool huge = solution.impulse.norm() * mean > ordinary * problem.q.norm();
  if (solution.status == Status::converged && !huge) return std::nullopt;
  friction::Certificate out = friction::certificate(problem);
  if (out.proves_none) solution.status = Status::no_solution;
  return out;
}

/// [contact, weight] of those that bear on it.
nlohmann::ordered_json certificate_report(const friction::Certificate& certificate) {
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  constexpr double seen = 1e-9;
  for (Eigen::Index i = 0; i < certificate.weights.size(); ++i)
    if (certificate.weights[i] > seen) weights.push_back(nlohmann::ordered_json::array({i, certificate.weights[i]}));
  nlohmann::ordered_json out;
  out["proves_none"] = certificate.proves_none;
  out["least_impulse"] = certificate.least_impulse;
  out["closing"] = certificate.closing;
  out["weights"] = std::move(weights);
  return out;
}

nlohmann::ordered_json report(const FrictionArguments& arguments, const problem_files::FrictionFile& file,
                              const friction::FrictionSolution& solution, double seconds) {
  nlohmann::ordered_json out;
  out["solver"] = arguments.facets > 0 ? fmt::format("gauss-seidel of {} facets", arguments.facets) : arguments.solver;
  out["contacts"] = file.problem.W.rows;
  out["iterations"] = solution.iterations;
  out["converged"] = solution.status == Status::converged;
  out["status"] = to_string(solution.status);
  out["residual"] = solution.natural_map_error;  // what --tolerance is on
  out["natural_map_error"] = solution.natural_map_error;
  out["scaled_error"] = solution.scaled_error;
  out["seconds"] = seconds;
  out["newton_steps"] = solution.newton_steps;
  out["islands"] = solution.islands;
  out["unsolvable"] = solution.unsolvable;
  // Of the largest effort: (iterations, error, seconds) at each check; `tresse plot --what convergence`.
  nlohmann::ordered_json& history = out["history"] = nlohmann::ordered_json::array();
  for (const auto& check : solution.history) {
    history.push_back(nlohmann::ordered_json::array({check.sweeps, check.error, check.seconds}));
  }
  out["reaction"] = numbers(problem_files::in_file_dimension(file, solution.impulse));
  out["velocity"] = numbers(problem_files::in_file_dimension(file, solution.velocity));
  return out;
}

std::string verdict(const FrictionArguments& arguments, const friction::FrictionSolution& solution) {
  return fmt::format("{}: {}, natural_map_error {:.2g} after {}", arguments.output, to_string(solution.status),
                     solution.natural_map_error, counted(solution.iterations, "iteration"));
}

/// The exit status.
int run(const FrictionArguments& arguments) {
  const std::optional<friction::Solver> solver = find_word<friction::Solver>(arguments.solver);
  require(solver.has_value(),
          [&] { return fmt::format("--solver: found '{}', expected one of: {}", arguments.solver, solver_list()); });
  const problem_files::FrictionFile file = problem_files::read_friction_problem(arguments.input);
  const friction::SolverOptions options{.tolerance = arguments.tolerance.value_or(1e-10),
                                        .max_iterations = arguments.max_iterations,
                                        .measure = friction::SolverOptions::Measure::natural_map,
                                        .solver = *solver,
                                        .facets = arguments.facets};
  record::FileList outputs{arguments.output};
  if (!arguments.problem_output.empty()) outputs.emplace_back(arguments.problem_output);
  record::require_outputs(outputs, {arguments.input});
  if (!arguments.problem_output.empty())
    problem_files::write_friction_problem(arguments.problem_output, file.problem, {}, file.dimension);
  const VectorX guess = VectorX::Zero(file.problem.q.size());
  friction::FrictionSolution solution;
  tbb::task_arena arena(arguments.threads > 0 ? arguments.threads : tbb::task_arena::automatic);
  SlowPiece slow(arguments.quiet, [&] {
    return fmt::format("{}; --max-iterations bounds it", counted(file.problem.W.rows, "contact"));
  });
  double seconds = std::numeric_limits<double>::infinity();
  for (int k = 0; k < arguments.repeat; ++k) {
    const auto start = std::chrono::steady_clock::now();
    arena.execute([&] { solution = friction::solve(file.problem, guess, options); });
    seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::optional<friction::Certificate> proof;
  if (arguments.facets == 0) arena.execute([&] { proof = look_for_proof(file.problem, solution); });
  slow.ends();
  nlohmann::ordered_json out = report(arguments, file, solution, seconds);
  if (proof) out["certificate"] = certificate_report(*proof);
  files::write_atomically(arguments.output, out.dump() + "\n");
  if (!arguments.quiet) say("{}", verdict(arguments, solution));
  return arguments.strict && solution.status != Status::converged ? missed_tolerance : done;
}

}  // namespace

void add_friction_command(CLI::App& program, int& exit_status) {
  auto arguments = std::make_shared<FrictionArguments>();
  CLI::App* command = program.add_subcommand("friction", "Solves one discrete frictional contact problem");
  command->footer("Example: tresse friction problem.hdf5 -o solution.json --tolerance 1e-12");
  command->add_option("problem", arguments->input, "FCLIB HDF5, or Siconos text (.dat)")
      ->required()
      ->type_name("PROBLEM");
  command->add_option("-o,--output", arguments->output, "Where the solution goes (JSON)")
      ->required()
      ->type_name("OUT.json");
  command
      ->add_option("--solver", arguments->solver, fmt::format("One of {} (default: {})", solver_list(), default_solver))
      ->type_name("NAME");
  command
      ->add_option("--facets", arguments->facets,
                   "Instead of Coulomb's cone a pyramid of K facets, by Gauss-Seidel: another law, for comparison")
      ->check(CLI::Range(3, 1000))
      ->type_name("K");
  add_tolerance(*command, arguments->tolerance, "X", "On natural_map_error, dimensionless (1e-10)");
  command
      ->add_option("--max-iterations", arguments->max_iterations,
                   "Sweeps, Newton steps or convex problems at most (10000)")
      ->check(CLI::Range(1, 1000000000))
      ->type_name("N");
  add_threads(*command, arguments->threads);
  command->add_option("--repeat", arguments->repeat, "Solve N times, and tell the least time (1)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command
      ->add_option("--write-problem", arguments->problem_output,
                   "Also write the problem as it was solved: FCLIB, local form")
      ->type_name("FILE.hdf5");
  command->add_flag("--quiet", arguments->quiet, "Say nothing");
  command->add_flag("--strict", arguments->strict, "Exit with 3 when the tolerance was missed");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tresse::app
