#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/contact/detection.hpp>
#include <tresse/geometry/closest_points.hpp>

namespace tresse::assembly {

/// One call of the narrow phase, whole: to be repeated away from its run.
struct PairQuery {
  geometry::Curve a;  ///< over its whole domain
  geometry::Curve b;
  double upper_bound = 0.0;  ///< centrelines nearer than this make a contact [m]
  std::optional<geometry::ClosestPointsGuess> guess = std::nullopt;  ///< where the last step's contact was
};

/// The calls that a broad phase of axis-aligned boxes around the pieces leaves to the narrow one, as crespel2024
/// sec. 6.5 records them: every pair of pieces whose boxes, grown by what the pieces may do in the step, overlap, in
/// order. `geometry` is of these kinematics; `followed`: the last step's contacts. Of more than `most` every k-th is
/// kept.
std::vector<PairQuery> narrow_phase_trace(const Kinematics& at, const contact::Geometry& geometry,
                                          const std::vector<contact::Place>& followed, std::size_t most);

}  // namespace tresse::assembly
