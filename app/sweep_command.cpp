#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/run.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "signals.hpp"
#include "slow_work.hpp"
#include "sweep/cases.hpp"
#include "sweep/jobs.hpp"
#include "sweep/scripts.hpp"
#include "sweep/table.hpp"

namespace tresse::app {
namespace {

namespace fs = std::filesystem;
using sweep::Case;
using sweep::Row;

struct SweepArguments {
  SceneArguments scene;
  std::vector<std::string> vary;
  std::string folder;
  std::string command = "run";
  std::optional<double> until;
  int jobs = 1;
  int threads = 0;  ///< of each run; 0: the cores shared among the jobs
  bool resume = false;
  bool list = false;
  bool quiet = false;
  bool strict = false;
  std::string slurm;
  std::string snakemake;
};

/// A run of the sweep, and whether it is done.
struct Planned {
  std::string resolved;  ///< the scene as the run will keep it; empty: refused
  std::int64_t last_step = 0;
  Row row;
};

scene_file::ParameterOverrides settings_of(const SweepArguments& arguments, const Case& one) {
  scene_file::ParameterOverrides out = arguments.scene.overrides();
  out.insert(out.end(), one.settings.begin(), one.settings.end());
  return out;
}

/// The unit of a parameter; of a plain number the one in brackets at the end of its comment: "0 to 30 [1/m]".
std::string unit_of(const scene_file::Parameter& parameter) {
  const std::string& words = parameter.description;
  const std::size_t bracket = words.rfind('[');
  if (!parameter.unit.empty() || bracket == std::string::npos || words.back() != ']') return parameter.unit;
  return words.substr(bracket + 1, words.size() - bracket - 2);
}

/// The value in use: a number in SI units or a word; a setting of a table as it was given.
sweep::Entry resolved_value(const scene_file::SceneDocument& document, const std::string& name,
                            const std::string& given) {
  for (const scene_file::Parameter& parameter : document.parameters) {
    if (parameter.name == name) return {name, parameter.resolved, unit_of(parameter)};
  }
  return {name, given, ""};
}

Planned plan(const SweepArguments& arguments, const Case& one) {
  Planned out;
  out.row.status = "missing";
  out.row.exit_status = -1;
  try {
    const scene_file::SceneDocument document =
        scene_file::read_scene_document(arguments.scene.file, settings_of(arguments, one));
    record::RunPlan plan = record::plan_run(document);
    out.last_step = arguments.until ? record::step_at(plan.scene, *arguments.until, "--until") : plan.last_step;
    out.resolved = std::move(plan.resolved);
    for (const auto& [name, value] : one.settings) out.row.parameters.push_back(resolved_value(document, name, value));
  } catch (const InvalidInput& error) {
    out.row.status = "refused";
    out.row.exit_status = bad_input;
    out.row.message = error.what();
    for (const auto& [name, value] : one.settings) out.row.parameters.push_back({name, value, ""});
  }
  return out;
}

/// Cases that the reader refuses are rows; a sweep of nothing else is a mistake.
std::vector<Planned> plan_all(const SweepArguments& arguments, const std::vector<Case>& cases) {
  std::vector<Planned> out;
  for (const Case& one : cases) out.push_back(plan(arguments, one));
  const bool none = std::all_of(out.begin(), out.end(), [](const Planned& p) { return p.resolved.empty(); });
  require(!none, out.front().row.message);
  return out;
}

std::vector<std::string> command_of(const SweepArguments& arguments, const Case& one, const fs::path& folder) {
  std::vector<std::string> out = {this_program(), arguments.command, fs::absolute(arguments.scene.file).string(), "-o",
                                  (folder / one.name).string()};
  for (const auto& [name, value] : settings_of(arguments, one)) out.push_back(fmt::format("--set={}={}", name, value));
  if (arguments.command == "run") {
    out.emplace_back("--quiet");
    if (arguments.until) out.push_back(fmt::format("--until={:.17g}", *arguments.until));
  }
  return out;
}

/// Empty where there is no such file.
std::string text_of(const fs::path& file) { return fs::exists(file) ? files::read_file(file) : std::string(); }

/// Whether this very scene was run to its end.
bool finished(const SweepArguments& arguments, const fs::path& folder, const Planned& planned) {
  if (text_of(folder / "scene.toml") != planned.resolved) return false;
  const nlohmann::json summary = sweep::read_summary(folder);
  if (arguments.command == "static") return summary.contains("equilibrium");
  const auto status = summary.find("status"), steps = summary.find("steps");
  return status != summary.end() && (*status == "finished" || *status == "interrupted") && steps != summary.end() &&
         steps->is_number_integer() && *steps >= planned.last_step;
}

/// Whether there is something of this very scene to go on from.
bool resumable(const SweepArguments& arguments, const fs::path& folder, const std::string& resolved) {
  return arguments.command == "run" && fs::exists(folder / "checkpoint.h5") &&
         text_of(folder / "scene.toml") == resolved;
}

std::string last_line(const fs::path& file) {
  std::istringstream in(text_of(file));
  std::string line, out;
  while (std::getline(in, line)) {
    if (!line.empty()) out = line;
  }
  return out;
}

std::string status_of(int exit_status) {
  switch (exit_status) {
    case done:
      return "finished";
    case bad_input:
      return "refused";
    case missed_tolerance:
    case not_finite:
      return "failed";
    case interrupted:
      return "interrupted";
    default:
      return "crashed";
  }
}

int threads_of(const SweepArguments& arguments) {
  if (arguments.threads > 0) return arguments.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / arguments.jobs);
}

/// Runs what is not done; rows get their status.
void run_missing(const SweepArguments& arguments, const std::vector<Case>& cases, const fs::path& folder,
                 std::vector<Planned>& plans) {
  std::vector<sweep::Job> jobs;
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    Planned& planned = plans[k];
    if (planned.resolved.empty()) continue;
    const fs::path own = folder / cases[k].name;
    if (arguments.resume && finished(arguments, own, planned)) {
      planned.row.status = "finished";
      planned.row.exit_status = done;
      continue;
    }
    sweep::Job job{command_of(arguments, cases[k], folder), (folder / (cases[k].name + ".log")).string()};
    if (arguments.resume && resumable(arguments, own, planned.resolved)) job.words.emplace_back("--resume");
    job.words.push_back(fmt::format("--threads={}", threads_of(arguments)));
    jobs.push_back(job);
    which.push_back(k);
  }
  std::size_t ended = 0;
  sweep::run_jobs(jobs, arguments.jobs, stop_requested, [&](std::size_t i, int exit_status) {
    Row& row = plans[which[i]].row;
    row.exit_status = exit_status;
    row.status = status_of(exit_status);
    if (exit_status != done && exit_status != interrupted) row.message = last_line(jobs[i].log);
    if (!arguments.quiet)
      say("{} ({}): {}; {} of {}", cases[which[i]].name, sweep::describe(cases[which[i]]), row.status, ++ended,
          jobs.size());
  });
}

