#include <tresse/friction/problem.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/friction/detail/validate_blocks.hpp>

namespace tresse::friction {
namespace {

constexpr std::size_t together = 256;  // contacts

// Messages are put together only where they are needed: these checks run in every time step.

void validate_vectors(const VectorX& q, const VectorX& mu, Eigen::Index contacts) {
  const auto require_size = [](const char* name, Eigen::Index size, Eigen::Index expected) {
    if (size != expected)
      throw InvalidInput(std::string("friction problem: ") + name + " has " + std::to_string(size) +
                         " entries, expected " + std::to_string(expected));
  };
  require_size("q", q.size(), 3 * contacts);
  require_size("mu", mu.size(), contacts);
  require(q.allFinite(), "friction problem: q holds a number that is not finite");
  for (Eigen::Index i = 0; i < contacts; ++i)
    if (!(mu[i] >= 0.0 && std::isfinite(mu[i])))
      throw InvalidInput("friction problem: the friction coefficient of contact " + std::to_string(i) + " is " +
                         std::to_string(mu[i]) + ", expected a finite number >= 0");
}

void validate_rows(const FactoredProblem& problem, const ContactRows& side, std::size_t contact) {
  if (side.body < 0) return;
  const auto require_here = [contact](bool condition, const char* what) {
    if (!condition) throw InvalidInput("friction problem: contact " + std::to_string(contact) + ": " + what);
  };
  require_here(side.body + 1 < static_cast<int>(problem.body_begin.size()), "names a body that does not exist");
  const auto body = static_cast<std::size_t>(side.body);
  require_here(side.columns >= 0 && side.columns <= problem.body_begin[body + 1] - problem.body_begin[body],
               "touches more entries than its body has");
  const std::size_t end = static_cast<std::size_t>(side.offset) + 3 * static_cast<std::size_t>(side.columns);
  require_here(side.offset >= 0 && end <= problem.rows.size(), "its rows lie outside the stored ones");
}

/// std::isfinite() of all, from the bits of their exponents: a loop that is vectorised.
bool all_finite(const std::vector<double>& numbers) {
  constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000;
  constexpr std::size_t block = 16384;
  std::atomic<bool> finite{true};
  for_blocks(numbers.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::uint64_t others = 0;
    for (std::size_t k = begin; k < end; ++k)
      others |= static_cast<std::uint64_t>((std::bit_cast<std::uint64_t>(numbers[k]) & exponent) == exponent);
    if (others != 0) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

/// gram += rows rows^T, exactly symmetric.
void add_gram(const SideRows& rows, Matrix3& gram) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) {
      const double product = rows.row(i).dot(rows.row(j));
      gram(i, j) += product;
      if (i != j) gram(j, i) += product;
    }
}

/// An index of a block, which are counted by int.
int block_index(std::size_t index) {
  require(index <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "friction problem: W has more than 2147483647 blocks; expected it in factored form");
  return static_cast<int>(index);
}

/// Union-find over contacts, the smallest index as the representative.
class Components {
 public:
  explicit Components(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(int i) {
    while (at(i) != i) i = at(i) = at(at(i));
    return i;
  }
  void join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a != b) at(std::max(a, b)) = std::min(a, b);
  }
  std::vector<std::vector<int>> lists() {
    std::vector<std::vector<int>> out;
    std::vector<int> island(parent_.size(), -1);
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      int& number = island[static_cast<std::size_t>(find(i))];
      if (number < 0) {
        number = static_cast<int>(out.size());
        out.emplace_back();
      }
      out[static_cast<std::size_t>(number)].push_back(i);
    }
    return out;
  }

 private:
  int& at(int i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<int> parent_;
};

}  // namespace

void validate(const BlockMatrix& matrix, const char* name) {
  detail::validate_blocks(matrix, matrix.rows, matrix.rows, name);
}

void validate(const FrictionProblem& problem) {
  validate(problem.W, "friction problem: W");
  validate_vectors(problem.q, problem.mu, problem.W.rows);
}

void validate(const FactoredProblem& problem) {
  const auto contacts = static_cast<Eigen::Index>(problem.contacts.size());
  for (std::size_t b = 1; b < problem.body_begin.size(); ++b)
    require(problem.body_begin[b] >= problem.body_begin[b - 1], "friction problem: body_begin must not descend");
  for (std::size_t i = 0; i < problem.contacts.size(); ++i)
    for (const ContactRows& side : problem.contacts[i]) validate_rows(problem, side, i);
  require(all_finite(problem.rows), "friction problem: X holds a number that is not finite");
  validate_vectors(problem.q, problem.mu, contacts);
}

std::ptrdiff_t lay_out_rows(std::vector<std::array<ContactRows, 2>>& contacts) {
  std::ptrdiff_t size = 0;
  for (std::array<ContactRows, 2>& sides : contacts) {
    for (ContactRows& side : sides) {
      if (side.body < 0) continue;
      side.offset = size;
      size += 3 * static_cast<std::ptrdiff_t>(side.columns);
    }
  }
  return size;
}

