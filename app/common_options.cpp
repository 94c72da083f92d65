#include "common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include <tresse/base/errors.hpp>

namespace tresse::app {

void add_tolerance(CLI::App& command, std::optional<double>& into, const std::string& unit, const std::string& help) {
  const auto set = [&into](double value) {
    require(value > 0.0 && std::isfinite(value),
            fmt::format("--tolerance: found {:g}, expected a number above 0", value));
    into = value;
  };
  command.add_option_function<double>("--tolerance", set, help)->type_name(unit);
}

void add_threads(CLI::App& command, int& into) {
  command.add_option("--threads", into, "Threads; all cores unless given; no result depends on it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
}

ThreadLimit::ThreadLimit(int threads)
    : count_(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      control_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count_)) {}

}  // namespace tresse::app
