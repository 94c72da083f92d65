#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/outputs.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "compare/measures.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "signals.hpp"
#include "slow_work.hpp"
#include "sweep/cases.hpp"
#include "sweep/runs.hpp"

namespace tresse::app {
namespace {

namespace fs = std::filesystem;
using compare::Measured;

struct CompareArguments : sweep::RunsOfScene {
  std::vector<std::string> laws;
  std::vector<std::string> detections;
  std::vector<std::string> models;
  std::string folder;
  bool strict = false;
};

/// What is compared: its word, and the runs.
struct Comparison {
  std::string compared;
  std::vector<sweep::Case> cases;
};

Comparison comparison_of(const CompareArguments& arguments) {
  struct Choice {
    const char* word;
    const char* setting;
    const std::vector<std::string>& values;
  };
  Comparison out;
  for (const Choice& choice :
       {Choice{"law", "contact.law", arguments.laws}, Choice{"detection", "contact.detection", arguments.detections},
        Choice{"model", "model", arguments.models}}) {
    if (choice.values.empty()) continue;
    require(out.compared.empty(),
            [&] { return fmt::format("--{} and --{}: found both, expected one", out.compared, choice.word); });
    out.compared = choice.word;
    for (const std::string& value : choice.values) {
      const bool twice =
          std::any_of(out.cases.begin(), out.cases.end(), [&](const auto& one) { return one.name == value; });
      require(!twice,
              [&] { return fmt::format("--{}: found {} twice, expected values that differ", choice.word, value); });
      require(fs::path(value).filename() == value && value != "." && value != "..",
              [&] { return fmt::format("--{}: found \"{}\", expected a word", choice.word, value); });
      out.cases.push_back({value, {{choice.setting, value}}});
    }
  }
  require(out.cases.size() >= 2,
          "compare: found less than two runs, expected --law, --detection or --model with two values or more");
  return out;
}

std::string column(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : std::string("-");
}

void print_table(const std::string& compared, const std::vector<Measured>& runs) {
  print("{:<12} {:<10} {:>6} {:>6} {:>10} {:>10} {:>10} {:>9} {:>9} {:>8}", compared, "verdict", "evals", "solves",
        "least gap", "drift", "apart", "parted", "loads off", "time");
  for (const Measured& run : runs) {
    if (run.steps == 0) {
      print("{:<12} {}", run.name, run.status);
      continue;
    }
    std::optional<double> apart, off;
    if (!run.apart.empty()) apart = run.apart.back().mean;
    for (const compare::Load& load : run.loads) {
      if (load.off_by) off = std::max(off.value_or(0.0), *load.off_by);
    }
    print("{:<12} {:<10} {:>6.2f} {:>6.2f} {:>7.3g} um {:>7.3g} um {:>10} {:>9} {:>9} {:>6.3g} s", run.name,
          run.verdict.empty() ? run.status : run.verdict, run.evaluations, run.linear_solves, 1e6 * run.least_gap,
          1e6 * run.largest_stick_drift, column(apart, "{:.3g}"), column(run.parted, "{:.3g} s"), column(off, "{:.3g}"),
          run.seconds);
  }
}

int run_compare(const CompareArguments& arguments) {
  const Comparison comparison = comparison_of(arguments);
  require(!arguments.folder.empty(), "-o: missing, expected the folder for the results");
  SlowPiece slow(arguments.quiet, [&] { return words_on_reading(arguments.scene.file); });
  std::vector<sweep::Planned> plans = sweep::plan_all(arguments, comparison.cases);
  slow.ends();
  const fs::path folder = fs::absolute(arguments.folder).lexically_normal();
  record::make_folder(folder);
  const files::FolderLock lock(folder);
  const auto is_mark = [](const std::string& name) { return name == "compare.json"; };
  record::require_folder_of(folder, "a comparison of tresse", is_mark);
  files::write_atomically(folder / "compare.json", "{}\n");
  obey_stop_signals(false);
  sweep::run_missing(arguments, comparison.cases, folder, plans);
  std::vector<std::string> names, statuses;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    names.push_back(comparison.cases[k].name);
    statuses.push_back(plans[k].row.status);
    if (!plans[k].row.message.empty()) say("{}: {}", names.back(), plans[k].row.message);
  }
  const std::vector<Measured> runs = compare::measure(folder, names, statuses);
  files::write_atomically(folder / "compare.csv", compare::table_of(folder, comparison.compared, runs));
  files::write_atomically(folder / "compare.json", compare::json_of(comparison.compared, runs).dump(2) + "\n");
  const bool any = std::any_of(runs.begin(), runs.end(), [](const Measured& run) { return run.steps > 0; });
  if (any) {
    const int plotted =
        run_plot({"--output=" + (folder / "compare.png").string(), "--what=comparison"}, {folder.string()});
    if (plotted != done) say("tresse: no plot (status {}); the tables are there", plotted);
  }
  if (!arguments.quiet) print_table(comparison.compared, runs);
  if (stop_requested()) return interrupted;
  const bool all =
      std::all_of(statuses.begin(), statuses.end(), [](const std::string& status) { return status == "finished"; });
  return arguments.strict && !all ? missed_tolerance : done;
}

}  // namespace

void add_compare_command(CLI::App& program, int& exit_status) {
  CLI::App* command =
      program.add_subcommand("compare", "Runs a scene under several laws of contact, and measures the differences");
  const auto a = std::make_shared<CompareArguments>();
  a->scene.add_to(*command);
  command->add_option("--law", a->laws, "Laws, such as coulomb,imc,ipc; the first is the reference")->delimiter(',');
  command->add_option("--detection", a->detections, "Instead ways to find contacts, such as certified,segments")
      ->delimiter(',');
  command->add_option("--model", a->models, "Instead models of rods, of a scene with a parameter of this name")
      ->delimiter(',');
  command->add_option("-o,--output", a->folder, "Folder for the results: one of each run, compare.csv, .json, .png");
  command->add_option("--jobs", a->jobs, "Runs at a time (1)")->check(CLI::Range(1, 1024))->type_name("N");
  command->add_option("--threads", a->threads, "Of each run; the cores shared among the jobs unless given")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command->add_option("--until", a->until, "Stop each run at this time [s]");
  command->add_flag("--resume", a->resume, "Leave finished runs, go on with those that were interrupted");
  command->add_flag("--quiet", a->quiet, "Say nothing");
  command->add_flag("--strict", a->strict, "Exit status 3 unless every run finished");
  command->footer("Example: tresse compare scenes/capstan.toml --law coulomb,imc,ipc --set clearance=5um -o out/laws");
  command->callback([a, &exit_status] { exit_status = run_compare(*a); });
}

}  // namespace tresse::app