VectorX velocity(const FrictionProblem& problem, const VectorX& impulse) {
  const BlockMatrix& w = problem.W;
  VectorX u = problem.q;
  for (int i = 0; i < w.rows; ++i) {
    Vector3 sum = Vector3::Zero();
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      sum += w.block[static_cast<std::size_t>(k)] * impulse.segment<3>(3 * w.column[static_cast<std::size_t>(k)]);
    u.segment<3>(3 * i) += sum;
  }
  return u;
}

VectorX velocity(const FactoredProblem& problem, const VectorX& impulse) {
  VectorX y = VectorX::Zero(problem.body_begin.empty() ? 0 : problem.body_begin.back());
  VectorX u = problem.q;
  const auto begin = [&](const ContactRows& side) { return problem.body_begin[static_cast<std::size_t>(side.body)]; };
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (r.isZero(0.0)) continue;  // as where a contact is open
    for (const ContactRows& side : problem.contacts[i])
      if (side.body >= 0) y.segment(begin(side), side.columns) += rows_of(problem, side).transpose() * r;
  }
  for_blocks(problem.contacts.size(), together, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      for (const ContactRows& side : problem.contacts[i])
        if (side.body >= 0)
          u.segment<3>(3 * static_cast<Eigen::Index>(i)) +=
              rows_of(problem, side) * y.segment(begin(side), side.columns);
  });
  return u;
}

FactoredProblem replaced(FactoredProblem problem, const std::vector<char>& left_out, const FactoredProblem& more) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    if (left_out[i]) continue;
    const auto from = static_cast<Eigen::Index>(i), to = static_cast<Eigen::Index>(kept);
    problem.contacts[kept++] = problem.contacts[i];
    problem.q.segment<3>(3 * to) = problem.q.segment<3>(3 * from).eval();
    problem.mu[to] = problem.mu[from];
  }
  const auto first = static_cast<Eigen::Index>(kept);
  const auto count = first + static_cast<Eigen::Index>(more.contacts.size());
  problem.q.conservativeResize(3 * count);
  problem.q.tail(more.q.size()) = more.q;
  problem.mu.conservativeResize(count);
  problem.mu.tail(more.mu.size()) = more.mu;
  problem.contacts.resize(kept);
  // Rows stay where they are, those left out as well: copying the others took as long as making them.
  const auto shift = static_cast<std::ptrdiff_t>(problem.rows.size());
  problem.rows.insert(problem.rows.end(), more.rows.begin(), more.rows.end());
  for (std::array<ContactRows, 2> sides : more.contacts) {
    for (ContactRows& side : sides) side.offset += shift;
    problem.contacts.push_back(sides);
  }
  return problem;
}

std::vector<Matrix3> diagonal_blocks(const FrictionProblem& problem) {
  const BlockMatrix& w = problem.W;
  std::vector<Matrix3> out(static_cast<std::size_t>(w.rows), Matrix3::Zero());
  for (int i = 0; i < w.rows; ++i)
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      if (w.column[static_cast<std::size_t>(k)] == i)
        out[static_cast<std::size_t>(i)] = w.block[static_cast<std::size_t>(k)];
  return out;
}

std::vector<Matrix3> diagonal_blocks(const FactoredProblem& problem) {
  std::vector<Matrix3> out(problem.contacts.size(), Matrix3::Zero());
  for_blocks(out.size(), together, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [a, b] = problem.contacts[i];
      if (a.body >= 0) add_gram(rows_of(problem, a), out[i]);
      if (b.body >= 0) add_gram(rows_of(problem, b), out[i]);
      if (a.body >= 0 && a.body == b.body) {  // both sides on one body: the cross terms as well
        const int common = std::min(a.columns, b.columns);
        const Matrix3 cross = rows_of(problem, a).leftCols(common) * rows_of(problem, b).leftCols(common).transpose();
        out[i] += cross + cross.transpose();
      }
    }
  });
  return out;
}

BlockMatrix block_matrix(const MatrixX& dense) {
  require(dense.rows() == dense.cols() && dense.rows() % 3 == 0, "friction problem: W must be square, 3n by 3n");
  BlockMatrix out;
  out.rows = static_cast<int>(dense.rows() / 3);
  out.row_begin.push_back(0);
  for (int i = 0; i < out.rows; ++i) {
    for (int j = 0; j < out.rows; ++j) {
      const Matrix3 block = dense.block<3, 3>(3 * i, 3 * j);
      if (i != j && (block.array() == 0.0).all()) continue;
      out.column.push_back(j);
      out.block.push_back(block);
    }
    out.row_begin.push_back(block_index(out.column.size()));
  }
  return out;
}

