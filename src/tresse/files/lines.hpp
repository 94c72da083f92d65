#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Text files read line by line: OBJ, the header of PLY, CSV.
namespace tresse::files {

/// Behind the byte order mark of UTF-8, where the text begins with one.
std::string_view without_mark(std::string_view text);

/// Lines end in "\n", "\r\n" or "\r"; a byte order mark before the first is no part of it.
class Lines {
 public:
  explicit Lines(std::string_view text);

  /// To the next line; false at the end of the text.
  bool next();
  /// Without its end.
  std::string_view line() const { return line_; }
  /// What stands between blanks.
  const std::vector<std::string_view>& words();
  std::size_t number() const { return number_; }  ///< of the line, from 1
  std::size_t at() const { return at_; }          ///< where the next line begins [bytes]

 private:
  std::string_view text_, line_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::size_t feed_ = 0;  ///< the next "\n" at or behind at_, once it was looked for
  std::size_t number_ = 0;
};

/// The number that a whole word is, a sign '+' allowed. None where it is something else or too large for a double; what
/// is too small for one is zero.
std::optional<double> real_in(std::string_view word);
std::optional<long long> integer_in(std::string_view word);

}  // namespace tresse::files
