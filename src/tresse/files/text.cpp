#include <tresse/files/text.hpp>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>

namespace tresse::files {

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

}  // namespace tresse::files
