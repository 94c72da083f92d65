#pragma once

#include <vector>

#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods {

/// One element of a super space clothoid: its section is constant, its curvature affine between its two nodes.
struct SuperClothoidElement {
  double length = 0.0;   ///< > 0 [m]
  CrossSection section;  ///< half-axes > 0
};

/// Kirchhoff rod with continuous, piecewise affine curvature. @cite casati2013; bertails2018hdr sec. 2.3.2
/// `rest_curvature`: (twist, k1, k2) at the N + 1 nodes [1/m]. Every term is summed and integrated to rounding; see
/// docs/theory/rod_models.md for the equations.
std::unique_ptr<Rod> make_super_clothoid(const std::vector<SuperClothoidElement>& elements,
                                         const std::vector<Vector3>& rest_curvature, const Material& material,
                                         RootCondition root_condition);

}  // namespace tresse::rods
