#pragma once

#include <span>

#include <tresse/rods/detail/curve_fit.hpp>

// Whether rods::fit_curve() found what its points mean. All lengths are in units of the polyline's.
namespace tresse::rods::detail {

/// How a curve goes from the foot of one point to that of the next.
struct Course {
  double deviation = 0.0;  ///< Frechet distance between the curve and the polyline, at most
  bool strays = false;     ///< a piece is farther from its segment than its ends and an arc through them explain
};

/// `near`: what a curve may be off anyway.
Course course_of(std::span<const Vector3> points, const CurveModel& model, const CurveState& state, double near);

/// Whether a polyline turns at single points where it does not beside them, or so much that no curve is meant.
bool has_corners(std::span<const Vector3> points);

/// Whether a polyline turns at a point otherwise than at the ones beside, as noise about a smooth curve makes it.
bool turns_like_noise(std::span<const Vector3> points);

}  // namespace tresse::rods::detail
