#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <Eigen/SparseCore>

#include <tresse/base/errors.hpp>
#include <tresse/problem_files/detail/friction_blocks.hpp>
#include <tresse/problem_files/friction_file.hpp>

namespace tresse::problem_files {
namespace {

/// Whitespace-separated tokens with the place of the last one for messages.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// Empty at the end.
  std::string_view next() {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; };
    while (at_ < text_.size() && blank(text_[at_])) {
      if (text_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
      ++at_;
    }
    token_begin_ = at_;
    while (at_ < text_.size() && !blank(text_[at_])) ++at_;
    return text_.substr(token_begin_, at_ - token_begin_);
  }

  [[noreturn]] void fail(std::string_view found, const std::string& expected) const {
    std::string shown(found.substr(0, 40));
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    throw InvalidInput(fmt::format("{}:{}:{}: found {}, expected {}", name_, line_, token_begin_ - line_begin_ + 1,
                                   found.empty() ? "the end of the file" : "'" + shown + "'", expected));
  }

  /// `mark`: what may stand behind its digits.
  long integer(const std::string& what, long least, long most, std::string_view mark = {}) {
    std::string_view token = next();
    if (token.ends_with(mark)) token.remove_suffix(mark.size());
    long value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (token.empty() || error != std::errc() || end != token.data() + token.size() || value < least || value > most)
      fail(token, most - least > 1000000 ? fmt::format("{}, an integer >= {}", what, least)
                                         : fmt::format("{}, an integer in {}..{}", what, least, most));
    return value;
  }

  double number(const std::string& what, double least = -INFINITY) {
    std::string_view token = next();
    const std::string_view whole = token;
    if (token.size() > 1 && token.front() == '+' && token[1] != '-') token.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    // Too small for a double is zero to a solver; from_chars says out of range for both ends.
    const bool tiny = error == std::errc::result_out_of_range && token.find("e-") != std::string_view::npos;
    const bool good = (error == std::errc() || tiny) && end == token.data() + token.size() && std::isfinite(value);
    if (token.empty() || !good || value < least)
      fail(whole, what + (std::isfinite(least) ? fmt::format(", a finite number >= {}", least) : ", a finite number"));
    return value;
  }

  /// The word is next, or `other`: whether it is that.
  bool word(std::string_view expected, std::string_view other = {}) {
    const std::string_view token = next();
    if (token != expected && (other.empty() || token != other))
      fail(token, "'" + std::string(expected) + "'" + (other.empty() ? "" : " or '" + std::string(other) + "'"));
    return token != expected;
  }
  /// The rest of the line.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  /// How many tokens are left.
  long left() const {
    Tokens rest = *this;
    long count = 0;
    while (!rest.next().empty()) ++count;
    return count;
  }

  /// Refuses counts that the rest of the file can't hold: a token takes two bytes at least.
  void require_room(double tokens, const std::string& what) const {
    if (2.0 * tokens - 1.0 <= static_cast<double>(text_.size() - at_)) return;
    throw InvalidInput(fmt::format("{}:{}:{}: found {} more bytes, expected {:.0f} numbers ({})", name_, line_,
                                   token_begin_ - line_begin_ + 1, text_.size() - at_, tokens, what));
  }

