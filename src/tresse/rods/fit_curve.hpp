#pragma once

#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>

namespace tresse::rods {

struct FitOptions {
  bool affine = false;     ///< curvature affine on an element and continuous (super-clothoid), else constant
  int elements = 0;        ///< at most so many, 0 to 1000; 0: 200, and smooth fits have no more than points determine
  double tolerance = 0.0;  ///< of the largest distance: as few elements as do; >= 0; 0: exactly `elements` [m]
  std::vector<double> parts{};  ///< the elements' shares of the length, > 0, in place of `elements`; empty: equal ones
  bool clamped_root = true;     ///< of fit_polygon(): `root` is that of a clamped chain, else of a free one
  int max_iterations = 200;     ///< accepted steps of Levenberg and Marquardt from each start; >= 1
};

/// What a fibre's root and initial curvatures are made of.
struct FittedCurve {
  Pose root;  ///< n0 along the curve; n1 is any unit vector across it: points do not tell how a round fibre is turned
  std::vector<double> lengths;     ///< (elements) [m]
  std::vector<Vector3> curvature;  ///< (elements), or (elements + 1) at the nodes if affine; (twist, k1, k2) [1/m]
  double largest_distance = 0.0;   ///< from a given point to the curve, at most [m]
  double mean_distance = 0.0;      ///< [m]
  double deviation = 0.0;     ///< Frechet distance to the polyline through the points, at most: of places in order [m]
  double length_ratio = 1.0;  ///< of the curve's length to that polyline's
  Status status = Status::max_iterations;  ///< converged: no step brings the curve nearer
};

/// The curve nearest to a row of points (n), n from 2 to 10 000, consecutive ones apart: least over root pose, length
/// and curvatures q = length * curvature of
///   sum_j |p_j - r(s_j)|^2 + mu int |q'|^2 + |q|^2 dx,   x = s / length,
/// s_j the foot of point j, none before that of the point before, the curve's ends for the first and last. Levenberg
/// and Marquardt with the rod's own Jacobian, feet eliminated. mu is the ratio of the points' noise to the spread of
/// the curvatures, both estimated from the points by maximum evidence: it goes to zero for points on such a curve, and
/// to infinity for noise about a straight one, so that noise makes no curls and what points do not tell, such as the
/// twist of a straight stretch, is zero. @cite mackay1992 It starts from a curve without twist, and unless that fits to
/// rounding from elements that are added one by one from the root as well; the more probable is returned. No element is
/// bent by more than 2.5 rad between two points, and no curve is longer than circles through three points by more than
/// a twentieth. Where that curve strays from the polyline, leaves out what is not noise, or is longer by more than 1 %
/// at a corner, the result is the polyline itself with rounded corners, of unequal elements (unless `parts` are given):
/// straight ones and arcs, or clothoids. A corner that turns back is opened by less than the tolerance. With round
/// sections the choice of n1 is free: twists and sqrt(k1^2 + k2^2) are what is found again; figures in
/// docs/guide/imports.md, tests/rods/fit_curve_test.cpp. Deterministic. Throws InvalidInput for other numbers of
/// points, numbers that are not finite or beyond 1e9, points that coincide, options out of range.
FittedCurve fit_curve(const std::vector<Vector3>& points, const FitOptions& options);

/// A chain of straight edges through nodes on the polyline, at equal arc lengths along it, for discrete elastic rods
/// and mass-spring chains; `curvature` is by edge and without twist, such that a rod with them has these nodes to
/// rounding. As many edges as segments: the points themselves are the nodes. Options and errors as above, but `affine`,
/// `parts` and `max_iterations` are not read and a node that turns by 3 rad or more is refused.
FittedCurve fit_polygon(const std::vector<Vector3>& points, const FitOptions& options);

}  // namespace tresse::rods
