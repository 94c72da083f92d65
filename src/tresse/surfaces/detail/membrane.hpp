#pragma once

#include <array>

#include <Eigen/Core>

#include <tresse/base/types.hpp>

namespace tresse::surfaces::detail {

/// A triangle at rest, in the axes (warp, weft) of its plane.
struct RestTriangle {
  double area = 0.0;                   ///< > 0 [m^2]
  Eigen::Matrix<double, 2, 3> slopes;  ///< of the three shape functions, a column a corner [1/m]
};

/// Of corners at rest and a direction in their plane.
RestTriangle rest_triangle(const std::array<Vector3, 3>& x, const Vector3& warp);

/// The strain of Green of a triangle of uniform strain, (E_11, E_22, 2 E_12), and what it hangs on.
struct TriangleStrain {
  Vector3 strain;                    ///< (3) [-]
  Eigen::Matrix<double, 3, 2> edge;  ///< columns: dx along the warp and the weft
};
TriangleStrain strain_of(const RestTriangle& rest, const std::array<Vector3, 3>& x);
/// d strain / d x_k for each corner. (3, 3)
std::array<Matrix3, 3> strain_slopes(const RestTriangle& rest, const TriangleStrain& at);

/// N_i^T S N_j of the stress (S_11, S_22, S_12): what moving corners along with each other adds to the stiffness.
Matrix3 geometric_stiffness(const RestTriangle& rest, const Vector3& stress);
/// The stress without its compressive part: the nearest one without an eigenvalue below 0.
Vector3 tensile(const Vector3& stress);

}  // namespace tresse::surfaces::detail