namespace {

/// X X^T of the contacts of one body, lower part (3m, 3m).
MatrixX gram(const FactoredProblem& problem, int body, const std::vector<int>& members) {
  const auto size = 3 * static_cast<Eigen::Index>(members.size());
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows;
  int width = 0;
  for (const int i : members)
    for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(i)])
      if (side.body == body) width = std::max(width, side.columns);
  rows.setZero(size, width);
  for (std::size_t k = 0; k < members.size(); ++k)
    for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(members[k])])
      if (side.body == body)
        rows.middleRows<3>(3 * static_cast<Eigen::Index>(k)).leftCols(side.columns) += rows_of(problem, side);
  MatrixX out = MatrixX::Zero(size, size);
  out.selfadjointView<Eigen::Lower>().rankUpdate(rows);
  return out;
}

/// Off the diagonal without blocks that are exactly zero.
BlockMatrix without_zeros(BlockMatrix matrix) {
  std::size_t kept = 0, begin = 0;
  for (int i = 0; i < matrix.rows; ++i) {
    const auto end = static_cast<std::size_t>(matrix.row_begin[static_cast<std::size_t>(i) + 1]);
    for (std::size_t k = begin; k < end; ++k) {
      if (matrix.column[k] != i && (matrix.block[k].array() == 0.0).all()) continue;
      matrix.column[kept] = matrix.column[k];
      matrix.block[kept++] = matrix.block[k];
    }
    begin = end;
    matrix.row_begin[static_cast<std::size_t>(i) + 1] = block_index(kept);
  }
  matrix.column.resize(kept);
  matrix.block.resize(kept);
  return matrix;
}

}  // namespace

FrictionProblem assembled(const FactoredProblem& problem) {
  const auto n = static_cast<int>(problem.contacts.size());
  const auto nth = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<std::vector<int>> touching(problem.body_begin.empty() ? 0 : problem.body_begin.size() - 1);
  for (int i = 0; i < n; ++i) {
    const auto& [a, b] = problem.contacts[nth(i)];
    if (a.body >= 0) touching[nth(a.body)].push_back(i);
    if (b.body >= 0 && b.body != a.body) touching[nth(b.body)].push_back(i);
  }
  BlockMatrix W{.rows = n, .row_begin = {0}, .column = {}, .block = {}};
  for (int i = 0; i < n; ++i) {
    std::vector<int> near = {i};
    for (const ContactRows& side : problem.contacts[nth(i)])
      if (side.body >= 0) near.insert(near.end(), touching[nth(side.body)].begin(), touching[nth(side.body)].end());
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    W.column.insert(W.column.end(), near.begin(), near.end());
    W.row_begin.push_back(block_index(W.column.size()));
  }
  W.block.assign(W.column.size(), Matrix3::Zero());
  const auto block = [&](int i, int j) -> Matrix3& {
    const auto begin = W.column.begin() + W.row_begin[nth(i)], end = W.column.begin() + W.row_begin[nth(i) + 1];
    return W.block[static_cast<std::size_t>(std::lower_bound(begin, end, j) - W.column.begin())];
  };
  for (std::size_t body = 0; body < touching.size(); ++body) {
    const std::vector<int>& members = touching[body];
    const MatrixX products = gram(problem, static_cast<int>(body), members);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const auto row = 3 * static_cast<Eigen::Index>(p);
      for (std::size_t q = 0; q < p; ++q) {
        const Matrix3 one = products.block<3, 3>(row, 3 * static_cast<Eigen::Index>(q));
        block(members[p], members[q]) += one;
        block(members[q], members[p]) += one.transpose();
      }
      block(members[p], members[p]) += Matrix3(products.block<3, 3>(row, row).selfadjointView<Eigen::Lower>());
    }
  }
  return {without_zeros(std::move(W)), problem.q, problem.mu};
}

std::vector<std::vector<int>> islands(const FrictionProblem& problem) {
  const BlockMatrix& w = problem.W;
  Components components(w.rows);
  for (int i = 0; i < w.rows; ++i)
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto block = static_cast<std::size_t>(k);
      if (w.column[block] != i && !(w.block[block].array() == 0.0).all()) components.join(i, w.column[block]);
    }
  return components.lists();
}

std::vector<std::vector<int>> islands(const FactoredProblem& problem) {
  Components components(static_cast<int>(problem.contacts.size()));
  std::vector<int> first(problem.body_begin.size(), -1);  // the first contact seen of each body
  for (std::size_t i = 0; i < problem.contacts.size(); ++i)
    for (const ContactRows& side : problem.contacts[i]) {
      if (side.body < 0 || side.columns == 0) continue;
      int& contact = first[static_cast<std::size_t>(side.body)];
      if (contact < 0) contact = static_cast<int>(i);
      components.join(contact, static_cast<int>(i));
    }
  return components.lists();
}

}  // namespace tresse::friction
