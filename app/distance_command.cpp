#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <oneapi/tbb/task_arena.h>

#include <tresse/base/words.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/problem_files/distance_file.hpp>
#include <tresse/record/outputs.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "messages.hpp"
#include "slow_work.hpp"

namespace tresse::app {
namespace {

using geometry::DetectionMethod;

struct DistanceArguments {
  std::string input;
  std::string output;
  DetectionMethod method = DetectionMethod::certified;
  std::optional<double> tolerance;
  int threads = 0;  ///< 0: never given, all cores
  bool quiet = false;
};

void run(const DistanceArguments& arguments) {
  const std::vector<problem_files::CurvePair> pairs = problem_files::read_curve_pairs(arguments.input);
  record::require_outputs({arguments.output}, {arguments.input});
  geometry::ClosestPointsOptions options{.method = arguments.method};
  options.tolerance = arguments.tolerance.value_or(problem_files::default_tolerance(arguments.method));
  std::vector<geometry::ClosestPoints> results;
  const std::string all = counted(static_cast<std::int64_t>(pairs.size()), "pair") + " of curves";
  SlowPiece slow(arguments.quiet, [&] { return fmt::format("closest points of {}", all); });
  const auto start = std::chrono::steady_clock::now();
  tbb::task_arena arena(arguments.threads > 0 ? arguments.threads : tbb::task_arena::automatic);
  arena.execute([&] { results = problem_files::closest_points(pairs, options); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  slow.ends();
  problem_files::write_distances(arguments.output, results, seconds);
  if (!arguments.quiet) say("{}: {}, {:.3g} s", arguments.output, all, seconds);
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
          "--method",
          [arguments](const std::string& name) {
            arguments->method = problem_files::detection_method_of(name, "--method");
          },
          "certified (default), branch-and-bound or segments")
      ->type_name("NAME");
  add_tolerance(*command, arguments->tolerance, "M",
                "certified: of the distance, relative to the curves' length (1e-12); branch-and-bound: smallest "
                "interval (1e-8); segments: length of a segment [m] (1e-5)");
  add_threads(*command, arguments->threads);
  command->add_flag("--quiet", arguments->quiet, "Say nothing");
  command->callback([arguments, &exit_status] {
    run(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
