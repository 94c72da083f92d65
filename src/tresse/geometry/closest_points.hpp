#pragma once

#include <limits>

#include <tresse/geometry/curves.hpp>

namespace tresse::geometry {

enum class DetectionMethod {
  certified,         ///< branch and bound with an early, proved stop
  branch_and_bound,  ///< algorithm 1 of crespel2024 as published
  segments,          ///< polyline proxies, the baseline of crespel2024 sec. 6.5
};

struct ClosestPointsOptions {
  DetectionMethod method = DetectionMethod::certified;
  /// Certified: the distance found is within this of the global minimum, relative to the curves' length. Branch and bound: size of the
  /// smallest interval, same units as the parameter. Segments: length of a proxy segment, same units. > 0.
  double tolerance = 1e-12;
  /// Only pairs of points nearer than this are wanted [m]; a pair of curves proved farther apart is rejected early.
  double upper_bound = std::numeric_limits<double>::infinity();
  int max_steps = 1'000'000;  ///< boxes examined before giving up (the answer is then not certified); >= 1
};

struct ClosestPoints {
  double distance = std::numeric_limits<double>::infinity();  ///< [m]; infinity when proved beyond upper_bound
  double s_a = 0.0;                                            ///< parameter on a
  double s_b = 0.0;                                            ///< parameter on b
  bool found = false;      ///< a pair nearer than upper_bound exists
  bool certified = false;  ///< the answer is proved: global minimum to the tolerance, or nothing within upper_bound
  int steps = 0;           ///< boxes examined
};

/// Global minimum of |a(s_a) - b(s_b)| over the two intervals.
[[nodiscard]] ClosestPoints closest_points(const Curve& a, Interval interval_a, const Curve& b, Interval interval_b,
                                           const ClosestPointsOptions& options = {});

}  // namespace tresse::geometry
