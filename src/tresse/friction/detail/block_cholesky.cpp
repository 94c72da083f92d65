#include <tresse/friction/detail/block_cholesky.hpp>

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include <tresse/friction/detail/newton_system.hpp>

namespace tresse::friction::detail {
namespace {

std::size_t nth(int i) { return static_cast<std::size_t>(i); }

}  // namespace

BlockCholesky::BlockCholesky(const BlockMatrix& pattern)
    : n_(pattern.rows), parent_(nth(pattern.rows), -1), mark_(nth(pattern.rows), -1), path_(nth(pattern.rows)) {
  order(pattern);
  std::vector<int> ancestor(nth(n_), -1);
  for (int k = 0; k < n_; ++k) {
    for (int p = above_begin_[nth(k)]; p < above_begin_[nth(k + 1)]; ++p) {
      for (int i = above_row_[nth(p)]; i != -1 && i < k;) {
        const int next = ancestor[nth(i)];
        ancestor[nth(i)] = k;
        if (next == -1) parent_[nth(i)] = k;
        i = next;
      }
    }
  }
  std::vector<int> count(nth(n_), 0);
  for (int k = 0; k < n_; ++k) {
    for (int top = reach(k); top < n_; ++top) ++count[nth(path_[nth(top)])];
  }
  begin_ = {0};
  for (const int size : count) begin_.push_back(begin_.back() + size);
  row_.resize(nth(begin_.back()));
  block_.resize(row_.size());
  end_.resize(nth(n_));
  inverse_.resize(nth(n_));
  work_.assign(nth(n_), Matrix3::Zero());
}

void BlockCholesky::order(const BlockMatrix& pattern) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n_; ++i)
    for (int k = pattern.row_begin[nth(i)]; k < pattern.row_begin[nth(i + 1)]; ++k)
      entries.emplace_back(i, pattern.column[nth(k)], 1.0);
  Eigen::SparseMatrix<double> graph(n_, n_);
  graph.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation(n_);
  if (n_ > 0) Eigen::AMDOrdering<int>()(graph, permutation);
  old_.resize(nth(n_));
  std::vector<int> place(nth(n_));
  for (int k = 0; k < n_; ++k) {
    old_[nth(k)] = permutation.indices()[k];
    place[nth(old_[nth(k)])] = k;
  }
  diagonal_.resize(nth(n_));
  above_begin_ = {0};
  for (int k = 0; k < n_; ++k) {
    for (int b = pattern.row_begin[nth(old_[nth(k)])]; b < pattern.row_begin[nth(old_[nth(k)] + 1)]; ++b) {
      const int i = place[nth(pattern.column[nth(b)])];
      if (i == k) diagonal_[nth(k)] = b;
      if (i >= k) continue;
      above_row_.push_back(i);
      above_block_.push_back(b);
    }
    above_begin_.push_back(static_cast<int>(above_row_.size()));
  }
}

int BlockCholesky::reach(int k) {
  int top = n_;
  mark_[nth(k)] = k;
  std::vector<int>& path = path_;
  for (int p = above_begin_[nth(k)]; p < above_begin_[nth(k + 1)]; ++p) {
    int length = 0;
    for (int i = above_row_[nth(p)]; mark_[nth(i)] != k; i = parent_[nth(i)]) {
      path[nth(length++)] = i;
      mark_[nth(i)] = k;
    }
    while (length > 0) path[nth(--top)] = path[nth(--length)];
  }
  return top;
}

bool BlockCholesky::factor(const BlockMatrix& matrix) {
  std::fill(mark_.begin(), mark_.end(), -1);
  for (int i = 0; i < n_; ++i) end_[nth(i)] = begin_[nth(i)];
  bool good = true;
  for (int k = 0; k < n_; ++k) {
    const int first = reach(k);
    for (int p = above_begin_[nth(k)]; p < above_begin_[nth(k + 1)]; ++p)
      work_[nth(above_row_[nth(p)])] = matrix.block[nth(above_block_[nth(p)])];
    Matrix3 diagonal = matrix.block[nth(diagonal_[nth(k)])];
    for (int top = first; top < n_; ++top) {
      const int i = path_[nth(top)];
      const Matrix3 own = work_[nth(i)];
      work_[nth(i)].setZero();
      for (int p = begin_[nth(i)]; p < end_[nth(i)]; ++p)
        work_[nth(row_[nth(p)])].noalias() -= own * block_[nth(p)].transpose();
      const Matrix3 scaled = own * inverse_[nth(i)];
      diagonal.noalias() -= scaled * own.transpose();
      block_[nth(end_[nth(i)])] = scaled;
      row_[nth(end_[nth(i)]++)] = k;
    }
    // The three pivots.
    const double minor = diagonal(0, 0) * diagonal(1, 1) - diagonal(0, 1) * diagonal(1, 0);
    if (!(diagonal(0, 0) > 0.0 && minor > 0.0 && diagonal.determinant() > 0.0)) good = false;
    if (!good) break;
    inverse_[nth(k)] = diagonal.inverse();
  }
  if (!good) std::fill(work_.begin(), work_.end(), Matrix3::Zero());
  return good;
}

void BlockCholesky::solve(VectorX& x) const {
  VectorX y(x.size());
  for (int k = 0; k < n_; ++k) y.segment<3>(3 * k) = x.segment<3>(3 * old_[nth(k)]);
  for (int i = 0; i < n_; ++i) {
    const Vector3 own = y.segment<3>(3 * i);
    for (int p = begin_[nth(i)]; p < end_[nth(i)]; ++p)
      y.segment<3>(3 * row_[nth(p)]).noalias() -= block_[nth(p)] * own;
    y.segment<3>(3 * i) = inverse_[nth(i)] * own;
  }
  for (int i = n_; i-- > 0;) {
    Vector3 own = y.segment<3>(3 * i);
    for (int p = begin_[nth(i)]; p < end_[nth(i)]; ++p)
      own.noalias() -= block_[nth(p)].transpose() * y.segment<3>(3 * row_[nth(p)]);
    y.segment<3>(3 * i) = own;
  }
  for (int k = 0; k < n_; ++k) x.segment<3>(3 * old_[nth(k)]) = y.segment<3>(3 * k);
}

}  // namespace tresse::friction::detail
