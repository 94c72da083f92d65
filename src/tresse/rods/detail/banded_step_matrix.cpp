#include <tresse/rods/detail/banded_step_matrix.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>

namespace tresse::rods::detail {

void BandedReverseCholesky::reset(int n, int band) { upper_.setZero(band + 1, n); }

bool BandedReverseCholesky::factor() {
  const int b = band();
  for (int j = size() - 1; j >= 0; --j) {
    double* column = upper_.col(j).data();  // by distance from the diagonal
    const double pivot = column[0];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const int reach = std::min(b, j);
    const double scale = 1.0 / std::sqrt(pivot);
    for (int d = 0; d <= reach; ++d) column[d] *= scale;
    for (int k = 1; k <= reach; ++k) {
      double* other = upper_.col(j - k).data();
      const double factor = column[k];
      for (int d = k; d <= reach; ++d) other[d - k] -= factor * column[d];
    }
  }
  return true;
}

void BandedReverseCholesky::solve_upper(double* x, int leading) const {
  const int b = band();
  for (int j = leading - 1; j >= 0; --j) {
    const double* column = upper_.col(j).data();
    x[j] /= column[0];
    const double value = x[j];
    for (int d = 1; d <= std::min(b, j); ++d) x[j - d] -= column[d] * value;
  }
}

void BandedReverseCholesky::velocity_from_whitened(Eigen::Ref<VectorX> x) const {
  const int b = band();
  for (int j = 0; j < size(); ++j) {
    const double* column = upper_.col(j).data();
    double value = x[j];
    // The nearest last: what comes before it does not wait for the entry just found.
    for (int d = std::min(b, j); d >= 1; --d) value -= column[d] * x[j - d];
    x[j] = value / column[0];
  }
}

void BandedReverseCholesky::solve(Eigen::Ref<VectorX> x) const {
  solve_upper(x.data(), size());
  velocity_from_whitened(x);
}

void BandedReverseCholesky::whiten(Eigen::Ref<MatrixX> columns) const {
  TRESSE_ASSERT(columns.rows() <= size());
  for (Eigen::Index k = 0; k < columns.cols(); ++k)
    solve_upper(columns.col(k).data(), static_cast<int>(columns.rows()));
}

void BandedReverseCholesky::whiten_rows(std::span<FourRows> rows) const {
  TRESSE_ASSERT(static_cast<int>(rows.size()) <= size());
  const int b = band();
  for (int j = static_cast<int>(rows.size()) - 1; j >= 0; --j) {
    const double* column = upper_.col(j).data();
    FourRows* at = rows.data() + j;
    *at /= column[0];
    for (int d = 1; d <= std::min(b, j); ++d) at[-d] -= column[d] * *at;
  }
}

double BandedReverseCholesky::squared_norm(const VectorX& x) const {
  const int b = band();
  double sum = 0.0;
  for (int j = 0; j < size(); ++j) {
    const double* column = upper_.col(j).data();
    double value = 0.0;
    for (int d = 0; d <= std::min(b, j); ++d) value += column[d] * x[j - d];
    sum += value * value;
  }
  return sum;
}

namespace {

void add_dense(const BandedReverseCholesky& band, Eigen::Ref<MatrixX> into) {
  TRESSE_ASSERT(into.rows() == band.size() && into.cols() == band.size());
  for (int j = 0; j < band.size(); ++j) {
    for (int i = std::max(0, j - band.band()); i <= j; ++i) {
      into(i, j) += band.at(i, j);
      if (i != j) into(j, i) += band.at(i, j);
    }
  }
}

}  // namespace

void BandedRod::mass_matrix(Eigen::Ref<MatrixX> out) const {
  BandedReverseCholesky band;
  band.reset(dof(), half_bandwidth());
  add_mass(band);
  out.setZero();
  add_dense(band, out);
}

void BandedRod::add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const {
  BandedReverseCholesky band;
  band.reset(dof(), half_bandwidth());
  add_step_terms({stiffness_scale, damping_scale, 0.0}, band);
  add_dense(band, into);
}

void BandedRod::add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const {
  BandedReverseCholesky band;
  band.reset(dof(), half_bandwidth());
  add_step_terms({0.0, 0.0, drag}, band);
  add_dense(band, into);
}

bool BandedStepMatrix::factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) {
  const auto* banded = dynamic_cast<const BandedRod*>(&rod);
  require(banded != nullptr, "banded step matrix: the rod is not made of nodes");
  banded->mass_times(velocity, momentum);
  const auto attempt = [&] {
    factor_.reset(rod.dof(), banded->half_bandwidth());
    banded->add_mass(factor_);
    banded->add_step_terms(terms, factor_);
    return factor_.factor();
  };
  if (attempt()) return true;
  banded->clamp_hessian();
  return attempt();
}

}  // namespace tresse::rods::detail
