#include "common_options.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace tresse::app
