#pragma once

#include <array>

#include <tresse/base/types.hpp>

namespace tresse::rods {

/// Linear elastic, homogeneous, isotropic material with Kelvin-Voigt damping.
struct Material {
  double density = 0.0;        ///< > 0 [kg/m^3]
  double young_modulus = 0.0;  ///< > 0 [Pa]
  double poisson_ratio = 0.0;  ///< in (-1, 0.5]
  double damping_time = 0.0;   ///< eta in D = eta K; >= 0 [s]
  /// Whether sections have inertia against turning. False is the limit in which the papers take their rods
  /// (bertails2018hdr sec. 2.2): what twists straight stretches moves no mass and relaxes within one step. Models in
  /// curvature coordinates only.
  bool rotary_inertia = true;
};

/// Full ellipse; a circle when the half-axes are equal. `half_axis_1` lies along n1, `half_axis_2` along n2.
struct CrossSection {
  double half_axis_1 = 0.0;  ///< > 0 [m]
  double half_axis_2 = 0.0;  ///< > 0 [m]

  static CrossSection circle(double radius) { return {radius, radius}; }
};

double area(const CrossSection& section);  ///< [m^2]
/// Mean squares of the distance from the centreline along n1 and along n2, (2) [m^2]: times density and area these are
/// the section's moments of inertia per length, about n2 and about n1; their sum is that about the tangent.
std::array<double, 2> mean_squares(const CrossSection& section);
/// diag(G J, E I1, E I2): twist, bending about n1, bending about n2. [N m^2]
Vector3 bending_stiffness(const CrossSection& section, const Material& material);

}  // namespace tresse::rods
