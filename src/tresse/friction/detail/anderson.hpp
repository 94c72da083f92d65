#pragma once

#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::friction::detail {

/// Anderson mixing, type II, of a fixed-point map g: minimise |f - dF c| over c, f = g(x) - x, and go to g - dG c.
/// Distances are measured on the first `measured` entries; the rest is mixed with the same coefficients. The Gram
/// matrix is scaled to unit diagonal and lifted by 1e-13. Memory: 2 depth + 2 vectors, allocated once. Long vectors on
/// all threads, the result the same for any number of them. @cite walker2011
class AndersonMixer {
 public:
  AndersonMixer(Eigen::Index size, Eigen::Index measured, int depth);
  void forget();
  /// x holds the point, g = g(x); x becomes the next point.
  void advance(VectorX& x, const VectorX& g);

 private:
  static constexpr Eigen::Index block = 4096;  // entries summed together

  bool solve_coefficients();
  void store(Eigen::Index k, Eigen::Index begin, Eigen::Index end, const VectorX& x, const VectorX& g);

  Eigen::Index size_;
  Eigen::Index measured_;
  int depth_;
  int stored_ = 0;   // pairs of differences held
  int newest_ = -1;  // where the last pair stands
  bool started_ = false;
  MatrixX df_, dg_;
  VectorX last_f_, last_g_;
  MatrixX products_;  // (depth, depth) of the df
  VectorX with_f_;    // (depth) df . f
  MatrixX partial_;   // (2 depth, blocks) sums of the blocks: products of the newest df, then df . f
  VectorX coefficient_;
};

}  // namespace tresse::friction::detail
