#pragma once

#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction::detail {

/// Throws InvalidInput, one line, unless a BlockMatrix or BlockRows with so many rows and columns is well formed and
/// finite; `name` in the messages.
template <typename Blocks>
void validate_blocks(const Blocks& matrix, int rows, int columns, const char* name) {
  const auto demand = [name](bool condition, const auto& what) {
    if (!condition) throw InvalidInput(name + what());
  };
  const auto text = [](const char* words) { return [words] { return std::string(words); }; };
  demand(rows >= 0, text(" has a negative number of block rows"));
  demand(matrix.row_begin.size() == static_cast<std::size_t>(rows) + 1 && matrix.row_begin.front() == 0,
         text(".row_begin needs one entry more than block rows, the first 0"));
  demand(
      matrix.column.size() == matrix.block.size() && matrix.row_begin.back() == static_cast<int>(matrix.column.size()),
      [&] {
        return " has " + std::to_string(matrix.block.size()) + " blocks for " + std::to_string(matrix.column.size()) +
               " columns and " + std::to_string(matrix.row_begin.back()) + " row entries";
      });
  for (int i = 0; i < rows; ++i) {
    const int begin = matrix.row_begin[static_cast<std::size_t>(i)];
    const int end = matrix.row_begin[static_cast<std::size_t>(i) + 1];
    demand(begin >= 0 && begin <= end && end <= matrix.row_begin.back(), text(".row_begin must not descend"));
    for (int k = begin; k < end; ++k) {
      const int j = matrix.column[static_cast<std::size_t>(k)];
      demand(j >= 0 && j < columns && (k == begin || j > matrix.column[static_cast<std::size_t>(k) - 1]), [&] {
        return ": block columns of row " + std::to_string(i) + " must ascend within 0.." + std::to_string(columns - 1);
      });
      demand(matrix.block[static_cast<std::size_t>(k)].allFinite(),
             [&] { return " holds a number that is not finite in block row " + std::to_string(i); });
    }
  }
}

}  // namespace tresse::friction::detail
