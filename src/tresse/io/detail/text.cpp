#include <tresse/io/detail/text.hpp>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

namespace tresse::io::detail {
namespace {

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

std::string_view trimmed(std::string_view text) {
  const std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string best = nearest_word(word, candidates);
  return best.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", best);
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
      i += length == 2 ? 1 : 0;
    } else {
      out.append(text.substr(i, length));
      i += length - 1;
    }
    ++i;
  }
  return out;
}

std::string in_quotes(std::string_view text, std::size_t limit) { return fmt::format("\"{}\"", one_line(text, limit)); }

std::string alternatives(std::span<const std::string> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += fmt::format("\"{}\"", words[i]);
  }
  return out;
}

std::string number(double value) { return fmt::format("{}", value); }

void fail(const std::string& name, std::string_view message) {
  throw InvalidInput(fmt::format("{}: {}", name, message));
}
void fail(const std::string& name, std::size_t line, std::string_view message) {
  throw InvalidInput(fmt::format("{}:{}: {}", name, line, message));
}

}  // namespace tresse::io::detail
