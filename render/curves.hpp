#pragma once

#include <array>
#include <vector>

#include "render/sampling.hpp"
#include "render/scene.hpp"

namespace tresse::render {

using Vertex = Eigen::Vector4f;  ///< (x, y, z, radius)

/// How thick fibres are drawn. Lengths in metres; a radius per metre grows with the distance to the viewer.
struct Thickness {
  double factor = 1.0;            ///< on every radius
  Vector3 viewer = {0, 0, 0};     ///< [m]
  double radius_per_metre = 0.0;  ///< least radius of a fibre [-]
  double drawn_per_metre = 0.0;   ///< a thinner fibre is drawn with this radius, and covers a part of it only [-]
};

/// Round fibres as cubic Bezier arcs, one per interval between points, in the coordinates of World.
struct CurveArrays {
  std::vector<Vertex> vertices;                ///< four control points an arc, radii as drawn
  std::vector<unsigned> first;                 ///< of each arc's four control points
  std::vector<int> owner;                      ///< fibre of each arc
  std::vector<std::array<float, 2>> covering;  ///< radius that covers, at the two ends of each arc
  bool thin = false;                           ///< some arc covers only a part of what is drawn

  void append(const Fibre& fibre, int index, const Vector3& origin, const Thickness& thickness);

  Vec3 tangent(unsigned arc, float u) const;
  float radius(unsigned arc, float u) const;    ///< as drawn
  float coverage(unsigned arc, float u) const;  ///< width that covers over the one that is drawn; in (0, 1]
};

}  // namespace tresse::render
