#include <tresse/friction/detail/block_cholesky.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <Eigen/Cholesky>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace tresse::friction::detail {
namespace {

std::size_t nth(int i) { return static_cast<std::size_t>(i); }

/// The old number by the place in the elimination, of little fill.
std::vector<int> minimum_degree(const BlockMatrix& pattern) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(pattern.column.size());
  for (int i = 0; i < pattern.rows; ++i)
    for (int k = pattern.row_begin[nth(i)]; k < pattern.row_begin[nth(i + 1)]; ++k)
      entries.emplace_back(i, pattern.column[nth(k)], 1.0);
  Eigen::SparseMatrix<double> graph(pattern.rows, pattern.rows);
  graph.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation(pattern.rows);
  if (pattern.rows > 0) Eigen::AMDOrdering<int>()(graph, permutation);
  return {permutation.indices().data(), permutation.indices().data() + pattern.rows};
}

std::vector<int> inverse_of(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[nth(order[k])] = static_cast<int>(k);
  return out;
}

/// Rows of L below the diagonal, ascending, of each column.
std::vector<std::vector<int>> columns_of_factor(const BlockMatrix& pattern, const std::vector<int>& order) {
  const std::vector<int> place = inverse_of(order);
  std::vector<std::vector<int>> out(order.size()), children(order.size());
  std::vector<int> mark(order.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int own = static_cast<int>(k);
    const auto add = [&](int row) {
      if (row <= own || mark[nth(row)] == own) return;
      mark[nth(row)] = own;
      out[k].push_back(row);
    };
    for (int b = pattern.row_begin[nth(order[k])]; b < pattern.row_begin[nth(order[k]) + 1]; ++b)
      add(place[nth(pattern.column[nth(b)])]);
    for (const int child : children[k])
      for (const int row : out[nth(child)]) add(row);
    std::sort(out[k].begin(), out[k].end());
    if (!out[k].empty()) children[nth(out[k].front())].push_back(own);
  }
  return out;
}

