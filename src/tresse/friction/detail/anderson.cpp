#include <tresse/friction/detail/anderson.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace tresse::friction::detail {

AndersonMixer::AndersonMixer(Eigen::Index size, Eigen::Index measured, int depth)
    : measured_(measured),
      depth_(depth),
      df_(measured, depth),
      dg_(size, depth),
      f_(measured),
      last_f_(measured),
      last_g_(size),
      gram_(depth, depth),
      right_(depth),
      coefficient_(depth),
      unit_(depth) {}

void AndersonMixer::forget() {
  stored_ = 0;
  newest_ = -1;
  started_ = false;
}

bool AndersonMixer::solve_coefficients(int count) {
  constexpr double lift = 1e-13;  // of the unit diagonal: the rounding of the dot products
  for (int i = 0; i < count; ++i) unit_[i] = df_.col(i).norm();
  if (!(unit_.head(count).minCoeff() > 0.0)) return false;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double value = df_.col(i).dot(df_.col(j)) / (unit_[i] * unit_[j]);
      gram_(i, j) = gram_(j, i) = value;
    }
    gram_(i, i) += lift;
    right_[i] = df_.col(i).dot(f_) / unit_[i];
  }
  const Eigen::LDLT<MatrixX> factor(gram_.topLeftCorner(count, count));
  coefficient_.head(count) = factor.solve(right_.head(count)).cwiseQuotient(unit_.head(count));
  return coefficient_.head(count).allFinite();
}

void AndersonMixer::advance(VectorX& x, const VectorX& g) {
  f_ = g.head(measured_) - x.head(measured_);
  if (started_ && depth_ > 0) {
    newest_ = (newest_ + 1) % depth_;
    df_.col(newest_) = f_ - last_f_;
    dg_.col(newest_) = g - last_g_;
    stored_ = std::min(stored_ + 1, depth_);
  }
  last_f_ = f_;
  last_g_ = g;
  started_ = true;
  x = g;
  if (stored_ > 0 && solve_coefficients(stored_)) x.noalias() -= dg_.leftCols(stored_) * coefficient_.head(stored_);
}

}  // namespace tresse::friction::detail
