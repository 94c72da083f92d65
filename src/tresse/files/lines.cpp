#include <tresse/files/lines.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tresse::files {
namespace {

std::string_view without_plus(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  return word;
}

}  // namespace

std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

Lines::Lines(std::string_view text) : text_(text), at_(text.size() - without_mark(text).size()) {
  feed_ = std::min(text_.find('\n', at_), text_.size());
}

bool Lines::next() {
  if (at_ >= text_.size()) return false;
  if (feed_ < at_) feed_ = std::min(text_.find('\n', at_), text_.size());
  const std::string_view here = text_.substr(at_, feed_ - at_);
  const std::size_t back = here.find('\r');
  line_ = here.substr(0, back);
  const bool fed = back == std::string_view::npos || back + 1 == here.size();
  at_ = fed ? std::min(feed_ + 1, text_.size()) : at_ + back + 1;
  ++number_;
  return true;
}

const std::vector<std::string_view>& Lines::words() {
  constexpr std::string_view blank = " \t\r\f\v";
  words_.clear();
  for (std::size_t begin = line_.find_first_not_of(blank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line_.find_first_of(blank, begin), line_.size());
    words_.push_back(line_.substr(begin, end - begin));
    begin = line_.find_first_not_of(blank, end);
  }
  return words_;
}

std::optional<double> real_in(std::string_view word) {
  word = without_plus(word);
  double out = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (error == std::errc::result_out_of_range && end == word.data() + word.size()) {
    // std::from_chars doesn't say on which side.
    out = std::strtod(std::string(word).c_str(), nullptr);
    return std::isfinite(out) ? std::optional(out) : std::nullopt;
  }
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return out;
}

std::optional<long long> integer_in(std::string_view word) {
  word = without_plus(word);
  long long out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return out;
}

}  // namespace tresse::files
