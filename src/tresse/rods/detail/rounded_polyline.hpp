#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tresse/rods/detail/curve_fit.hpp>

// What rods::fit_curve() falls back on. All lengths are in units of the polyline's.
namespace tresse::rods::detail {

/// A polyline with rounded corners: straight elements, and between them an arc, or two clothoids if affine, in the
/// plane of each corner.
struct RoundedPolyline {
  CurveModel model;
  CurveShape shape;
  std::vector<double> at;  ///< x of the places on it that the given points have
};

struct RoundingOptions {
  bool affine = false;
  double tolerance = 0.0;  ///< of the Frechet distance between the polyline and the result; > 0
  int elements = 1;        ///< at most; with too few for the tolerance the polyline is made simpler
  bool all = false;        ///< exactly `elements`
};

/// The polyline through `points`, n >= 2, without what is smaller than the tolerance. A corner that turns back gets two
/// vertices beside each other. Nothing where the points leave no polyline of that many elements.
std::optional<RoundedPolyline> rounded_polyline(std::span<const Vector3> points, const RoundingOptions& options);

}  // namespace tresse::rods::detail
