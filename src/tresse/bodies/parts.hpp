#pragma once

#include <memory>
#include <vector>

#include <tresse/bodies/surface.hpp>
#include <tresse/geometry/curves.hpp>

/// What rigid bodies are made of, whatever their kind: what touches, and what is drawn of it.
namespace tresse::bodies {

/// Points within `radius` of an axis, a curve of unit speed. Contact is found on the curve itself.
struct Tube {
  geometry::Curve axis = geometry::LineSegment{};  ///< one of no length makes a ball
  double radius = 0.0;                             ///< > 0 [m]
};

/// Solid half-space on the side away from the unit normal.
struct HalfSpace {
  Vector3 point;   ///< (3) [m]
  Vector3 normal;  ///< unit (3) [-]
};

/// A surface that fibres do not pass. A closed one is solid, an open one has two sides.
struct Shell {
  std::shared_ptr<const Surface> surface;
  double thickness = 0.0;  ///< added on every side; >= 0 [m]
};

struct Parts {
  std::vector<Tube> tubes = {};
  bool loop = false;  ///< each tube goes on where the one before it ends, and the first where the last ends
  std::vector<HalfSpace> planes = {};
  std::vector<Shell> shells = {};
};

/// A straight piece with rounded ends, as files and pictures have tubes.
struct Bar {
  Vector3 from;         ///< (3) [m]
  Vector3 to;           ///< (3) [m]
  double radius = 0.0;  ///< > 0 [m]
};

/// A straight tube as it is; a bent one in bars that leave its axis by less than a thousandth of its radius of
/// curvature.
std::vector<Bar> bars(const Tube& tube);

/// From a point to the skin, a surface as it begins; negative inside. [m]
double signed_distance(const Parts& parts, const Vector3& point);

}  // namespace tresse::bodies
