#include "jobs.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "child_process.hpp"

namespace tresse::app::sweep {

void run_jobs(const std::vector<Job>& jobs, int at_once, bool (*stop)(),
              const std::function<void(std::size_t, int)>& ended) {
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  bool told = false;
  while (!running.empty() || (next < jobs.size() && !stop())) {
    while (!stop() && next < jobs.size() && static_cast<int>(running.size()) < at_once) {
      running.emplace(start_program(jobs[next].words, jobs[next].log), next);
      ++next;
    }
    if (stop() && !told) {
      for (const auto& [child, job] : running) kill(child, SIGINT);
      told = true;
    }
    bool idle = true;
    for (auto child = running.begin(); child != running.end();) {
      int status = 0;
      if (waitpid(child->first, &status, WNOHANG) != child->first) {
        ++child;
        continue;
      }
      ended(child->second, exit_status_of(status));
      child = running.erase(child);
      idle = false;
    }
    // A signal that comes between a look and a wait would be slept over: look again and again.
    if (idle) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace tresse::app::sweep