std::vector<std::string> gather_command(const SweepArguments& arguments) {
  std::vector<std::string> out = {this_program(), "sweep", fs::absolute(arguments.scene.file).string()};
  for (const std::string& setting : arguments.scene.set) out.push_back("--set=" + setting);
  for (const std::string& variation : arguments.vary) out.push_back("--vary=" + variation);
  out.insert(out.end(), {"--command=" + arguments.command, "-o", fs::absolute(arguments.folder).string(), "--resume"});
  if (arguments.until) out.push_back(fmt::format("--until={:.17g}", *arguments.until));
  return out;
}

void write_scripts(const SweepArguments& arguments, const std::vector<Case>& cases, const fs::path& folder) {
  record::FileList outputs;
  for (const std::string& script : {arguments.slurm, arguments.snakemake})
    if (!script.empty()) outputs.emplace_back(script);
  record::require_outputs(outputs, {arguments.scene.file});
  sweep::Recipe recipe{folder.string(), cases, {}, gather_command(arguments), threads_of(arguments)};
  for (const Case& one : cases) recipe.commands.push_back(command_of(arguments, one, folder));
  if (!arguments.slurm.empty()) files::write_atomically(arguments.slurm, sweep::slurm_script(recipe));
  if (!arguments.snakemake.empty()) files::write_atomically(arguments.snakemake, sweep::snakefile(recipe));
}

