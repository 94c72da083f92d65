#pragma once

#include <utility>
#include <vector>

#include <tresse/contact/detail/candidate.hpp>

/// Faces, edges and corners of a mesh, and the contacts there.
namespace tresse::contact::detail {

/// A side of a face.
struct FaceSide {
  int face = 0;
  int side = 1;  ///< 1 or -1
};

/// A contact at parameter s of a piece, over a face at the foot of that point.
Candidate face_candidate(const CandidatePair& pair, const Piece& a, const Mesh& mesh, const FaceSide& on, double s);

/// A place on an edge, or at a corner.
struct Feature {
  int edge = -1;
  Vector3 from, to;        ///< the edge, in the world; the same at a corner (3) [m]
  Vector3 point;           ///< (3) [m]
  std::vector<int> faces;  ///< that meet there
  bool rim = false;        ///< of a sheet
  bool several = false;    ///< sheets meet there, or the faces do not agree which side is which
};

std::pair<Vector3, Vector3> edge_ends(const Mesh& mesh, int edge);
/// Whether an edge can be nearest to anything outside: not where the surface is flat or, if it has an inside, concave.
bool stands_out(const Mesh& mesh, int edge, double flat);
/// At a share of an edge's length: an end is a corner.
Feature feature_of(const Mesh& mesh, int edge, double share);
/// Where a foot that is on a side or corner of a face is.
Feature feature_under(const Mesh& mesh, int face, const geometry::TrianglePoint& foot);

/// A contact at parameter s of a piece, nearest to a feature. `side`: of an open mesh that it was on; 0: the one it is.
Candidate feature_candidate(const CandidatePair& pair, const Piece& a, const Mesh& mesh, const Feature& feature,
                            double s, int side);

/// The nearest point to x of the faces around `start`: those that are reached over edges that are no grooves and turn
/// at most 60 degrees away from it, and one more over an edge or corner that is nearest. So the two sides of a groove
/// stay apart, and what went through a thin plate does not come out on its other side.
std::pair<int, geometry::TrianglePoint> nearest_around(const Mesh& mesh, int start, const Vector3& x);

}  // namespace tresse::contact::detail
