#pragma once

#include <tresse/base/types.hpp>

namespace tresse::rods::detail {

using Vector8 = Eigen::Matrix<double, 8, 1>;
using Matrix8 = Eigen::Matrix<double, 8, 8>;

/// One edge as a bending node sees it; material directors along the axes 1 and 2 of the section.
struct EdgeFrame {
  Vector3 tangent = Vector3::UnitX();     ///< (3) unit
  Vector3 director_1 = Vector3::UnitY();  ///< (3) unit, n1
  Vector3 director_2 = Vector3::UnitZ();  ///< (3) unit, n2
  double length = 1.0;                    ///< present one [m]
};

/// The two edges e, f at a node and their strains, integrated over the node's part of the rod [rad]:
///   bend c_k = kb . (n_k^e + n_k^f) / 2, kb = 2 t^e x t^f / (1 + t^e . t^f), |kb| = 2 tan(angle / 2),
///   twist = theta^f - theta^e + the twist of the reference frames.
/// Derivatives are over (e, theta^e, f, theta^f), 8, with frames that an edge's motion carries along without spin.
/// @cite bergou2010
struct BendStencil {
  EdgeFrame e, f;
  Vector3 binormal;  ///< kb (3)
  Vector3 tilted;    ///< (t^e + t^f) / (1 + t^e . t^f) (3)
  double chi = 2.0;  ///< 1 + t^e . t^f
  Vector3 strain;    ///< (twist, c1, c2) [rad]
  Eigen::Matrix<double, 3, 8> gradient;
};

BendStencil make_bend_stencil(const EdgeFrame& e, const EdgeFrame& f, double twist);

/// sum_k weight_k d2 strain_k: exact second derivatives along straight motions from here, (8, 8), symmetric.
Matrix8 weighted_hessian(const BendStencil& stencil, const Vector3& weight);

}  // namespace tresse::rods::detail
