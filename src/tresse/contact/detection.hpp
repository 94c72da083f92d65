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
  /// Above 0: contacts for a potential that is felt below this gap, so many and of such reach that its energy changes
  /// without jumps as bodies move; docs/theory/penalty.md, "Which contacts". [m]
  double softness = 0.0;
};

/// One contact between two pieces, or a piece and a surface. `a` and `b` index Geometry::pieces; b = -1 - k is surface
/// k: planes, then meshes.
struct Contact {
  int a = 0;
  int b = 0;
  double s_a = 0.0;                   ///< parameter on a's curve [m]
  double s_b = 0.0;                   ///< parameter on b's curve; 0 for a surface [m]
  Vector3 point_a;                    ///< on a's centreline (3) [m]
  Vector3 point_b;                    ///< on b's centreline; the foot on a surface (3) [m]
  Matrix3 frame;                      ///< columns (normal from a to b, t1, t2), orthonormal (3, 3) [-]
  double gap = 0.0;                   ///< distance between the surfaces, < 0 when they overlap [m]
  double slack = 0.0;                 ///< overlap that is left to the contacts beside it on a line; >= 0 [m]
  double reach = 1.0;                 ///< of a potential: share of its distance; above 0, at most 1 [-]
  bool fixed = false;                 ///< at a point of a's material where its line holds it
  int face = -1;                      ///< of a mesh, where point_b is
  Vector3 weights = Vector3::Zero();  ///< of the face's corners, their sum point_b (3) [-]
  int side = 0;  ///< of the face: 1 in front, -1 behind; 0 at the rim of a sheet, where there is none, or no mesh
};

/// Where a contact is on its two bodies, whatever pieces they are cut into.
struct Place {
  int body_a = 0;
  int element_a = 0;
  int body_b = 0;
  int element_b = 0;   ///< -1: a plane; the face of a mesh
  double s_a = 0.0;    ///< local arc length of the material of a's element [m]
  double s_b = 0.0;    ///< of b's element [m]; 0 for a plane; Contact::side of a mesh
  bool fixed = false;  ///< Contact::fixed; only follow() asks
};

Place place_of(const Geometry& scene, const Contact& contact);

/// Whether there are bodies for a place, with pieces or a surface, and its numbers are finite.
bool is_place(const Geometry& scene, const Place& place);

/// Distances along both bodies, as they are, between two contacts of the same two bodies: the larger. [m]
double distance_along(const Geometry& scene, const Contact& contact, const Contact& other);

/// Contacts of the candidate pairs nearer than the reach of their pieces, in the order of the pairs: local minima of
/// the distance a pair of pieces, every local minimum and end against a surface. Those of `followed`, contacts of an
/// earlier configuration, come after them, at the nearest points around their old places, where no new one stands for
/// them. Found twice at a junction: kept once. Same result for any number of threads. See docs/theory/contact.md.
/// @cite crespel2024 sec. 5 (contact basis, duplicates)
std::vector<Contact> detect(const Geometry& scene, const std::vector<CandidatePair>& pairs,
                            const DetectionOptions& options, const std::vector<Place>& followed = {});

/// The contacts of an earlier configuration at the nearest points around their old places, and nothing else: cheap, for
/// a configuration that will be searched in full later.
std::vector<Contact> follow(const Geometry& scene, const std::vector<Place>& places);

}  // namespace tresse::contact
