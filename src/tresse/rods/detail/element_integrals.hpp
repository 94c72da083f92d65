#pragma once

#include <Eigen/Geometry>

#include <tresse/base/types.hpp>

/// What a chain asks of an element with Width curvature coordinates c, in the frame of the element's start: p(s) its
/// centreline, P(s) = dp/dc. Integrals are over the element and per unit of line density.
namespace tresse::rods::detail {

template <int Width>
using Coordinates = Eigen::Matrix<double, Width, 1>;
template <int Width>
using Gradient = Eigen::Matrix<double, 3, Width>;
template <int Width>
using Square = Eigen::Matrix<double, Width, Width>;

/// A point of an element.
template <int Width>
struct ElementPoint {
  Vector3 position;         ///< p (3) [m]
  Matrix3 frame;            ///< R (3, 3)
  Gradient<Width> linear;   ///< P = dp/dc
  Gradient<Width> angular;  ///< dtheta/dc
};

/// Moments of an element; [p]x P has columns p x P_k.
template <int Width>
struct ElementMoments {
  double length;              ///< int 1
  Vector3 p;                  ///< int p
  Matrix3 p_p;                ///< int p p^T
  Gradient<Width> P;          ///< int P
  Gradient<Width> p_cross_P;  ///< int [p]x P
  Square<Width> P_P;          ///< int P^T P
};

/// int p and int P, the only moments that gravity needs.
template <int Width>
struct FirstMoments {
  Vector3 p;
  Gradient<Width> P;
};

/// Line force constant + position p + rate P c' - density p'', where p'' = c'^T (d2p/dc2) c', with c' the rates that
/// the element was sampled with.
struct LineForce {
  Vector3 constant;
  Matrix3 position;
  Matrix3 rate;
  double density;
};

/// What a line force does.
template <int Width>
struct ElementForce {
  Vector3 resultant;               ///< int f
  Vector3 torque;                  ///< int p x f
  Coordinates<Width> generalised;  ///< int P^T f
};

/// Kinetic quantities of the velocity linear + angular x p + P c'.
struct ElementMomentum {
  Vector3 linear;   ///< int v
  Vector3 angular;  ///< int p x v
  double square;    ///< int |v|^2
};

/// How the end of an element accelerates at constant rates and a still start.
struct EndBias {
  Vector3 linear;   ///< c'^T (d2p/dc2) c'
  Vector3 angular;  ///< d/dt (dtheta/dc) c'
};

/// What pulls at an element: `pull` is the gravity on it and on what lies rigidly beyond.
struct ElementPull {
  Vector3 pull;           ///< acceleration of gravity
  double density;         ///< of the element [kg/m]
  double beyond_mass;     ///< [kg]
  Vector3 beyond_moment;  ///< int rho S (r - end) beyond, in the frame of the element's end [kg m]
};

}  // namespace tresse::rods::detail
