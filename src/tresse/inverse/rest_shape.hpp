#pragma once

#include <memory>
#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::inverse {

/// A force and a moment at a point of a rod's axis that do not change with its shape: what a hold, a contact or a
/// branch exerts on it.
struct PointLoad {
  int piece = 0;
  double u = 0.0;                    ///< local arc length of the material, 0 to the length of the piece [m]
  Vector3 force = Vector3::Zero();   ///< (3) [N]
  Vector3 moment = Vector3::Zero();  ///< (3) about the point; zero for models that do not twist [N m]
};

/// What acts on a rod at rest.
struct Loads {
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  std::vector<PointLoad> points{};
};

/// The force on the unknowns of a rod where it is, (dof): -G and what the points add. Throws InvalidInput for a point
/// that is not on the rod, numbers that are not finite, and a moment on a model that does not twist.
VectorX generalised_load(const rods::Rod& rod, const Loads& loads);

/// The natural curvatures with which a rod that does not stretch is at rest where it is, (k) [1/m]:
///   q_nat = q + K^-1 G.
/// @cite bertails2018hdr eq. (4.3); docs/theory/inverse.md. Linear in the number of elements, for any section. A free
/// root must be in balance by itself. Throws InvalidInput where it is not, for a model that stretches, and for loads as
/// above.
VectorX rest_curvature(const rods::Rod& rod, const Loads& loads);

struct RestingRod {
  std::shared_ptr<const rods::RodModel> model;  ///< the same rod, with natural curvatures and lengths of its own
  Status status = Status::max_iterations;
  /// What the forces of a rod of this model lack to balance in the state, over the largest of them. [-]
  double residual = 0.0;
};

/// The same for every model. The natural lengths of rods that stretch change their weight; they are found by repeated
/// substitution, each of which gains as many digits as the strain is small. Throws InvalidInput as above, and where the
/// points of a mass-spring chain cannot hold the load: a moment across the plane in which a node bends, or at a
/// straight one.
RestingRod resting_rod(const rods::Rod& rod, const Loads& loads);

}  // namespace tresse::inverse
