#include <tresse/importers/detail/obj_statements.hpp>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>

namespace tresse::importers::detail {

bool ObjStatements::next() {
  words_.clear();
  if (!lines_.next()) return false;
  number_ = lines_.number();
  while (add_line() && lines_.next()) {
  }
  return true;
}

bool ObjStatements::add_line() {
  for (const std::string_view word : lines_.words()) {
    const std::size_t mark = word.find('#');
    const bool number = mark != 0 && mark != std::string_view::npos && word[mark - 1] == '.';  // "1.#QNAN"
    if (mark != 0) words_.push_back(number ? word : word.substr(0, mark));
    if (mark != std::string_view::npos && !number) return false;
  }
  if (words_.empty() || !words_.back().ends_with('\\')) return false;
  words_.back().remove_suffix(1);
  if (words_.back().empty()) words_.pop_back();
  return true;
}

std::size_t obj_vertex(std::string_view word, std::size_t count, const std::string& file, std::size_t line) {
  const auto index = files::integer_in(word.substr(0, word.find('/')));
  const auto above = static_cast<long long>(count);
  if (!index || *index == 0 || *index > above || *index < -above) {
    throw InvalidInput(fmt::format("{}:{}: '{}' is no vertex; expected 1 to {}, or -1 to -{}", file, line,
                                   one_line(std::string(word), 40), above, above));
  }
  return static_cast<std::size_t>(*index > 0 ? *index - 1 : above + *index);
}

}  // namespace tresse::importers::detail
