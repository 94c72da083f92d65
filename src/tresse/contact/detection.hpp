#pragma once

#include <vector>

#include <tresse/contact/broad_phase.hpp>
#include <tresse/geometry/closest_points.hpp>

namespace tresse::contact {

struct DetectionOptions {
  geometry::DetectionMethod method = geometry::DetectionMethod::certified;
  /// As geometry::ClosestPointsOptions::tolerance: relative to the curves' length (certified), parameter size [m]
  /// (branch and bound), length of a proxy segment [m] (segments). > 0
  double tolerance = 1e-12;
};

/// One contact between two pieces, or a piece and a plane. `a` and `b` index Geometry::pieces; b = -1 - k is plane k.
struct Contact {
  int a = 0;
  int b = 0;
  double s_a = 0.0;  ///< parameter on a's curve [m]
  double s_b = 0.0;  ///< parameter on b's curve; 0 for a plane [m]
  Vector3 point_a;   ///< on a's centreline (3) [m]
  Vector3 point_b;   ///< on b's centreline; the foot on a plane (3) [m]
  Matrix3 frame;     ///< columns (normal from a to b, t1, t2), orthonormal (3, 3) [-]
  double gap = 0.0;  ///< distance between the surfaces, < 0 when they overlap [m]
};

/// A contact of the same two pieces at the same abscissae, where their curves are now.
Contact at_same_place(const Geometry& scene, const Contact& contact);

/// Contacts of the candidate pairs nearer than the reach of their pieces, in the order of the pairs: one a pair of
/// pieces, every local minimum and end against a plane. Found twice at a junction: kept once. Same result for any
/// number of threads. See docs/contact.md.
/// @cite crespel2024 sec. 5 (contact basis, duplicates)
std::vector<Contact> detect(const Geometry& scene, const std::vector<CandidatePair>& pairs,
                            const DetectionOptions& options);

}  // namespace tresse::contact
