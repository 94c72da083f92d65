#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "scene_arguments.hpp"
#include "table.hpp"

/// Runs of one scene with other settings each, as processes of their own.
namespace tresse::app::sweep {

struct RunsOfScene {
  SceneArguments scene;
  std::string command = "run";
  std::optional<double> until;  ///< [s]
  int jobs = 1;                 ///< at a time
  int threads = 0;              ///< of each; 0: the cores shared among the jobs
  bool resume = false;          ///< leave what is done
  bool quiet = false;
};

/// A run, and whether it is done.
struct Planned {
  std::string resolved;  ///< the scene as the run will keep it; empty: refused
  std::int64_t last_step = 0;
  Row row;
};

/// Cases that the reader refuses are rows; nothing else is a mistake: throws InvalidInput.
std::vector<Planned> plan_all(const RunsOfScene& runs, const std::vector<Case>& cases);

/// The command line of one, with its results in a folder of its name.
std::vector<std::string> command_of(const RunsOfScene& runs, const Case& one, const std::filesystem::path& folder);

int threads_of(const RunsOfScene& runs);

/// Runs what is not done; rows get their status.
void run_missing(const RunsOfScene& runs, const std::vector<Case>& cases, const std::filesystem::path& folder,
                 std::vector<Planned>& plans);

}  // namespace tresse::app::sweep
