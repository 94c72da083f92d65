#pragma once

#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {

/// Anderson mixing, type II, of a fixed-point map g of impulses r and of what goes with them, y: minimise |f - dF c|
/// over c, f = g(x) - x of the impulses, and go to g - dG c. The Gram matrix is scaled to unit diagonal and lifted a
/// little. Differences are kept as `Real`: they shrink as the iteration converges. Memory: 2 depth + 2 vectors,
/// allocated once. Long vectors on all threads, the result the same for any number of them. @cite walker2011
template <typename Real>
class AndersonMixer {
 public:
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  /// (r, y): where restore() returns to until the first advance().
  AndersonMixer(const VectorX& r, const Vector& y, int depth);
  /// (r, y) holds g(x); becomes the next point.
  void advance(VectorX& r, Vector& y, const Vector& f);
  /// Forgets all differences: the map g is another from now on.
  void forget();
  /// The same, and goes back to the last g.
  void restore(VectorX& r, Vector& y);
  /// From now on all y are less by this.
  void shift(const Vector& y);

 private:
  static constexpr Eigen::Index block = sweep_policy.mixing.block;
  static constexpr Eigen::Index widened = sweep_policy.mixing.widened;

  bool solve_coefficients();
  void add_products(Eigen::Index k, Eigen::Index begin, Eigen::Index length, const Real* change);
  void store(Eigen::Index k, Eigen::Index begin, Eigen::Index end, const VectorX& r, const Vector& f);

  int depth_;
  int stored_ = 0;   // pairs of differences held
  int newest_ = -1;  // where the last pair stands
  bool started_ = false;
  Matrix df_, dr_, dy_;
  Vector last_f_;
  VectorX last_r_;
  Vector last_y_;
  MatrixX products_;  // (depth, depth) of the df
  VectorX with_f_;    // (depth) df . f
  MatrixX partial_;   // (2 depth, blocks) sums of the blocks: products of the newest df, then df . f
  VectorX coefficient_;
};

extern template class AndersonMixer<double>;
extern template class AndersonMixer<float>;

}  // namespace tresse::friction::detail
