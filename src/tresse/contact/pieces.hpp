#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/base/body_id.hpp>
#include <tresse/geometry/material_span.hpp>
#include <tresse/geometry/prepared_curve.hpp>
#include <tresse/geometry/triangle_mesh.hpp>

namespace tresse::contact {

/// What a piece may do during the step: go rigidly by `drift` and `spin` about its middle, and every point by up to
/// `reach` beyond.
struct Travel {
  Vector3 middle = Vector3::Zero();    ///< (3) [m]
  Vector3 drift = Vector3::Zero();     ///< of the middle (3) [m]
  Vector3 spin = Vector3::Zero();      ///< rotation vector (3) [rad]
  Vector3 to_begin = Vector3::Zero();  ///< from the middle (3) [m]
  Vector3 to_end = Vector3::Zero();    ///< (3) [m]
  double sagitta = 0.0;                ///< the piece is within this of the lines from its middle to its ends [m]
  double reach = 0.0;                  ///< half the contact margin included; >= 0 [m]

  /// The piece is within this of its middle. [m]
  double extent() const;
  /// The farthest that any of its points may go. [m]
  double farthest() const;
};

/// How much the distance of two pieces may shrink during the step: seen from a, which turns with it, or each on its
/// own; the first is small for neighbours in a wisp that swings. To first order in the spins. [m]
double closing(const Travel& a, const Travel& b);

/// Begin, middle and end of a piece and what they travel (3 each) [m].
struct ThreePoints {
  Vector3 begin, middle, end;
};

/// The rigid motion of a piece whose three points travel so, the rest of their travel in `reach`, to which `least`
/// adds. `sagitta`: the piece is within this of the lines between the points. [m]
Travel rigid_travel(const ThreePoints& at, const ThreePoints& travel, double sagitta, double least);

/// A smooth piece of tube: part of a fibre's element, or a tube of an obstacle.
struct Piece {
  geometry::PreparedCurve curve = geometry::SegmentEvaluator({Vector3::Zero(), Vector3::Zero()});  ///< in the world
  geometry::Interval interval;  ///< the part of the curve that this piece covers, in its parameter
  double radius = 0.0;          ///< of the tube; > 0 [m]
  double curvature = 0.0;       ///< bound on |r''| over the piece [1/m]
  Travel travel;
  geometry::MaterialSpan span;  ///< of the whole curve and its material
  double material_begin = 0.0;  ///< arc length of the body's material at parameter 0 of the curve, as made [m]
  double curve_begin = 0.0;     ///< arc length along the body there, as it is [m]
  double loop = 0.0;            ///< length of the closed loop that all pieces of the body make; 0: they make none [m]
  BodyId id{BodyKind::fibre, 0};
  int body = 0;          ///< number of that body in the geometry, in the order of identities
  int element = 0;       ///< of the fibre, or tube of the obstacle
  bool first = true;     ///< starts at the body's beginning
  bool last = true;      ///< ends at the body's end
  int embedded_in = -1;  ///< the body that this piece of a fibre is set into and does not touch; -1: none
  int stations = 0;      ///< of the whole element; 0: it has none
  bool stations_at_nodes =
      false;  ///< they begin at the element's first point; else they are the middles of equal parts
};

/// Stations are points of a fibre's material, evenly spaced along each element, and its two ends. Where two bodies lie
/// along each other their contacts are there; docs/theory/holding.md. Calls visit(s) with the parameters of those of
/// one piece, in order. The last point of an element is the first of the next.
template <typename Visit>
void for_each_station(const Piece& piece, const Visit& visit) {
  if (piece.stations == 0) return;
  const double length = geometry::domain(piece.curve).end;
  const double first = piece.stations_at_nodes ? 0.0 : 0.5;
  if (piece.first && first > 0.0) visit(0.0);
  for (int k = 0; k < piece.stations; ++k) {
    const double s = length * (k + first) / piece.stations;
    if (s >= piece.interval.begin && s < piece.interval.end) visit(s);
  }
  if (piece.last) visit(length);
}
/// Whether the material at `u` of the element is a station. [m]
bool is_station(const Piece& piece, double u);
/// How far apart stations are. [m]
double station_spacing(const Piece& piece);

/// Solid half-space on the side away from the unit normal.
struct HalfSpace {
  Vector3 point;   ///< (3) [m]
  Vector3 normal;  ///< unit (3) [-]
  BodyId id;
  int body = 0;  ///< its number
};

/// A surface of triangles where its obstacle stands. A closed one is solid, an open one has two sides.
struct Mesh {
  std::shared_ptr<const geometry::TriangleMesh> surface;  ///< in axes of its own
  Pose pose;                                              ///< from there to the world
  double thickness = 0.0;                                 ///< added on every side; >= 0 [m]
  Pose next;                                              ///< where the pose will be after the step
  double reach = 0.0;  ///< how far a vertex may go beyond that during the step; >= 0 [m]
  BodyId id;
  int body = 0;  ///< its number

