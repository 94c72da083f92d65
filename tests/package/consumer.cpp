// Uses a function of several levels of the library through the installed package and prints what it found.

#include <iostream>

#include "every_header.hpp"

int main() {
  using tresse::Vector3;
  const tresse::geometry::Curve low = tresse::geometry::LineSegment{Vector3(-1, 0, 0), Vector3(1, 0, 0)};
  const tresse::geometry::Curve high = tresse::geometry::LineSegment{Vector3(0, -1, 0.25), Vector3(0, 1, 0.25)};
  const tresse::geometry::ClosestPoints found =
      tresse::geometry::closest_points(low, tresse::geometry::domain(low), high, tresse::geometry::domain(high));
  const std::unique_ptr<tresse::rods::Rod> rod = tresse::rods::make_super_helix(
      {{.length = 0.1, .section = tresse::rods::CrossSection::circle(4e-5)}},
      {.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.3}, tresse::rods::RootCondition::clamped);
  std::cout << "distance " << found.distance << " m, dof " << rod->dof() << '\n';
  const bool as_expected = std::abs(found.distance - 0.25) < 1e-12 && found.certified && rod->dof() == 3;
  return as_expected ? 0 : 1;
}
