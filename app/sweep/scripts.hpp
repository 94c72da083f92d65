#pragma once

#include <string>
#include <vector>

#include "cases.hpp"

/// A sweep for a cluster: the same runs, in the same folders, from a batch system; `gather` then makes the table.
namespace tresse::app::sweep {

struct Recipe {
  std::string folder;  ///< of the sweep, absolute
  std::vector<Case> cases;
  std::vector<std::vector<std::string>> commands;  ///< of each case: program and arguments, threads apart
  std::vector<std::string> gather;                 ///< this sweep again, with --resume
  int threads = 1;                                 ///< of each run
};

/// A batch script for `sbatch`: an array with a task a run.
std::string slurm_script(const Recipe& recipe);

/// A Snakefile: a job a run, and one for the table. Throws InvalidInput for a folder with a brace in its name.
std::string snakefile(const Recipe& recipe);

}  // namespace tresse::app::sweep
