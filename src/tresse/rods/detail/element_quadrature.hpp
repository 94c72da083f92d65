#pragma once

#include <vector>

#include <tresse/rods/detail/helix_element.hpp>

/// Integrals over one element of constant curvature, in the frame of its start, per unit of line density.
/// Gauss-Legendre with as many points as its turn asks for, four points at once.
namespace tresse::rods::detail {

using Lanes = Eigen::Array<double, 4, 1>;

/// Four quadrature points.
struct GaussBatch {
  Lanes weight;            ///< sums to the element's length [m]
  Lanes s;                 ///< [m]
  std::array<Lanes, 8> c;  ///< Stumpff functions
  HelixPoint<Lanes> point;
};

/// Moments of an element; [p]x P has columns p x P_k.
struct ElementMoments {
  double length;      ///< int 1
  Vector3 p;          ///< int p
  Matrix3 p_p;        ///< int p p^T
  Matrix3 P;          ///< int P
  Matrix3 p_cross_P;  ///< int [p]x P
  Matrix3 P_P;        ///< int P^T P
};

/// Motion of an element as seen from the frame of its start, whose axes carry every vector.
struct ElementMotion {
  Vector3 linear = Vector3::Zero();   ///< velocity of its first point, or, in a force, acceleration
  Vector3 angular = Vector3::Zero();  ///< angular velocity of its first frame
  Vector3 curvature_rate = Vector3::Zero();
};

/// Line force f(s) = constant + linear p + rate P dw - density p'' , where p'' = d^T (d2p/dw2) d, and what it does.
struct ElementForce {
  Vector3 resultant;    ///< int f
  Vector3 torque;       ///< int p x f
  Vector3 generalised;  ///< int P^T f
};

/// Kinetic quantities of the velocity V + angular x p + P rate.
struct ElementMomentum {
  Vector3 linear;   ///< int v
  Vector3 angular;  ///< int p x v
  double square;    ///< int |v|^2
};

/// Replaces `batches` by the quadrature of an element. Error below 1e-13 of each integral's scale; a turn over 1e4 rad
/// is sampled as if it were 1e4.
void sample_element(double length, const Vector3& w, std::vector<GaussBatch>& batches);

ElementMoments integrate_moments(const std::vector<GaussBatch>& batches);

ElementForce integrate_force(const std::vector<GaussBatch>& batches, const Vector3& w, const Vector3& rate,
                             const Vector3& constant, const Matrix3& position_factor, const Matrix3& rate_factor,
                             double density);

ElementMomentum integrate_momentum(const std::vector<GaussBatch>& batches, const ElementMotion& motion);

}  // namespace tresse::rods::detail
