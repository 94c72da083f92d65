#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Words for messages.
namespace tresse {

/// The candidate nearest to `word` by edits, or an empty string when none is near enough to be what was meant. A word
/// cut short, or with something appended, is near. Ties go to the one with fewer edits, then to the first.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// "1 strand", "2 strands": for nouns that take an s.
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace tresse
