#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/friction/solver.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// Sweeps and seconds that the friction problems of combing take, as they come: with the warm start of the run.
namespace tresse::app::bench {
namespace {

using friction::FactoredProblem;
using friction::SolverOptions;

constexpr double asked_tolerances[] = {1e-6, 1e-9, 1e-12};

struct Problem {
  FactoredProblem problem;
  VectorX guess;
};

/// Those of some steps.
std::vector<Problem> record(const Arguments& arguments, const std::string& name, std::size_t count, double budget) {
  StateCase start = load_state(arguments, name);
  start.built.options.solver.max_iterations = 500;
  start.built.options.solver.tolerance = 1e-12;
  dynamics::Stepper stepper(std::move(start.built.world), start.built.options, std::move(start.built.state));
  static_cast<void>(stepper.step());
  std::vector<Problem> out;
  stepper.observe_problems([&](const FactoredProblem& problem, const VectorX& guess) {
    if (out.size() < count) out.push_back({problem, guess});
  });
  const auto begin = std::chrono::steady_clock::now();
  while (out.size() < count && (out.empty() || seconds_since(begin) < budget)) static_cast<void>(stepper.step());
  return out;
}

/// Of one plain sweep, over a hundred of them from the guess [s].
double plain_sweep_seconds(const Problem& problem) {
  const auto timed = [&](int sweeps) {
    const SolverOptions options{.tolerance = 1e-300,
                                .max_iterations = sweeps,
                                .check_every = 100000,
                                .anderson_depth = 0,
                                .newton_contacts = 0};
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(friction::solve_gauss_seidel(problem.problem, problem.guess, options));
    return seconds_since(begin);
  };
  constexpr int few = 2;
  constexpr int many = 62;
  // The least of each: that of their differences would be too small where the few were disturbed.
  const auto least = [&](int sweeps) { return std::min(timed(sweeps), timed(sweeps)); };
  return (least(many) - least(few)) / (many - few);
}

/// One solve to one tolerance, as a step that asks for it makes it.
struct Solve {
  double sweeps = INFINITY;   // infinite: the tolerance was not met
  double seconds = INFINITY;  // likewise
  double error = 0.0;
};

Solve solve(const Problem& problem, double tolerance, int depth, int most) {
  SolverOptions options{.tolerance = tolerance, .max_iterations = most};
  options.anderson_depth = depth;
  const auto begin = std::chrono::steady_clock::now();
  const friction::FrictionSolution solution = friction::solve_gauss_seidel(problem.problem, problem.guess, options);
  Solve out;
  out.error = solution.scaled_error;
  if (solution.status != Status::converged) return out;
  out.seconds = seconds_since(begin);
  out.sweeps = solution.iterations;
  return out;
}

/// Share of the problems solved to each tolerance at a cost of 150, 300 and 500 plain sweeps.
constexpr double budgets[3] = {150.0, 300.0, 500.0};

}  // namespace

nlohmann::ordered_json friction(const Arguments& arguments) {
  const int threads = thread_count(arguments);
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  const int most = arguments.quick ? 500 : 2000;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  print("{:10} {:>8} {:>8} {:>5}  {:>10} | sweeps to 1e-6, 1e-9, 1e-12 | cost in plain ones | within 150, 300, 500",
        "wisp", "problems", "contacts", "depth", "ns/contact");
  const double budget = arguments.quick ? 3.0 : 20.0;
  for (const State& state : all_states) {
    const std::vector<Problem> problems = record(arguments, state.name, arguments.quick ? 4 : 40, budget);
    double contacts = 0.0;
    for (const Problem& p : problems) contacts += static_cast<double>(p.problem.mu.size());
    contacts /= static_cast<double>(problems.size());
    // Other depths on the wavy wisp only, as its problems are the common ones.
    const bool compare = state.name == std::string("wavy") && !arguments.quick;
    for (const int depth : compare ? std::vector<int>{5, 0, 3, 10, 20} : std::vector<int>{5}) {
      double plain = 0.0;
      double per_contact = 0.0;
      std::vector<double> sweeps[3], costs[3];  // to each tolerance
      double within[3] = {};
      double worst = 0.0;
      const auto begin = std::chrono::steady_clock::now();
      std::size_t done = 0;
      for (const Problem& p : problems) {
        if (done > 0 && seconds_since(begin) > budget) break;
        ++done;
        const double unit = plain_sweep_seconds(p);
        plain += unit;
        per_contact += unit / static_cast<double>(p.problem.mu.size());
        for (int k = 0; k < 3; ++k) {
          const Solve s = solve(p, asked_tolerances[k], depth, most);
          sweeps[k].push_back(s.sweeps);
          costs[k].push_back(s.seconds / unit);
          if (costs[k].back() <= budgets[k]) within[k] += 1.0;
          if (k == 2) worst = std::max(worst, s.error);
        }
      }
      const auto count = static_cast<double>(done);
      nlohmann::ordered_json row = {{"name", state.name},
                                    {"problems", done},
                                    {"contacts", contacts},
                                    {"anderson_depth", depth},
                                    {"threads", threads},
                                    {"plain_sweep_s", plain / count},
                                    {"plain_sweep_ns_per_contact", 1e9 * per_contact / count},
                                    {"worst_error", worst}};
      nlohmann::ordered_json to = nlohmann::ordered_json::array();
      for (int k = 0; k < 3; ++k) {
        const auto finite = [](double value) {
          return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
        };
        to.push_back({{"tolerance", asked_tolerances[k]},
                      {"cost_limit_plain_sweeps", budgets[k]},
                      {"share_within", within[k] / count},
                      {"median_sweeps", finite(median(sweeps[k]))},
                      {"median_cost_plain_sweeps", finite(median(costs[k]))}});
      }
      row["to"] = to;
      rows.push_back(row);
      print(
          "{:10} {:8} {:8.0f} {:5}  {:10.0f} |     {:6.0f} {:6.0f} {:6.0f}      | {:5.0f} {:5.0f} {:6.0f} | {:.0f} % "
          "{:.0f} % {:.0f} %",
          state.name, done, contacts, depth, 1e9 * per_contact / count, median(sweeps[0]), median(sweeps[1]),
          median(sweeps[2]), median(costs[0]), median(costs[1]), median(costs[2]), 100 * within[0] / count,
          100 * within[1] / count, 100 * within[2] / count);
      finish_output();
    }
  }
  return {{"rows", rows}};
}

}  // namespace tresse::app::bench
