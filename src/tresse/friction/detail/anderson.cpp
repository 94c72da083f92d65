#include <tresse/friction/detail/anderson.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include <tresse/base/blocks.hpp>
#include <tresse/friction/detail/lanes.hpp>

namespace tresse::friction::detail {

template <typename Real>
AndersonMixer<Real>::AndersonMixer(const VectorX& r, const Vector& y, int depth)
    : depth_(depth),
      df_(r.size(), depth),
      dr_(r.size(), depth),
      dy_(y.size(), depth),
      last_f_(r.size()),
      last_r_(r),
      last_y_(y),
      products_(depth, depth),
      with_f_(depth),
      partial_(2 * depth, (r.size() + block - 1) / block),
      coefficient_(depth) {}

template <typename Real>
void AndersonMixer<Real>::forget() {
  stored_ = 0;
  newest_ = -1;
  started_ = false;
}

template <typename Real>
void AndersonMixer<Real>::restore(VectorX& r, Vector& y) {
  forget();
  r = last_r_;
  y = last_y_;
}

template <typename Real>
void AndersonMixer<Real>::shift(const Vector& y) {
  last_y_ -= y;
}

template <typename Real>
bool AndersonMixer<Real>::solve_coefficients() {
  const int n = stored_;
  if (!(products_.diagonal().head(n).minCoeff() > 0.0)) return false;
  const VectorX unit = products_.diagonal().head(n).cwiseSqrt();
  MatrixX gram = unit.cwiseInverse().asDiagonal() * products_.topLeftCorner(n, n) * unit.cwiseInverse().asDiagonal();
  gram.diagonal().array() += sweep_policy.mixing.lift;
  const Eigen::LDLT<MatrixX> factor(gram);
  coefficient_.head(n) = factor.solve(with_f_.head(n).cwiseQuotient(unit)).cwiseQuotient(unit);
  return coefficient_.head(n).allFinite();
}

/// The share of some entries, few enough for two lists in double precision to stay near.
template <typename Real>
void AndersonMixer<Real>::add_products(Eigen::Index k, Eigen::Index begin, Eigen::Index length, const Real* change) {
  double newest[widened], f[widened];
  std::copy_n(&df_(begin, newest_), length, newest);
  std::copy_n(change, length, f);
  for (int j = 0; j < stored_; ++j) {
    const auto [by_newest, by_f] = dots(&df_(begin, j), newest, f, length);
    partial_(j, k) += by_newest;
    partial_(depth_ + j, k) += by_f;
  }
}

/// One block of a new pair of the impulses' differences, and its share of their products, which are summed in double
/// precision.
template <typename Real>
void AndersonMixer<Real>::store(Eigen::Index k, Eigen::Index begin, Eigen::Index end, const VectorX& r,
                                const Vector& f) {
  const Eigen::Index length = end - begin;
  const double* impulse = r.data() + begin;
  const Real* change = f.data() + begin;
  double* last = last_r_.data() + begin;
  if (newest_ >= 0) {
    Real* dr = &dr_(begin, newest_);
    for (Eigen::Index i = 0; i < length; ++i) dr[i] = static_cast<Real>(impulse[i] - last[i]);
    df_.col(newest_).segment(begin, length) = f.segment(begin, length) - last_f_.segment(begin, length);
    partial_.col(k).setZero();
    for (Eigen::Index i = 0; i < length; i += widened)
      add_products(k, begin + i, std::min<Eigen::Index>(widened, length - i), change + i);
  }
  std::copy_n(impulse, length, last);
  std::copy_n(change, length, last_f_.data() + begin);
}

template <typename Real>
void AndersonMixer<Real>::advance(VectorX& r, Vector& y, const Vector& f) {
  if (started_ && depth_ > 0) {
    newest_ = (newest_ + 1) % depth_;
    stored_ = std::min(stored_ + 1, depth_);
  }
  started_ = true;
  for_blocks(r.size(), block,
             [&](Eigen::Index k, Eigen::Index begin, Eigen::Index end) { store(k, begin, end, r, f); });
  bool mix = stored_ > 0;
  if (mix) {
    const VectorX sums = partial_.rowwise().sum();
    products_.col(newest_).head(stored_) = sums.head(stored_);
    products_.row(newest_).head(stored_) = sums.head(stored_).transpose();
    with_f_.head(stored_) = sums.segment(depth_, stored_);
    mix = solve_coefficients();
  }
  if (mix) {
    for_blocks(r.size(), block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
      const Eigen::Index length = end - begin;
      double* to = r.data() + begin;
      for (int j = 0; j < stored_; ++j) {
        const Real* dr = &dr_(begin, j);
        const double c = coefficient_[j];
        for (Eigen::Index i = 0; i < length; ++i) to[i] -= c * static_cast<double>(dr[i]);
      }
    });
  }
  const Vector coefficient = coefficient_.head(stored_).template cast<Real>();
  for_blocks(y.size(), block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    const Eigen::Index length = end - begin;
    auto part = y.segment(begin, length);
    auto last = last_y_.segment(begin, length);
    if (newest_ >= 0) dy_.col(newest_).segment(begin, length) = part - last;
    last = part;
    if (!mix) return;
    for (int j = 0; j < stored_; ++j) part -= coefficient[j] * dy_.col(j).segment(begin, length);
  });
}

template class AndersonMixer<double>;
template class AndersonMixer<float>;

}  // namespace tresse::friction::detail