 private:
  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0, token_begin_ = 0, line_begin_ = 0;
  long line_ = 1;
};

constexpr long any = 1L << 40;
constexpr long most_rows = 1L << 28;

using Sparse = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

/// Name, for messages, and sizes of a matrix under way.
struct MatrixHead {
  std::string name;
  long rows = 0;
  long columns = 0;
};

void exactly(Tokens& tokens, long value, const std::string& what) { tokens.integer(what, value, value); }

Triplets read_dense(Tokens& tokens, const MatrixHead& head) {
  exactly(tokens, head.rows, "the rows of " + head.name + " again");
  exactly(tokens, head.columns, "the columns of " + head.name + " again");
  tokens.require_room(static_cast<double>(head.rows) * static_cast<double>(head.columns), head.name);
  Triplets out;
  for (long j = 0; j < head.columns; ++j)
    for (long i = 0; i < head.rows; ++i) {
      const double value = tokens.number("an entry of " + head.name);
      if (value != 0.0) out.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
    }
  return out;
}

/// Where blocks end, the last at `size`.
std::vector<long> read_ends(Tokens& tokens, const std::string& what, long count, long size) {
  std::vector<long> out{0};
  for (long i = 1; i <= count; ++i)
    out.push_back(i == count ? tokens.integer(what, size, size)
                             : tokens.integer(what, out.back() + 1, std::max(out.back() + 1, size - 1)));
  return out;
}

Triplets read_blocks(Tokens& tokens, const MatrixHead& head) {
  const long count = tokens.integer("the number of blocks", 0, any);
  const long block_rows = tokens.integer("the number of block rows", 0, head.rows);
  const long block_columns = tokens.integer("the number of block columns", 0, head.columns);
  tokens.require_room(static_cast<double>(block_rows) + static_cast<double>(block_columns), "the block sizes");
  const std::vector<long> row_end = read_ends(tokens, "a cumulative row end", block_rows, head.rows);
  const std::vector<long> column_end = read_ends(tokens, "a cumulative column end", block_columns, head.columns);
  const long pointers = tokens.integer("filled1, the number of row pointers", block_rows, block_rows + 1L);
  exactly(tokens, count, "filled2, the number of blocks' columns");
  tokens.require_room(static_cast<double>(pointers) + 3.0 * static_cast<double>(count), "the blocks");
  std::vector<long> row_begin;
  for (long i = 0; i < pointers; ++i)
    row_begin.push_back(tokens.integer("a row pointer", row_begin.empty() ? 0 : row_begin.back(), count));
  row_begin.resize(static_cast<std::size_t>(block_rows) + 1, count);
  if (row_begin.front() != 0 || row_begin.back() != count)
    tokens.fail(fmt::format("{}..{}", row_begin.front(), row_begin.back()),
                fmt::format("row pointers from 0 to {}", count));
  std::vector<std::size_t> column;
  for (long k = 0; k < count; ++k)
    column.push_back(static_cast<std::size_t>(tokens.integer("a block's column", 0, block_columns - 1)));
  Triplets out;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  std::size_t row = 0;
  for (std::size_t k = 0; k < column.size(); ++k) {
    while (row_begin[row + 1] <= static_cast<long>(k)) ++row;
    exactly(tokens, static_cast<long>(k), "the block's index");
    if (!seen.insert({row, column[k]}).second)
      tokens.fail(std::to_string(k), fmt::format("one block at row {}, column {}", row, column[k]));
    const long rows = row_end[row + 1] - row_end[row], columns = column_end[column[k] + 1] - column_end[column[k]];
    tokens.require_room(static_cast<double>(rows) * static_cast<double>(columns), "a block");
    for (long j = 0; j < columns; ++j)
      for (long i = 0; i < rows; ++i)
        out.emplace_back(static_cast<int>(row_end[row] + i), static_cast<int>(column_end[column[k]] + j),
                         tokens.number("an entry of a block"));
  }
  return out;
}

/// As CSparse's cs_print() writes it, whole.
Triplets read_printed(Tokens& tokens, const MatrixHead& head) {
  tokens.integer("where the matrix came from", 0, 9);
  tokens.word("CSparse");
  tokens.skip_line();
  const std::string size = fmt::format("{}-by-{},", head.rows, head.columns);
  const bool triplets = tokens.word(size, "triplet:");
  if (triplets) tokens.word(size);
  tokens.word("nzmax:");
  tokens.integer("nzmax", 0, any);
  tokens.word("nnz:");
  const long count = tokens.integer("the number of entries", 0, any, ",");
  tokens.require_room(2.0 * static_cast<double>(count), "the entries of " + head.name);
  Triplets out;
  const auto entry = [&](long row, long column) {
    tokens.word(":");
    out.emplace_back(static_cast<int>(row), static_cast<int>(column), tokens.number("an entry of " + head.name));
  };
  if (triplets) {
    for (long k = 0; k < count; ++k) {
      const long row = tokens.integer("a row", 0, head.rows - 1);
      entry(row, tokens.integer("a column", 0, head.columns - 1));
    }
    return out;
  }
  tokens.word("1-norm:");
  tokens.number("the norm");
  tokens.require_room(7.0 * static_cast<double>(head.columns), "the columns of " + head.name);
  for (long column = 0, at = 0; column < head.columns; ++column) {
    tokens.word("col");
    exactly(tokens, column, "the column's number");
    tokens.word(":");
    tokens.word("locations");
    exactly(tokens, at, "the column's first place");
    tokens.word("to");
    const long last = tokens.integer("the column's last place", at - 1, count - 1);
    for (; at <= last; ++at) entry(tokens.integer("a row", 0, head.rows - 1), column);
  }
  if (static_cast<long>(out.size()) != count)
    tokens.fail(std::to_string(out.size()), fmt::format("{} entries of {}", count, head.name));
  return out;
}

/// `rows`, `columns`: what they must be; -1: any, and as many columns as rows.
Sparse read_matrix(Tokens& tokens, const std::string& name, long rows, long columns) {
  const long storage =
      tokens.integer(fmt::format("the storage of {} (0 dense, 1 sparse blocks, 2 as CSparse prints it)", name), 0, 2);
  MatrixHead head{name, 0, 0};
  head.rows = tokens.integer("the rows of " + name, std::max(rows, 0L), rows < 0 ? most_rows : rows);
  tokens.require_room(static_cast<double>(head.rows), "a vector of as many");
  if (columns < 0) columns = head.rows;
  head.columns = tokens.integer("the columns of " + name, columns, columns);
  const Triplets entries = storage == 0   ? read_dense(tokens, head)
                           : storage == 1 ? read_blocks(tokens, head)
                                          : read_printed(tokens, head);
  Sparse out(head.rows, head.columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

VectorX read_numbers(Tokens& tokens, const std::string& what, long count, double least = -INFINITY) {
  tokens.require_room(static_cast<double>(count), what);
  VectorX out(count);
  for (double& value : out) value = tokens.number(what, least);
  return out;
}

}  // namespace

FrictionFile parse_friction_text(std::string_view text, const std::string& name) {
  Tokens tokens(text, name);
  FrictionFile out;
  out.dimension = static_cast<int>(tokens.integer("the dimension", 2, 3));
  const auto contacts = static_cast<int>(tokens.integer("the number of contacts", 0, 1L << 28));
  tokens.require_room(static_cast<double>(contacts) * (out.dimension + 1.0), "q and mu");
  const long size = static_cast<long>(out.dimension) * contacts;
  Sparse first = read_matrix(tokens, "W or M", -1, -1);
  const auto q = [&](const std::string& what) { return read_numbers(tokens, "an entry of " + what, size); };
  const auto coefficients = [&] { return read_numbers(tokens, "a friction coefficient", contacts, 0.0); };
  // H takes three numbers at least, and both q and b follow.
  if (first.rows() == size && tokens.left() < 3 + 2 * size + contacts) {
    out.problem.W = detail::blocks_of(first, contacts, out.dimension);
    const VectorX own = q("q");
    out.problem.q = detail::embedded_vector({own.begin(), own.end()}, out.dimension);
    out.problem.mu = coefficients();
  } else {
    GlobalFrictionProblem global;
    global.dimension = out.dimension;
    global.M.swap(first);
    global.H = read_matrix(tokens, "H", global.M.rows(), size);
    global.f = read_numbers(tokens, "an entry of q", global.M.rows());
    global.w = q("b");
    global.mu = coefficients();
    std::optional<FrictionFile> without = detail::reduced(global);
    if (!without) throw InvalidInput(fmt::format("{}: M is singular, or so to working precision", name));
    out = *std::move(without);
  }
  tokens.next();  // Siconos may append one number
  const std::string_view extra = tokens.next();
  if (!extra.empty()) tokens.fail(extra, "the end of the file (one token may follow mu)");
  friction::validate(out.problem);
  return out;
}

}  // namespace tresse::problem_files
