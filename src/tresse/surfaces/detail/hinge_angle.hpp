#pragma once

#include <array>

#include <Eigen/Core>

#include <tresse/base/types.hpp>

namespace tresse::surfaces::detail {

/// Vertices of two triangles that share the edge from x_0 to x_1: (x_0, x_1, x_2) and (x_1, x_0, x_3). (4)(3) [m]
using HingePoints = std::array<Vector3, 4>;
using HingeVector = Eigen::Matrix<double, 12, 1>;
using HingeMatrix = Eigen::Matrix<double, 12, 12>;

/// The angle from the first triangle's normal to the second's, about the edge: 0 where they are in a plane, negative
/// where the sheet is bent up towards its normals. In (-pi, pi]. [rad]
double hinge_angle(const HingePoints& x);
/// Its first derivatives. [rad/m]
HingeVector hinge_slope(const HingePoints& x);
/// Its second derivatives. [rad/m^2]
HingeMatrix hinge_curvature(const HingePoints& x);

/// A hinge that is laid flat, and bent to cylinders of the curvature 1.
struct BentHinge {
  double weight;       ///< l^2 / (A_1 + A_2) [-]
  double mean_square;  ///< of its angle, over all directions of the cylinder [rad^2 m^2]
  double area;         ///< a third of its triangles' [m^2]
};
BentHinge bent_hinge(const HingePoints& x);

}  // namespace tresse::surfaces::detail
