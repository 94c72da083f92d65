#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <tresse/base/words.hpp>

/// Words for error messages.
namespace tresse::files {

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// "; did you mean "x"?" or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

using tresse::one_line;
/// One line between double quotes.
std::string in_quotes(std::string_view text, std::size_t limit = 80);
/// "a", "b" or "c"
std::string alternatives(std::span<const std::string> words);
/// Shortest text that reads back as the same double.
std::string number(double value);

/// Throws InvalidInput with the file's name, and its line, before the message.
[[noreturn]] void fail(const std::string& name, std::string_view message);
[[noreturn]] void fail(const std::string& name, std::size_t line, std::string_view message);

}  // namespace tresse::files
