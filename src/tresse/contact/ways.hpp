#pragma once

#include <vector>

#include <tresse/contact/pieces.hpp>

/// How the pieces of one configuration came there from another, each point straight and evenly. See
/// docs/theory/passing.md.
namespace tresse::contact {

/// A piece of the second configuration, and where it was in the first: elements may be cut into other pieces there, and
/// may have another length.
struct WayPiece {
  const geometry::PreparedCurve* before = nullptr;  ///< the whole element
  const geometry::PreparedCurve* now = nullptr;
  geometry::Interval interval;  ///< of the parameter now
  double stretch = 1.0;         ///< from the parameter now to that before
  double bend = 0.0;            ///< >= |r''| all the way, by the parameter now [1/m]

  Vector3 begin(double s) const { return geometry::position(*before, stretch * s); }
  Vector3 end(double s) const { return geometry::position(*now, s); }
  geometry::Interval interval_before() const { return {stretch * interval.begin, stretch * interval.end}; }
};

/// The ways of all pieces of the second configuration, in their order; none where the two are not of the same bodies.
/// Both configurations must outlive it.
struct Ways {
  std::vector<WayPiece> pieces;
  std::vector<Travel> forth, back;  ///< from the shapes at the begin, and back from those at the end; all proved
  /// How far beyond Piece::travel the way of a piece may lie, but for a rigid motion of all: looking back, it is the
  /// same share of that travel the other way. What is far beyond it is in `astray` instead, and 0 here. [m]
  std::vector<double> beyond;
  std::vector<int> astray;  ///< pieces, in rising order
};

Ways ways_between(const Geometry& begin, const Geometry& end);

}  // namespace tresse::contact
