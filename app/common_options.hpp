#pragma once

#include <optional>
#include <string>

#include <oneapi/tbb/global_control.h>
#include <CLI/CLI.hpp>

/// Options that several commands share.
namespace tresse::app {

/// `--tolerance`, a finite number above 0.
void add_tolerance(CLI::App& command, std::optional<double>& into, const std::string& unit, const std::string& help);

/// `--threads`; 0 stays where it is not given: all cores.
void add_threads(CLI::App& command, int& into);

/// While it lives, work is done on so many threads; 0: on all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  int count() const { return count_; }

 private:
  int count_;
  oneapi::tbb::global_control control_;
};

}  // namespace tresse::app
