#pragma once

#include <vector>

#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods {

/// One element of a super-helix: constant curvature along its length.
struct SuperHelixElement {
  double length = 0.0;                       ///< > 0 [m]
  CrossSection section;                      ///< half-axes > 0
  Vector3 rest_curvature = Vector3::Zero();  ///< (twist, k1, k2) [1/m]
};

/// Kirchhoff rod with piecewise constant curvature. @cite bertails2018hdr sec. 2.3.1; bertails2006
/// Every term is closed form in the element and exact to rounding; see docs/theory/rods.md for the equations.
std::unique_ptr<Rod> make_super_helix(const std::vector<SuperHelixElement>& elements, const Material& material,
                                      RootCondition root_condition);

}  // namespace tresse::rods