  std::array<Vector3, 3> corners(int face) const;  ///< in the world
};

/// What can touch, at one instant. Pieces of one body stand together, in order along the body, fibres first, then free
/// obstacles, then prescribed ones.
struct Geometry {
  std::vector<Piece> pieces;
  std::vector<HalfSpace> planes;
  std::vector<int> body_begin;  ///< (bodies + 1) first piece of each body; a plane's body has none
  Travel common;                ///< what all travel together (`drift`, `spin`): not in the pieces' own travel
  std::vector<Mesh> meshes = {};
};

/// Half-spaces and meshes are surfaces: where a piece is wanted, -1 - k stands for surface k, planes first.
inline bool is_plane(const Geometry& scene, int b) { return b < 0 && -1 - b < static_cast<int>(scene.planes.size()); }
inline bool is_mesh(const Geometry& scene, int b) { return b < 0 && !is_plane(scene, b); }
inline const Mesh& mesh_at(const Geometry& scene, int b) {
  return scene.meshes[static_cast<std::size_t>(-1 - b) - scene.planes.size()];
}
/// The body of a piece or surface, and its number.
BodyId id_at(const Geometry& scene, int b);
int body_at(const Geometry& scene, int b);
/// The surface that a body is, as -1 - k; 0: it is none.
int surface_of(const Geometry& scene, int body);
/// How far the skin of what is at b stands from the points that distances are measured to: the radius of a piece, the
/// thickness of a mesh. [m]
double skin_at(const Geometry& scene, int b);

/// Arc length of a body's material, as made, at parameter `s` of one of its pieces. It names the same point in every
/// shape. [m]
inline double material_at(const Piece& piece, double s) { return piece.material_begin + piece.span.in_material(s); }
/// Arc length along the body as it is. Distances along a body are differences of these, the other way round a loop if
/// that is shorter. [m]
inline double arc_length_at(const Piece& piece, double s) { return piece.curve_begin + s; }

/// A piece and the parameter on its curve.
struct OnPiece {
  int piece = 0;
  double s = 0.0;  ///< [m]
};

/// Where the material at `u` of a body's element is: on the piece that covers it (the nearest one if none does).
OnPiece piece_at(const Geometry& scene, int body, int element, double u);

/// Takes the rigid motion that fits the fibres' travel best off that of all pieces, one for each, and returns it: where
/// all move together, nobody comes near.
Travel take_off_common(const std::vector<Piece>& pieces, std::vector<Travel>& travels);
/// The same of the pieces' own travel; it becomes Geometry::common.
void take_off_common_travel(Geometry& scene);

/// How far a piece may go towards a plane during the step. [m]
double travel_to_plane(const Geometry& scene, const Piece& piece, const HalfSpace& plane);

/// How much nearer a piece and a mesh may come during the step, seen from the mesh. [m]
double closing(const Geometry& scene, const Piece& piece, const Mesh& mesh);

/// How near two pieces must be to meet during the step: distance of their centrelines. [m]
inline double meeting_distance(const Piece& a, const Piece& b) {
  return a.radius + b.radius + closing(a.travel, b.travel);
}

/// Pieces that an element of curvature |r''| = `curvature` is cut into, each at most 0.45 turns so that two of them can
/// touch.
int pieces_per_element(double curvature, double length);

/// Arc length up to which a tube of radius `radius` and curvature at most `curvature` cannot touch itself, `margin`
/// apart included: the chord of an arc of length d <= 2 pi/k is at least (2/k) sin(k d/2) (Schur's comparison theorem).
/// Infinite when straight.
double self_contact_free_length(double curvature, double radius, double margin);

}  // namespace tresse::contact
