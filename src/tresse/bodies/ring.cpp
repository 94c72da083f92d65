#include <tresse/bodies/ring.hpp>

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <Eigen/Geometry>

namespace tresse::bodies {

void Ring::check(const Complain& complain) const {
  if (!(tube_radius < radius))
    complain("tube_radius",
             fmt::format("is {} m; expected less than the radius of the circle, {} m", tube_radius, radius));
}

Parts Ring::parts() const {
  constexpr int arcs = 3;  // opposite points of a ring are on two of them
  constexpr double turn = 2.0 * std::numbers::pi / arcs;
  const Vector3 across = axis.unitOrthogonal();
  const Vector3 up = axis.cross(across);
  Parts out{.loop = true};
  for (int i = 0; i < arcs; ++i) {
    const Vector3 outwards = std::cos(turn * i) * across + std::sin(turn * i) * up;
    geometry::HelixArc arc;
    arc.position = center + radius * outwards;
    arc.frame << axis.cross(outwards), -outwards, axis;
    arc.curvature = {0.0, 0.0, 1.0 / radius};
    arc.length = turn * radius;
    out.tubes.push_back({arc, tube_radius});
  }
  return out;
}

double Ring::volume() const { return 2.0 * std::numbers::pi * std::numbers::pi * radius * tube_radius * tube_radius; }

Solid Ring::solid(double mass) const {
  const double circle = radius * radius;
  const double tube = tube_radius * tube_radius;
  return {mass, center, axis, mass * (circle + 0.75 * tube), mass * (0.5 * circle + 0.625 * tube)};
}

}  // namespace tresse::bodies
