#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

/// What the program says. Control characters of names that are part of it are shown, not sent to the terminal.
namespace tresse::app {

/// A line on standard error. Never throws for what cannot be written: the message is lost, the work goes on.
void say_line(std::string_view line);
template <typename... T>
void say(fmt::format_string<T...> format, T&&... arguments) {
  say_line(fmt::format(format, std::forward<T>(arguments)...));
}

/// A line of what a command was asked for, on standard output. What is lost is told by finish_output().
void print_line(std::string_view line);
template <typename... T>
void print(fmt::format_string<T...> format, T&&... arguments) {
  print_line(fmt::format(format, std::forward<T>(arguments)...));
}

/// The same for a text of many lines, as it is.
void print_text(std::string_view text);

/// Throws SystemFailure where any of standard output could not be written.
void finish_output();

/// To be called first: where one of the descriptors 0 to 2 is closed, the next file to be opened would get it, and
/// messages would be written into it. Messages then go nowhere, and output fails.
void reserve_descriptors();

}  // namespace tresse::app
