#include "runs.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/run.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "jobs.hpp"
#include "messages.hpp"
#include "signals.hpp"

namespace tresse::app::sweep {
namespace {

namespace fs = std::filesystem;

scene_file::ParameterOverrides settings_of(const RunsOfScene& runs, const Case& one) {
  scene_file::ParameterOverrides out = runs.scene.overrides();
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
Entry resolved_value(const scene_file::SceneDocument& document, const std::string& name, const std::string& given) {
  for (const scene_file::Parameter& parameter : document.parameters) {
    if (parameter.name == name) return {name, parameter.resolved, unit_of(parameter)};
  }
  return {name, given, ""};
}

Planned plan(const RunsOfScene& runs, const Case& one) {
  Planned out;
  out.row.status = "missing";
  out.row.exit_status = -1;
  try {
    const scene_file::SceneDocument document = scene_file::read_scene_document(runs.scene.file, settings_of(runs, one));
    record::RunPlan plan = record::plan_run(document);
    out.last_step = runs.until ? record::step_at(plan.scene, *runs.until, "--until") : plan.last_step;
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

/// Empty where there is no such file.
std::string text_of(const fs::path& file) { return fs::exists(file) ? files::read_file(file) : std::string(); }

/// Whether this very scene was run to its end.
bool finished(const RunsOfScene& runs, const fs::path& folder, const Planned& planned) {
  if (text_of(folder / "scene.toml") != planned.resolved) return false;
  const nlohmann::json summary = read_summary(folder);
  if (runs.command == "static") return summary.contains("equilibrium");
  const auto status = summary.find("status"), steps = summary.find("steps");
  return status != summary.end() && (*status == "finished" || *status == "interrupted") && steps != summary.end() &&
         steps->is_number_integer() && *steps >= planned.last_step;
}

/// Whether there is something of this very scene to go on from.
bool resumable(const RunsOfScene& runs, const fs::path& folder, const std::string& resolved) {
  return runs.command == "run" && fs::exists(folder / "checkpoint.h5") && text_of(folder / "scene.toml") == resolved;
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

}  // namespace

std::vector<Planned> plan_all(const RunsOfScene& runs, const std::vector<Case>& cases) {
  std::vector<Planned> out;
  for (const Case& one : cases) out.push_back(plan(runs, one));
  const bool none = std::all_of(out.begin(), out.end(), [](const Planned& p) { return p.resolved.empty(); });
  require(!none, out.front().row.message);
  return out;
}

std::vector<std::string> command_of(const RunsOfScene& runs, const Case& one, const fs::path& folder) {
  std::vector<std::string> out = {this_program(), runs.command, fs::absolute(runs.scene.file).string(), "-o",
                                  (folder / one.name).string()};
  for (const auto& [name, value] : settings_of(runs, one)) out.push_back(fmt::format("--set={}={}", name, value));
  if (runs.command == "run") {
    out.emplace_back("--quiet");
    if (runs.until) out.push_back(fmt::format("--until={:.17g}", *runs.until));
  }
  return out;
}

int threads_of(const RunsOfScene& runs) {
  if (runs.threads > 0) return runs.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / runs.jobs);
}

void run_missing(const RunsOfScene& runs, const std::vector<Case>& cases, const fs::path& folder,
                 std::vector<Planned>& plans) {
  std::vector<Job> jobs;
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    Planned& planned = plans[k];
    if (planned.resolved.empty()) continue;
    const fs::path own = folder / cases[k].name;
    if (runs.resume && finished(runs, own, planned)) {
      planned.row.status = "finished";
      planned.row.exit_status = done;
      continue;
    }
    Job job{command_of(runs, cases[k], folder), (folder / (cases[k].name + ".log")).string()};
    if (runs.resume && resumable(runs, own, planned.resolved)) job.words.emplace_back("--resume");
    job.words.push_back(fmt::format("--threads={}", threads_of(runs)));
    jobs.push_back(job);
    which.push_back(k);
  }
  std::size_t ended = 0;
  run_jobs(jobs, runs.jobs, stop_requested, [&](std::size_t i, int exit_status) {
    Row& row = plans[which[i]].row;
    row.exit_status = exit_status;
    row.status = status_of(exit_status);
    if (exit_status != done && exit_status != interrupted) row.message = last_line(jobs[i].log);
    if (!runs.quiet)
      say("{} ({}): {}; {} of {}", cases[which[i]].name, describe(cases[which[i]]), row.status, ++ended, jobs.size());
  });
}

}  // namespace tresse::app::sweep
