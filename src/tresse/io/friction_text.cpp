#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/io/detail/friction_blocks.hpp>
#include <tresse/io/friction_file.hpp>

namespace tresse::io {
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

  long integer(const std::string& what, long least, long most) {
    const std::string_view token = next();
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

using Blocks = std::map<std::pair<int, int>, std::array<double, 9>>;

void exactly(Tokens& tokens, long value, const std::string& what) { tokens.integer(what, value, value); }

Blocks read_dense(Tokens& tokens, int contacts, int dimension, long size) {
  exactly(tokens, size, "the rows of W again");
  exactly(tokens, size, "the columns of W again");
  tokens.require_room(static_cast<double>(size) * static_cast<double>(size), "W");
  Blocks blocks;
  for (long j = 0; j < size; ++j)
    for (long i = 0; i < size; ++i) {
      const double value = tokens.number("an entry of W");
      if (value == 0.0) continue;
      const std::pair<int, int> place(static_cast<int>(i / dimension), static_cast<int>(j / dimension));
      blocks[place][static_cast<std::size_t>(i % dimension + dimension * (j % dimension))] = value;
    }
  static_cast<void>(contacts);
  return blocks;
}

Blocks read_sparse(Tokens& tokens, int contacts, int dimension) {
  const long count = tokens.integer("the number of blocks", 0, any);
  exactly(tokens, contacts, "the number of block rows, that of contacts");
  exactly(tokens, contacts, "the number of block columns, that of contacts");
  tokens.require_room(2.0 * contacts, "the block sizes");
  for (const char* which : {"cumulative row end", "cumulative column end"})
    for (int i = 1; i <= contacts; ++i) exactly(tokens, static_cast<long>(dimension) * i, which);
  const long pointers = tokens.integer("filled1, the number of row pointers", contacts, contacts + 1L);
  const long columns = tokens.integer("filled2, the number of block columns", count, count);
  const long per_block = 1 + static_cast<long>(dimension) * dimension;
  tokens.require_room(static_cast<double>(pointers) + static_cast<double>(columns) +
                          static_cast<double>(count) * static_cast<double>(per_block),
                      "the blocks");
  std::vector<long> row_begin;
  for (long i = 0; i < pointers; ++i)
    row_begin.push_back(tokens.integer("a row pointer", row_begin.empty() ? 0 : row_begin.back(), count));
  row_begin.resize(static_cast<std::size_t>(contacts) + 1, count);
  if (row_begin.front() != 0 || row_begin.back() != count)
    tokens.fail(fmt::format("{}..{}", row_begin.front(), row_begin.back()),
                fmt::format("row pointers from 0 to {}", count));
  std::vector<int> column;
  for (long k = 0; k < count; ++k)
    column.push_back(static_cast<int>(tokens.integer("a block's column", 0, contacts - 1L)));
  Blocks blocks;
  int row = 0;
  for (long k = 0; k < count; ++k) {
    while (row_begin[static_cast<std::size_t>(row) + 1] <= k) ++row;
    exactly(tokens, k, "the block's index");
    const auto [block, fresh] = blocks.try_emplace({row, column[static_cast<std::size_t>(k)]});
    if (!fresh) tokens.fail(std::to_string(k), fmt::format("one block at row {}, column {}", row, block->first.second));
    for (int e = 0; e < dimension * dimension; ++e)
      block->second[static_cast<std::size_t>(e)] = tokens.number("an entry of a block");
  }
  return blocks;
}

}  // namespace

FrictionFile parse_friction_text(std::string_view text, const std::string& name) {
  Tokens tokens(text, name);
  FrictionFile out;
  out.dimension = static_cast<int>(tokens.integer("the dimension", 2, 3));
  const auto contacts = static_cast<int>(tokens.integer("the number of contacts", 0, 1L << 28));
  tokens.require_room(static_cast<double>(contacts) * (out.dimension + 1.0), "q and mu");
  const long size = static_cast<long>(out.dimension) * contacts;
  const long storage = tokens.integer("the storage of W (0 dense, 1 sparse blocks)", 0, 1);
  exactly(tokens, size, "the rows of W, dimension times contacts");
  exactly(tokens, size, "the columns of W, dimension times contacts");
  out.problem.W = detail::block_matrix(
      storage == 0 ? read_dense(tokens, contacts, out.dimension, size) : read_sparse(tokens, contacts, out.dimension),
      contacts, out.dimension);
  std::vector<double> q;
  for (long i = 0; i < size; ++i) q.push_back(tokens.number("an entry of q"));
  out.problem.q = detail::embedded_vector(q, out.dimension);
  out.problem.mu.resize(contacts);
  for (double& mu : out.problem.mu) mu = tokens.number("a friction coefficient", 0.0);
  tokens.next();  // Siconos may append one number
  const std::string_view extra = tokens.next();
  if (!extra.empty()) tokens.fail(extra, "the end of the file (one token may follow mu)");
  friction::validate(out.problem);
  return out;
}

}  // namespace tresse::io
