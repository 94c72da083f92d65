#pragma once

#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>

namespace tresse::rods {

struct FitOptions {
  bool affine = false;      ///< curvature affine on an element and continuous (super-clothoid), else constant
  int elements = 0;         ///< at most so many, >= 0; 0: one fewer than points, and no more than 10000
  double tolerance = 0.0;   ///< of the largest distance: as few elements as do; >= 0; 0: exactly `elements` [m]
  int max_iterations = 60;  ///< of Levenberg and Marquardt, for each number of elements; >= 1
};

/// A curve of equal elements: what a fibre's root and initial curvatures are made of.
struct FittedCurve {
  Pose root;                       ///< n0 along the curve; n1 carried from the first point without twist
  double length = 0.0;             ///< of the whole curve [m]
  int elements = 0;                ///<
  std::vector<Vector3> curvature;  ///< (elements), or (elements + 1) at the nodes if affine; (twist, k1, k2) [1/m]
  double largest_distance = 0.0;   ///< from a given point to the curve, at most [m]
  double mean_distance = 0.0;      ///< [m]
  Status status = Status::max_iterations;  ///< converged: no step brings the points nearer, or the tolerance is met
};

/// The curve nearest to a row of points (n), n >= 2, consecutive ones apart: least squares of the distances from the
/// points to the curve, ends to ends, by Levenberg and Marquardt with the exact Jacobian of the rod's kinematics over
/// root, curvatures and length. It starts from elements that are fitted one after the other from the root. A curve
/// sampled from elements of equal length is found again to rounding (tests/rods/fit_curve_test.cpp); of what the points
/// do not tell, such as the twist of a straight stretch, nothing is made up. Throws InvalidInput for fewer points,
/// numbers that are not finite or beyond 1e9, points that coincide, options out of range.
FittedCurve fit_curve(const std::vector<Vector3>& points, const FitOptions& options);

}  // namespace tresse::rods
