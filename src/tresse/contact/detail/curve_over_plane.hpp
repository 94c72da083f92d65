#pragma once

#include <vector>

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::contact::detail {

/// The height h(s) = normal . (r(s) - point) of a curve whose |r''| is at most `curvature`.
class CurveOverPlane {
 public:
  CurveOverPlane(const geometry::PreparedCurve& curve, double curvature, const Vector3& point, const Vector3& normal);

  /// Whether it is proved that |h| > bound all over an interval; says nothing otherwise.
  bool beyond(const geometry::Interval& interval, double bound) const;
  /// The parts of the intervals, in order, where h >= least. Exact to rounding: between its extremes h is monotone.
  std::vector<geometry::Interval> above(const std::vector<geometry::Interval>& intervals, double least) const;

 private:
  struct Value {
    double height, slope;
  };
  Value at(double s) const;
  std::vector<double> cuts(const geometry::Interval& interval) const;
  double crossing(geometry::Interval bracket, double level) const;

  const geometry::PreparedCurve& curve_;
  double curvature_;
  Vector3 point_;
  Vector3 normal_;
  double base_;  ///< of the curve's origin
};

}  // namespace tresse::contact::detail
