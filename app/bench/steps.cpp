#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <tresse/dynamics/stepper.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// Cost of a step in full combing contact, phase by phase. @cite crespel2024 table 4
namespace tresse::app::bench {
namespace {

struct Row {
  std::string name;
  std::size_t fibres = 0;
  int steps = 0;
  double contacts = 0.0, parts = 0.0, sweeps = 0.0;  // means a step
  double step = 0.0, detection = 0.0, assembly = 0.0, solve = 0.0;
  std::vector<double> residuals;
  double tolerance = 0.0;
};

Row measure(const State& state, const Arguments& arguments, double tolerance, double budget) {
  StateCase start = load_state(arguments, state.name);
  constexpr int sweeps = 500;  // the paper's limit
  start.built.options.solver.tolerance = tolerance;
  start.built.options.solver.max_iterations = sweeps;
  Row row;
  row.name = state.name;
  row.fibres = start.built.world.fibres.size();
  row.tolerance = tolerance;
  dynamics::Stepper stepper(std::move(start.built.world), start.built.options, std::move(start.built.state));
  // What a packed state has lost, and the memory of the first steps, are not of interest.
  const int lead = arguments.quick ? 1 : 3;
  for (int k = 0; k < lead; ++k) static_cast<void>(stepper.step());
  constexpr int most = 100;
  const auto begin = std::chrono::steady_clock::now();
  while (arguments.steps > 0 ? row.steps < arguments.steps
                             : row.steps < most && (row.steps == 0 || seconds_since(begin) < budget)) {
    const dynamics::StepReport report = stepper.step();
    ++row.steps;
    row.contacts += report.contacts;
    row.parts += report.parts;
    row.sweeps += report.iterations;
    row.step += report.t_step;
    row.detection += report.t_detection;
    row.assembly += report.t_assembly;
    row.solve += report.t_solve;
    row.residuals.push_back(report.residual);
  }
  for (double* sum : {&row.contacts, &row.parts, &row.sweeps, &row.step, &row.detection, &row.assembly, &row.solve})
    *sum /= row.steps;
  return row;
}

nlohmann::ordered_json json_of(const Row& row, const State& state, int threads) {
  const double worst = *std::max_element(row.residuals.begin(), row.residuals.end());
  const auto met = std::count_if(row.residuals.begin(), row.residuals.end(),
                                 [&](double residual) { return residual <= row.tolerance; });
  return {{"name", row.name},
          {"fibres", row.fibres},
          {"contacts", row.contacts},
          {"step_s", row.step},
          {"detection_s", row.detection},
          {"assembly_s", row.assembly},
          {"solve_s", row.solve},
          {"residual", worst},
          {"residual_median", median(row.residuals)},
          {"met", static_cast<double>(met) / row.steps},
          {"tolerance", row.tolerance},
          {"threads", threads},
          {"steps", row.steps},
          {"sweeps", row.sweeps},
          {"parts", row.parts},
          {"published_contacts", state.published_contacts},
          {"published_step_s", state.published_seconds},
          {"times_faster", state.published_seconds / row.step}};
}

}  // namespace

nlohmann::ordered_json steps(const Arguments& arguments) {
  const int threads = thread_count(arguments);
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  print("{:10} {:>9} {:>8} {:>5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9} {:>7}", "wisp", "tolerance", "contacts",
        "steps", "step [s]", "detection", "assembly", "solve", "sweeps", "residual", "published", "faster");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  struct Round {
    double tolerance, budget;  // of each wisp [s]: under ten minutes in all
  };
  const std::vector<Round> rounds =
      arguments.quick ? std::vector<Round>{{1e-9, 3.0}} : std::vector<Round>{{1e-9, 75.0}, {1e-12, 30.0}};
  for (const auto& [tolerance, budget] : rounds) {
    for (const State& state : all_states) {
      if (!arguments.wisp.empty() && arguments.wisp != state.name) continue;
      const Row row = measure(state, arguments, tolerance, budget);
      rows.push_back(json_of(row, state, threads));
      print("{:10} {:9.0e} {:8.0f} {:5} {:9.4f} {:9.4f} {:9.4f} {:9.4f} {:7.0f} {:9.1e} {:9.1f} {:7.1f}", row.name,
            tolerance, row.contacts, row.steps, row.step, row.detection, row.assembly, row.solve, row.sweeps,
            median(row.residuals), state.published_seconds, state.published_seconds / row.step);
      finish_output();
    }
  }
  return {{"rows", rows}};
}

}  // namespace tresse::app::bench
