#include <tresse/bodies/capsule.hpp>

#include <numbers>

namespace tresse::bodies {
namespace {

/// Of the cylinder between the two half balls, and of these together.
double barrel_volume(const Capsule& c) { return std::numbers::pi * c.radius * c.radius * (c.to - c.from).norm(); }
double caps_volume(const Capsule& c) { return 4.0 / 3.0 * std::numbers::pi * c.radius * c.radius * c.radius; }

}  // namespace

double Capsule::volume() const { return barrel_volume(*this) + caps_volume(*this); }

Solid Capsule::solid(double mass) const {
  const double length = (to - from).norm();
  const double r2 = radius * radius;
  const double barrel = mass * (barrel_volume(*this) / (barrel_volume(*this) + caps_volume(*this)));
  const double caps = mass - barrel;
  Solid out;
  out.mass = mass;
  out.centre = 0.5 * (from + to);
  if (length > 0.0) out.axis = (to - from) / length;
  out.axial_inertia = 0.5 * barrel * r2 + 0.4 * caps * r2;
  // A half ball's centre of mass is 3/8 of the radius beyond its flat side.
  out.transverse_inertia = barrel * (length * length / 12.0 + 0.25 * r2) +
                           caps * (0.4 * r2 + 0.25 * length * length + 0.375 * length * radius);
  return out;
}

}  // namespace tresse::bodies
