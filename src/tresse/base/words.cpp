#include <tresse/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <vector>

namespace tresse {
namespace {

constexpr std::size_t longest_compared = 100;  // edit distance is quadratic

/// Edits that turn one into the other: insert, delete, replace, swap neighbours; case differences count nothing.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (equal ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

/// Whether one is the other cut short, with three letters left at least.
bool cut_short(std::string_view word, std::string_view candidate) {
  constexpr std::size_t least = 3;
  return word.size() >= least &&
         (candidate.starts_with(word) || (candidate.size() >= least && word.starts_with(candidate)));
}

/// Length of the well-formed UTF-8 sequence that starts at `i`, 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > longest_compared) return {};
  std::string best;
  const std::size_t too_far = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::tuple least(too_far, std::size_t{0});
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    const std::size_t edits = edit_distance(word, candidate);
    // A word cut short, or one with something appended, is likelier than as many typing errors.
    const std::tuple distance(cut_short(word, candidate) ? std::min<std::size_t>(edits, 1) : edits, edits);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text, i);
    if (c == '\n') {
      out += "\\n";
    } else if (length == 0 || c < 0x20 || c == 0x7f || (c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0)) {
      out += fmt::format("\\x{:02x}", c);
      if (length == 2) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out.append(text.substr(i, length));
      i += length - 1;
    }
    ++i;
  }
  return out;
}

}  // namespace tresse
