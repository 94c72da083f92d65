#pragma once

#include <functional>
#include <string>
#include <vector>

/// Child processes of a sweep.
namespace tresse::app::sweep {

struct Job {
  std::vector<std::string> words;  ///< program and arguments
  std::string log;                 ///< file for what it prints
};

/// Runs jobs, at most `at_once` at a time, in their order; ended(i, exit status) as each ends. Once stop() is true no
/// more are started and those under way are asked, by SIGINT, to stop. Those never started do not end.
void run_jobs(const std::vector<Job>& jobs, int at_once, bool (*stop)(),
              const std::function<void(std::size_t, int)>& ended);

}  // namespace tresse::app::sweep
