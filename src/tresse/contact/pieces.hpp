#pragma once

#include <vector>

#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::contact {

/// A smooth piece of tube: part of a fibre's element, or a capsule of an obstacle.
struct Piece {
  geometry::PreparedCurve curve = geometry::SegmentEvaluator({Vector3::Zero(), Vector3::Zero()});  ///< in the world
  geometry::Interval interval;      ///< the part of the curve that this piece covers, in its parameter
  double radius = 0.0;              ///< of the tube; > 0 [m]
  double curvature = 0.0;           ///< bound on |r''| over the piece [1/m]
  Vector3 drift = Vector3::Zero();  ///< what its points may travel together during the step (3) [m]
  double reach = 0.0;               ///< how far each may go beyond, and half the margin; >= 0 [m]
  double begin = 0.0;               ///< arc length along the body of parameter 0 of the curve [m]
  int body = 0;                     ///< pieces of one body share it
  int element = 0;                  ///< of the fibre, or capsule of the obstacle
  bool fibre = true;                ///< false: an obstacle; two obstacles never meet
  bool first = true;                ///< starts at the body's beginning
  bool last = true;                 ///< ends at the body's end
};

/// Solid half-space on the side away from the unit normal.
struct HalfSpace {
  Vector3 point;   ///< (3) [m]
  Vector3 normal;  ///< unit (3) [-]
  int body = 0;
};

/// What can touch, at one instant. Pieces of one body stand together, in order along the body.
struct Geometry {
  std::vector<Piece> pieces;
  std::vector<HalfSpace> planes;
  std::vector<int> body_begin;  ///< (bodies + 1) first piece of each body; a plane's body has none
};

/// The piece of a body's element that covers parameter `s` of it (the nearest one if none does).
int piece_at(const Geometry& scene, int body, int element, double s);

/// How near two pieces must be to meet during the step: distance of their centrelines. [m]
inline double meeting_distance(const Piece& a, const Piece& b) {
  return a.radius + b.radius + a.reach + b.reach + (a.drift - b.drift).norm();
}

/// Pieces that an element of curvature |r''| = `curvature` is cut into, each at most 0.45 turns so that two of them can
/// touch.
int pieces_per_element(double curvature, double length);

/// Arc length up to which a tube of radius `radius` and curvature at most `curvature` cannot touch itself, `margin`
/// apart included: the chord of an arc of length d <= 2 pi/k is at least (2/k) sin(k d/2) (Schur's comparison theorem).
/// Infinite when straight.
double self_contact_free_length(double curvature, double radius, double margin);

}  // namespace tresse::contact
