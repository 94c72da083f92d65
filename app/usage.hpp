#pragma once

#include <string>

#include <CLI/CLI.hpp>

/// Bad usage in words that name what is wrong and the help of the command in question.
namespace tresse::app {

/// Before parsing, since CLI11 would only say that a command is missing: throws InvalidInput for a word in a command's
/// place that is none.
void require_known_commands(const CLI::App& program, int argc, const char* const* argv);

/// One line on an error of parsing: an option that nobody knows comes before whatever else is wrong.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace tresse::app