/// The places in an order in which every column comes right after those that hang on it.
std::vector<int> after_children(const std::vector<std::vector<int>>& below) {
  const auto n = static_cast<int>(below.size());
  std::vector<std::vector<int>> children(below.size() + 1);  // the last: of roots
  for (int k = 0; k < n; ++k) children[nth(below[nth(k)].empty() ? n : below[nth(k)].front())].push_back(k);
  std::vector<int> out, stack{n};
  // Parents before children, then turned round.
  while (!stack.empty()) {
    const int k = stack.back();
    stack.pop_back();
    if (k < n) out.push_back(k);
    for (const int child : children[nth(k)]) stack.push_back(child);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

double work_of(int columns, int rows) {
  const double c = 3.0 * columns, r = 3.0 * rows;
  return c * (c * c / 6.0 + r * c / 2.0 + r * r / 2.0);
}

/// into -= B B^T, lower part, strip by strip so that threads can share large ones.
void subtract_product(const Eigen::Ref<const MatrixX>& B, MatrixX& into) {
  constexpr Eigen::Index width = 96;  // the same for any number of threads
  const Eigen::Index strips = (B.rows() + width - 1) / width;
  const auto strip = [&](Eigen::Index k) {
    const Eigen::Index begin = k * width, size = std::min(width, B.rows() - begin), end = begin + size;
    into.block(begin, begin, size, size).selfadjointView<Eigen::Lower>().rankUpdate(B.middleRows(begin, size), -1.0);
    if (end < B.rows())
      into.block(end, begin, B.rows() - end, size).noalias() -=
          B.bottomRows(B.rows() - end) * B.middleRows(begin, size).transpose();
  };
  if (strips == 1)
    strip(0);
  else
    tbb::parallel_for(Eigen::Index{0}, strips, strip);
}

}  // namespace

BlockCholesky::BlockCholesky(const BlockMatrix& pattern) : n_(pattern.rows), old_(minimum_degree(pattern)) {
  const std::vector<int> order = after_children(columns_of_factor(pattern, old_));
  std::vector<int> old;
  old.reserve(order.size());
  for (const int k : order) old.push_back(old_[nth(k)]);
  old_ = std::move(old);
  make_fronts(columns_of_factor(pattern, old_));
  place_entries(pattern);
  share_out();
}

/// Columns with the same rows make one front; so do those whose front would have few zeros.
void BlockCholesky::make_fronts(const std::vector<std::vector<int>>& below) {
  std::vector<Front> found;  // the last ones may still be taken into the next
  std::vector<int> zeros;    // in the columns of each
  for (int k = 0; k < n_; ++k) {
    Front front;
    front.first = k;
    front.columns = 1;
    front.rows = below[nth(k)];
    int its_zeros = 0;
    while (!found.empty()) {
      const Front& before = found.back();
      if (before.rows.empty() || before.rows.front() != front.first) break;
      // Of `before` the rows are the columns of this one and a part of its rows.
      const int wider = front.columns + static_cast<int>(front.rows.size()) - static_cast<int>(before.rows.size());
      const int both = before.columns + front.columns;
      const int more = zeros.back() + its_zeros + before.columns * wider;
      const int size = both * (both + 1) / 2 + both * static_cast<int>(front.rows.size());
      constexpr int narrow = 4;
      const double share = both <= narrow ? 0.4 : both <= 4 * narrow ? 0.15 : 0.05;
      if (more > share * size) break;
      front.first = before.first;
      front.columns = both;
      its_zeros = more;
      found.pop_back();
      zeros.pop_back();
    }
    found.push_back(std::move(front));
    zeros.push_back(its_zeros);
  }
  fronts_ = std::move(found);
  std::vector<int> of_column(nth(n_));
  for (std::size_t f = 0; f < fronts_.size(); ++f)
    for (int k = 0; k < fronts_[f].columns; ++k) of_column[nth(fronts_[f].first + k)] = static_cast<int>(f);
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    Front& front = fronts_[f];
    front.work += work_of(front.columns, static_cast<int>(front.rows.size()));
    if (front.rows.empty()) continue;
    front.parent = of_column[nth(front.rows.front())];
    Front& parent = fronts_[nth(front.parent)];
    parent.children.push_back(static_cast<int>(f));
    parent.work += front.work;
    std::size_t at = 0;
    for (const int row : front.rows) {
      if (row < parent.first + parent.columns) {
        front.into_parent.push_back(row - parent.first);
      } else {
        while (parent.rows[at] != row) ++at;
        front.into_parent.push_back(parent.columns + static_cast<int>(at));
      }
    }
  }
}

void BlockCholesky::place_entries(const BlockMatrix& pattern) {
  const std::vector<int> place = inverse_of(old_);
  for (Front& front : fronts_) {
    const int end = front.first + front.columns;
    for (int k = front.first; k < end; ++k) {
      for (int b = pattern.row_begin[nth(old_[nth(k)])]; b < pattern.row_begin[nth(old_[nth(k)]) + 1]; ++b) {
        const int row = place[nth(pattern.column[nth(b)])];
        if (row < k) continue;
        const auto among = std::lower_bound(front.rows.begin(), front.rows.end(), row) - front.rows.begin();
        const int at = row < end ? row - front.first : front.columns + static_cast<int>(among);
        front.entries.push_back({b, at, k - front.first});
      }
    }
  }
}

/// A front comes right after all that it depends on: they are a range.
void BlockCholesky::share_out() {
  double whole = 0.0;
  for (const Front& front : fronts_)
    if (front.parent < 0) whole += front.work;
  const double most = whole / 8.0;  // so that a few threads have as much to do
  std::vector<int> begin(fronts_.size());
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    const Front& front = fronts_[f];
    begin[f] = front.children.empty() ? static_cast<int>(f) : begin[nth(front.children.front())];
    if (front.work > most) {
      joining_.push_back(static_cast<int>(f));
    } else if (front.parent < 0 || fronts_[nth(front.parent)].work > most) {
      apart_.emplace_back(begin[f], static_cast<int>(f) + 1);
    }
  }
}

