#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/files/lines.hpp>

namespace tresse::importers::detail {

/// The statements of an OBJ file: lines without the comments behind "#", together with the next where they end in "\".
class ObjStatements {
 public:
  explicit ObjStatements(std::string_view text) : lines_(text) {}

  /// To the next statement; false at the end of the text.
  bool next();
  const std::vector<std::string_view>& words() const { return words_; }
  std::size_t number() const { return number_; }  ///< of its first line, from 1

 private:
  /// Adds the words of the line that lines_ is at; whether the next one belongs to it.
  bool add_line();

  files::Lines lines_;
  std::vector<std::string_view> words_;
  std::size_t number_ = 0;
};

/// The vertex that a word of an OBJ face or line names, "7", "7/3" or "-1" (the one before), from 0. Throws
/// InvalidInput where none of the `count` vertices so far is meant.
std::size_t obj_vertex(std::string_view word, std::size_t count, const std::string& file, std::size_t line);

}  // namespace tresse::importers::detail
