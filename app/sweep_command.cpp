#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/outputs.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "signals.hpp"
#include "slow_work.hpp"
#include "sweep/cases.hpp"
#include "sweep/runs.hpp"
#include "sweep/scripts.hpp"
#include "sweep/table.hpp"

namespace tresse::app {
namespace {

namespace fs = std::filesystem;
using sweep::Case;
using sweep::Row;

struct SweepArguments : sweep::RunsOfScene {
  std::vector<std::string> vary;
  std::string folder;
  bool list = false;
  bool strict = false;
  std::string slurm;
  std::string snakemake;
};

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
  sweep::Recipe recipe{folder.string(), cases, {}, gather_command(arguments), sweep::threads_of(arguments)};
  for (const Case& one : cases) recipe.commands.push_back(sweep::command_of(arguments, one, folder));
  if (!arguments.slurm.empty()) files::write_atomically(arguments.slurm, sweep::slurm_script(recipe));
  if (!arguments.snakemake.empty()) files::write_atomically(arguments.snakemake, sweep::snakefile(recipe));
}

/// The table, the plot, the last line.
int conclude(const SweepArguments& arguments, const std::vector<Case>& cases, const fs::path& folder,
             const std::vector<sweep::Planned>& plans) {
  std::vector<Row> rows;
  for (const sweep::Planned& planned : plans) rows.push_back(planned.row);
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
  std::vector<sweep::Planned> plans = sweep::plan_all(arguments, cases);
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
  sweep::run_missing(arguments, cases, folder, plans);
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
