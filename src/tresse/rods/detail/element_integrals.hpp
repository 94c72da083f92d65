#pragma once

#include <array>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/triple.hpp>
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

/// How the material of an element lies about its centreline, times the length that it stands for: int y^2 along n1 and
/// int z^2 along n2 over the section's area. Lumped at the element's start, or spread over the element. [m^3]
struct ElementDiscs {
  std::array<double, 2> start;
  std::array<double, 2> spread;
};

/// Moments of inertia over the line density about n0, n1 and n2, from int y^2 and int z^2 [m^3].
inline Vector3 about_axes(const std::array<double, 2>& of_section) {
  return {of_section[0] + of_section[1], of_section[1], of_section[0]};
}

/// The rotary inertia of a stretch of an element, lumped at one of its sections.
template <int Width>
struct SectionDisc {
  Matrix3 frame;            ///< R
  Gradient<Width> turning;  ///< R^T dtheta/dc: in the section's own axes
  Vector3 inertia;          ///< about_axes()
};

/// Moments of an element, over all of its material; [p]x P has columns p x P_k.
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
/// the element was sampled with; and what the sections' rotary inertia asks for.
template <typename Scalar>
struct LineForce {
  Triple<Scalar> constant;
  Columns<Scalar> position;
  Columns<Scalar> rate;
  Scalar density;
  Triple<Scalar> spin;       ///< angular velocity of the element's start
  Triple<Scalar> spin_rate;  ///< its angular acceleration where no unknown accelerates
  Triple<Scalar> air;        ///< prescribed angular velocity, times the drag coefficient
};

/// One value at each of the Gauss points of a part of an element.
constexpr int point_lanes = 8;
using NodeLanes = Eigen::Array<double, point_lanes, 1>;

template <typename Lanes>
Triple<Lanes> zero_lanes() {
  return {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
}
template <typename Lanes>
Vector3 sum(const Triple<Lanes>& v) {
  return {v[0].sum(), v[1].sum(), v[2].sum()};
}
/// P d, with P[row][column] of several points.
template <typename Lanes, std::size_t Width>
Triple<Lanes> gradient_times(const std::array<std::array<Lanes, Width>, 3>& P,
                             const Coordinates<static_cast<int>(Width)>& d) {
  const auto row = [&]<std::size_t... k>(const std::array<Lanes, Width>& of, std::index_sequence<k...>)->Lanes {
    return (... + (of[k] * d[static_cast<int>(k)]));
  };
  constexpr auto all = std::make_index_sequence<Width>();
  return {row(P[0], all), row(P[1], all), row(P[2], all)};
}

/// The Gauss points of a part of an element.
template <int Width>
struct PointBatch {
  NodeLanes weight;                               ///< those of all parts sum to the element's length [m]
  Triple<NodeLanes> p;                            ///< [m]
  std::array<std::array<NodeLanes, Width>, 3> P;  ///< [row][column] [m^2]
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

/// Of an element with these moments and rates whose start moves with the velocity `linear` and turns with `spin`: the
/// velocity is linear in what the moments are integrals of, and so is what it is multiplied with.
template <int Width>
ElementMomentum momentum_of(const ElementMoments<Width>& m, const Coordinates<Width>& rate, const Vector3& linear,
                            const Vector3& spin) {
  ElementMomentum out;
  out.linear = m.length * linear + spin.cross(m.p) + m.P * rate;
  out.angular = m.p.cross(linear) + (m.p_p.trace() * spin - m.p_p * spin) + m.p_cross_P * rate;
  const Coordinates<Width> generalised = m.P.transpose() * linear + m.p_cross_P.transpose() * spin + m.P_P * rate;
  out.square = linear.dot(out.linear) + spin.dot(out.angular) + rate.dot(generalised);
  return out;
}

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