bool BlockCholesky::eliminate(Front& front, const BlockMatrix& matrix) {
  const Eigen::Index c = 3 * static_cast<Eigen::Index>(front.columns);
  const Eigen::Index r = 3 * static_cast<Eigen::Index>(front.rows.size());
  front.panel.setZero(c + r, c);
  front.left.setZero(r, r);
  for (const Entry& entry : front.entries)
    front.panel.block<3, 3>(3 * entry.row, 3 * entry.column) = matrix.block[nth(entry.block)].transpose();
  for (const int child : front.children) {
    Front& from = fronts_[nth(child)];
    for (std::size_t j = 0; j < from.rows.size(); ++j) {
      const int column = from.into_parent[j];
      const bool in_panel = column < front.columns;
      MatrixX& into = in_panel ? front.panel : front.left;
      const int shift = in_panel ? 0 : front.columns;
      for (std::size_t i = j; i < from.rows.size(); ++i) {
        into.block<3, 3>(3 * (from.into_parent[i] - shift), 3 * (column - shift)) +=
            from.left.block<3, 3>(3 * static_cast<Eigen::Index>(i), 3 * static_cast<Eigen::Index>(j));
      }
    }
    from.left.resize(0, 0);
  }
  Eigen::Ref<MatrixX> top = front.panel.topRows(c);
  const Eigen::LLT<Eigen::Ref<MatrixX>> factor(top);
  if (factor.info() != Eigen::Success || !top.diagonal().allFinite()) return false;
  if (r == 0) return true;
  auto below = front.panel.bottomRows(r);
  top.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(below);
  subtract_product(below, front.left);
  return true;
}

bool BlockCholesky::factor(const BlockMatrix& matrix) {
  std::atomic<bool> good = true;
  const auto eliminate_range = [&](int begin, int end) {
    for (int f = begin; f < end && good; ++f)
      if (!eliminate(fronts_[nth(f)], matrix)) good = false;
  };
  tbb::parallel_for_each(apart_.begin(), apart_.end(),
                         [&](const std::pair<int, int>& range) { eliminate_range(range.first, range.second); });
  for (const int f : joining_) eliminate_range(f, f + 1);
  return good;
}

std::size_t BlockCholesky::block_count() const {
  std::size_t out = 0;
  for (const Front& front : fronts_)
    out += nth(front.columns) * front.rows.size() + nth(front.columns * (front.columns - 1) / 2);
  return out;
}

void BlockCholesky::solve(VectorX& x) const {
  VectorX y(x.size()), below;
  for (int k = 0; k < n_; ++k) y.segment<3>(3 * k) = x.segment<3>(3 * old_[nth(k)]);
  for (const Front& front : fronts_) {
    const Eigen::Index c = 3 * static_cast<Eigen::Index>(front.columns);
    auto own = y.segment(3 * front.first, c);
    front.panel.topRows(c).triangularView<Eigen::Lower>().solveInPlace(own);
    below.noalias() = front.panel.bottomRows(front.panel.rows() - c) * own;
    for (std::size_t i = 0; i < front.rows.size(); ++i)
      y.segment<3>(3 * front.rows[i]) -= below.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  for (std::size_t f = fronts_.size(); f-- > 0;) {
    const Front& front = fronts_[f];
    const Eigen::Index c = 3 * static_cast<Eigen::Index>(front.columns);
    below.resize(front.panel.rows() - c);
    for (std::size_t i = 0; i < front.rows.size(); ++i)
      below.segment<3>(3 * static_cast<Eigen::Index>(i)) = y.segment<3>(3 * front.rows[i]);
    auto own = y.segment(3 * front.first, c);
    own.noalias() -= front.panel.bottomRows(front.panel.rows() - c).transpose() * below;
    front.panel.topRows(c).triangularView<Eigen::Lower>().transpose().solveInPlace(own);
  }
  for (int k = 0; k < n_; ++k) x.segment<3>(3 * old_[nth(k)]) = y.segment<3>(3 * k);
}

}  // namespace tresse::friction::detail
