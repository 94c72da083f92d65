#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

/// Options that several commands share.
namespace tresse::app {

/// `--tolerance`, a finite number above 0.
void add_tolerance(CLI::App& command, std::optional<double>& into, const std::string& unit, const std::string& help);

/// `--threads`; 0 stays where it is not given: all cores.
void add_threads(CLI::App& command, int& into);

}  // namespace tresse::app
