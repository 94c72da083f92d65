#pragma once

#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::friction::detail {

/// Anderson mixing, type II, of a fixed-point map g: minimise |f - dF c| over c, f = g(x) - x, and go to g - dG c.
/// Distances are measured on the first `measured` entries; the rest is mixed with the same coefficients. The Gram
/// matrix is scaled to unit diagonal and lifted by 1e-13. Memory: 2 depth + 2 vectors, allocated once. @cite walker2011
class AndersonMixer {
 public:
  AndersonMixer(Eigen::Index size, Eigen::Index measured, int depth);
  void forget();
  /// x holds the point, g = g(x); x becomes the next point.
  void advance(VectorX& x, const VectorX& g);

 private:
  bool solve_coefficients(int count);

  Eigen::Index measured_;
  int depth_;
  int stored_ = 0;   // pairs of differences held
  int newest_ = -1;  // where the last pair stands
  bool started_ = false;
  MatrixX df_, dg_;
  VectorX f_, last_f_, last_g_;
  MatrixX gram_;
  VectorX right_, coefficient_, unit_;
};

}  // namespace tresse::friction::detail
