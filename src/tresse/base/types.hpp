#pragma once

#include <Eigen/Core>

namespace tresse {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;
using VectorX = Eigen::VectorXd;
using MatrixX = Eigen::MatrixXd;
using Matrix3X = Eigen::Matrix<double, 3, Eigen::Dynamic>;
using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;

/// Position and orientation of a rigid frame in the world.
struct Pose {
  Vector3 position = Vector3::Zero();   ///< (3)    [m]
  Matrix3 frame = Matrix3::Identity();  ///< (3, 3) columns are the axes, orthonormal [-]
};

/// Velocity of a rigid frame: v(x) = linear + angular x (x - origin of the frame), world axes.
struct Twist {
  Vector3 linear = Vector3::Zero();   ///< (3) velocity of the frame's origin [m/s]
  Vector3 angular = Vector3::Zero();  ///< (3) [rad/s]
};

}  // namespace tresse
