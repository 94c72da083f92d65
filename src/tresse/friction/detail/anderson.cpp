#include <tresse/friction/detail/anderson.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include <tresse/base/blocks.hpp>

namespace tresse::friction::detail {

AndersonMixer::AndersonMixer(Eigen::Index size, Eigen::Index measured, int depth)
    : size_(size),
      measured_(measured),
      depth_(depth),
      df_(measured, depth),
      dg_(size, depth),
      last_f_(measured),
      last_g_(size),
      products_(depth, depth),
      with_f_(depth),
      partial_(2 * depth, (size + block - 1) / block),
      coefficient_(depth) {}

void AndersonMixer::forget() {
  stored_ = 0;
  newest_ = -1;
  started_ = false;
}

bool AndersonMixer::solve_coefficients() {
  constexpr double lift = 1e-13;  // of the unit diagonal: the rounding of the dot products
  const int n = stored_;
  if (!(products_.diagonal().head(n).minCoeff() > 0.0)) return false;
  const VectorX unit = products_.diagonal().head(n).cwiseSqrt();
  MatrixX gram = unit.cwiseInverse().asDiagonal() * products_.topLeftCorner(n, n) * unit.cwiseInverse().asDiagonal();
  gram.diagonal().array() += lift;
  const Eigen::LDLT<MatrixX> factor(gram);
  coefficient_.head(n) = factor.solve(with_f_.head(n).cwiseQuotient(unit)).cwiseQuotient(unit);
  return coefficient_.head(n).allFinite();
}

/// One block of a new pair of differences, and its share of their products.
void AndersonMixer::store(Eigen::Index k, Eigen::Index begin, Eigen::Index end, const VectorX& x, const VectorX& g) {
  const Eigen::Index length = end - begin;
  const Eigen::Index head = std::clamp<Eigen::Index>(measured_ - begin, 0, length);  // entries that are measured
  if (newest_ >= 0) dg_.col(newest_).segment(begin, length) = g.segment(begin, length) - last_g_.segment(begin, length);
  last_g_.segment(begin, length) = g.segment(begin, length);
  partial_.col(k).setZero();
  for (Eigen::Index i = begin; i < begin + head; ++i) {
    const double f = g[i] - x[i];
    if (newest_ >= 0) df_(i, newest_) = f - last_f_[i];
    last_f_[i] = f;
  }
  if (head == 0) return;
  for (int j = 0; j < stored_; ++j) {
    partial_(j, k) = df_.col(j).segment(begin, head).dot(df_.col(newest_).segment(begin, head));
    partial_(depth_ + j, k) = df_.col(j).segment(begin, head).dot(last_f_.segment(begin, head));
  }
}

void AndersonMixer::advance(VectorX& x, const VectorX& g) {
  if (started_ && depth_ > 0) {
    newest_ = (newest_ + 1) % depth_;
    stored_ = std::min(stored_ + 1, depth_);
  }
  started_ = true;
  for_blocks(size_, block, [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) { store(k, begin, end, x, g); });
  bool mix = stored_ > 0;
  if (mix) {
    const VectorX sums = partial_.rowwise().sum();
    products_.col(newest_).head(stored_) = sums.head(stored_);
    products_.row(newest_).head(stored_) = sums.head(stored_).transpose();
    with_f_.head(stored_) = sums.segment(depth_, stored_);
    mix = solve_coefficients();
  }
  for_blocks(size_, block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    const Eigen::Index length = end - begin;
    auto part = x.segment(begin, length);
    part = g.segment(begin, length);
    if (mix) {
      part.noalias() -= dg_.block(begin, 0, length, stored_) * coefficient_.head(stored_);
    }
  });
}

}  // namespace tresse::friction::detail
