#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>

/// How the sections of a rod are turned about a given centreline: properties 4.1 and 4.2 of @cite bertails2018hdr.
/// Equations: docs/theory/inverse.md.
namespace tresse::inverse {

/// A centreline by an adapted frame along it, whose first axis is the tangent: R' = R [curvature]x.
struct ReferenceFrame {
  double length = 0.0;                         ///< > 0 [m]
  std::function<Vector3(double)> curvature{};  ///< at arc length s: (twist, k1, k2) [1/m]
};

/// What a rod along that centreline is made of, in its own axes.
struct FramedRod {
  std::function<Vector3(double)> natural{};  ///< natural curvatures at arc length s: (twist, k1, k2) [1/m]
  Vector3 stiffness = Vector3::Zero();       ///< (G J, E I1, E I2), > 0 [N m^2]
  double root_angle = 0.0;                   ///< of the clamped root's frame, from the reference frame [rad]
};

struct FramingOptions {
  int elements = 64;         ///< of the angle, 2 to 1000
  double tolerance = 1e-12;  ///< on Framing::residual, > 0
  int max_iterations = 100;  ///< of Newton from a start; >= 1
};

/// Angles from the reference frame to the rod's at which the axial moment balances.
struct Framing {
  VectorX angle;  ///< (elements + 1) at equal arc lengths, linear in between [rad]
  Status status = Status::max_iterations;
  double residual = 0.0;  ///< largest entry of the energy's gradient, over the largest moment [-]
  double energy = 0.0;    ///< 1/2 int (k - natural)^T K3 (k - natural) ds [J]
  /// Least eigenvalue of the energy's second variation in the measure of int G J (angle')^2: above 0 at a minimum. [-]
  double second_variation = 0.0;
};

/// Property 4.1: the stationary points of the elastic energy over the angle, its value at the root given and its end
/// free. Linear finite elements, and damped Newton from starts that turn by up to a whole turn either way; several
/// solutions are possible, and those that are found come by energy. Second order in the number of elements. Throws
/// InvalidInput for lengths, stiffnesses or options out of range.
std::vector<Framing> framings(const ReferenceFrame& curve, const FramedRod& rod, const FramingOptions& options);

/// A place of a framed centreline.
struct FramedPlace {
  double s = 0.0;     ///< arc length, ascending [m]
  Vector3 position;   ///< (3) [m]
  Matrix3 frame;      ///< (3, 3) columns n0 (tangent), n1, n2
  Vector3 curvature;  ///< (twist, k1, k2) [1/m]
};

/// Property 4.2: the natural curvatures, (places) [1/m], with which a rod in any frame is at rest under a uniform load
/// per length (3) [N/m], from the root to a free tip:
///   k_nat = k - K3^-1 R^T M,   M(s) = int_s^L (r(s') - r(s)) x load ds'.
/// They solve the differential equation (4.22). The integral is of fourth order in the distance of the places. Unless
/// both bending stiffnesses are equal, the natural shape depends on the frame. Throws InvalidInput for fewer than two
/// places, arc lengths that do not ascend, and a stiffness that is not positive.
std::vector<Vector3> natural_curvatures(std::span<const FramedPlace> places, const Vector3& stiffness,
                                        const Vector3& load);

}  // namespace tresse::inverse
