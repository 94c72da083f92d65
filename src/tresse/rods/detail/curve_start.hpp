#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tresse/rods/detail/curve_fit.hpp>

// Curves from which rods::fit_curve() starts.
namespace tresse::rods::detail {

/// What circles through three neighbouring points say of a row of points.
struct PointBends {
  std::vector<double> arc;         ///< arc length along the circles
  std::vector<Vector3> curvature;  ///< along the binormal
};
PointBends bends_of(std::span<const Vector3> points);

/// x of the points by those arc lengths.
std::vector<double> places_of(const PointBends& bends);

/// A unit vector and two across it.
Matrix3 frame_along(const Vector3& tangent);

/// Directions over windows as long as elements, carried along without twist: what noise from point to point does not
/// reach.
CurveShape start_without_twist(std::span<const Vector3> points, const PointBends& bends, const CurveModel& model);

/// Elements added one by one from the root, each with the best of: the bend of the one before, the mean bend of its
/// points with their torsion and without. Nothing once points are farther than `far` from where all elements are there.
std::optional<CurveShape> start_grown(std::span<const Vector3> points, const PointBends& bends, const CurveModel& model,
                                      const CurveBounds& bounds, double far);

/// Weight of the prior that is next to nothing for so many points and elements.
double mild_mu(std::size_t points, const CurveModel& model);

}  // namespace tresse::rods::detail