/// The table, the plot, the last line.
int conclude(const SweepArguments& arguments, const std::vector<Case>& cases, const fs::path& folder,
             const std::vector<Planned>& plans) {
  std::vector<Row> rows;
  for (const Planned& planned : plans) rows.push_back(planned.row);
  sweep::write_table(folder, sweep::gather(folder, cases, rows));
  const auto ended = std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.status == "finished"; });
  if (ended > 0) {
    const int plotted = run_plot({"--output=" + (folder / "sweep.png").string(), "--what=sweep"}, {folder.string()});
    if (plotted != done) say("tresse: no plot (status {}); the table is there", plotted);
  }
  if (!arguments.quiet)
    say("{} of {} finished; {}", ended, counted(static_cast<std::int64_t>(rows.size()), "run"),
        (folder / "sweep.csv").string());
  if (stop_requested()) return interrupted;
  return arguments.strict && ended < static_cast<std::ptrdiff_t>(rows.size()) ? missed_tolerance : done;
}

int run_sweep(const SweepArguments& arguments) {
  std::vector<sweep::Variation> variations;
  for (const std::string& text : arguments.vary) variations.push_back(sweep::parse_variation(text));
  const std::vector<Case> cases = sweep::cases_of(variations);
  if (arguments.list) {
    for (const Case& one : cases) print("{} {}", one.name, sweep::describe(one));
    return done;
  }
  require(!arguments.folder.empty(), "-o: missing, expected the folder for the results");
  SlowPiece slow(arguments.quiet, [&] { return words_on_reading(arguments.scene.file); });
  std::vector<Planned> plans = plan_all(arguments, cases);
  slow.ends();
  const fs::path folder = fs::absolute(arguments.folder).lexically_normal();
  if (!arguments.slurm.empty() || !arguments.snakemake.empty()) {
    write_scripts(arguments, cases, folder);
    return done;
  }
  record::make_folder(folder);
  const files::FolderLock lock(folder);
  record::require_folder_of(folder, "a sweep of tresse", sweep::is_mark);
  obey_stop_signals(false);
  run_missing(arguments, cases, folder, plans);
  return conclude(arguments, cases, folder, plans);
}

}  // namespace

void add_sweep_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("sweep", "Runs a scene for every combination of some parameters");
  const auto a = std::make_shared<SweepArguments>();
  a->scene.add_to(*command);
  command->add_option("--vary", a->vary, "name=a:b:n, n numbers from a to b, or name=v1,v2,...; as for --set")
      ->required()
      ->allow_extra_args(false);
  command->add_option("-o,--output", a->folder,
                      "Folder for the results: case-000, ..., sweep.csv, sweep.h5, sweep.png");
  command->add_option("--command", a->command, "What to do with each")
      ->check(CLI::IsMember({"run", "static"}))
      ->capture_default_str();
  command->add_option("--jobs", a->jobs, "Runs at a time (1)")->check(CLI::Range(1, 1024))->type_name("N");
  command->add_option("--threads", a->threads, "Of each run; the cores shared among the jobs unless given")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command->add_option("--until", a->until, "Stop each run at this time [s]");
  command->add_flag("--resume", a->resume, "Leave finished runs, go on with those that were interrupted");
  command->add_flag("--list", a->list, "Print the runs, and do nothing");
  command->add_option("--slurm", a->slurm, "Instead write the sweep as an array script for sbatch")->type_name("FILE");
  command->add_option("--snakemake", a->snakemake, "Instead write the sweep as a Snakefile")->type_name("FILE");
  command->add_flag("--quiet", a->quiet, "Say nothing");
  command->add_flag("--strict", a->strict, "Exit status 3 unless every run finished");
  command->footer(
      "Example: tresse sweep scenes/comb.toml --vary friction=0.1:0.5:5 --vary natural_curvature=10,100 --jobs 2 -o "
      "out/sweep");
  command->callback([a, &exit_status] { exit_status = run_sweep(*a); });
}

}  // namespace tresse::app
