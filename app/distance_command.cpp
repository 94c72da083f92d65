#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <tresse/base/errors.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/io/distance_file.hpp>

#include "commands.hpp"
#include "common_options.hpp"

namespace tresse::app {
namespace {

using geometry::DetectionMethod;

struct DistanceArguments {
  std::string input;
  std::string output;
  DetectionMethod method = DetectionMethod::certified;
  std::optional<double> tolerance;
  int threads = 0;  ///< 0: never given, all cores
};

DetectionMethod parse_method(const std::string& name) {
  if (name == "certified") return DetectionMethod::certified;
  if (name == "branch-and-bound") return DetectionMethod::branch_and_bound;
  if (name == "segments") return DetectionMethod::segments;
  throw InvalidInput(fmt::format("--method: found {}, expected certified, branch-and-bound or segments", name));
}

/// What a user who names no tolerance gets.
double default_tolerance(DetectionMethod method) {
  switch (method) {
    case DetectionMethod::certified:
      return 1e-12;
    case DetectionMethod::branch_and_bound:
      return 1e-8;
    case DetectionMethod::segments:
      return 1e-5;
  }
  return 1e-12;
}

void run(const DistanceArguments& arguments) {
  const std::vector<io::CurvePair> pairs = io::read_curve_pairs(arguments.input);
  geometry::ClosestPointsOptions options{.method = arguments.method};
  options.tolerance = arguments.tolerance.value_or(default_tolerance(arguments.method));
  std::vector<geometry::ClosestPoints> results(pairs.size());
  const auto start = std::chrono::steady_clock::now();
  const auto solve = [&](std::size_t i) {
    const auto& [a, b] = pairs[i];
    results[i] = geometry::closest_points(a, geometry::domain(a), b, geometry::domain(b), options);
  };
  const int threads = arguments.threads > 0 ? arguments.threads : tbb::task_arena::automatic;
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, pairs.size(), 8), [&](const auto& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) solve(i);
    });
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  io::write_distances(arguments.output, results, seconds);
}

}  // namespace

void add_distance_command(CLI::App& program, int& exit_status) {
  auto arguments = std::make_shared<DistanceArguments>();
  CLI::App* command = program.add_subcommand("distance", "Closest points between pairs of curves");
  command->footer("Example: tresse distance pairs.json -o distances.json");
  command->add_option("pairs", arguments->input, "Pairs of curves (JSON)")->required()->type_name("PAIRS.json");
  command->add_option("-o,--output", arguments->output, "Where the answers go (JSON)")
      ->required()
      ->type_name("OUT.json");
  command
      ->add_option_function<std::string>(
          "--method", [arguments](const std::string& name) { arguments->method = parse_method(name); },
          "certified (default), branch-and-bound or segments")
      ->type_name("NAME");
  add_tolerance(*command, arguments->tolerance, "M",
                "certified: of the distance, relative to the curves' length (1e-12); branch-and-bound: smallest "
                "interval (1e-8); segments: length of a segment [m] (1e-5)");
  add_threads(*command, arguments->threads);
  command->callback([arguments, &exit_status] {
    run(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
