#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Words for messages.
namespace tresse {

/// The candidate nearest to `word` by edits, or an empty string when none is near enough to be what was meant. A word
/// cut short, or with something appended, is near. Ties go to the one with fewer edits, then to the first.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// On one line, control characters and broken UTF-8 escaped, cut at `limit` bytes.
std::string one_line(std::string_view text, std::size_t limit = 80);

/// "1 strand", "2 strands": for nouns that take an s.
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace tresse
