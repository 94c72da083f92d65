#pragma once

#include <vector>

#include <Eigen/LU>

#include <tresse/fluid/stokeslet_segments.hpp>

namespace tresse::fluid {

/// Thin bodies as chains of straight segments between nodes.
struct Chains {
  std::vector<Vector3> nodes;  ///< (n) [m]
  std::vector<int> begin;      ///< (chains + 1) first node of each; two nodes or more a chain
};

/// How force densities at nodes, linear between them, are found from the velocities there.
enum class Coupling {
  collocation,  ///< the fluid moves with the nodes: a matrix that is not symmetric
  symmetric,    ///< with the body in the mean over each node's hat function (Galerkin): symmetric, positive definite
};

/// What moving through a fluid at rest takes: forces at nodes, linear in their velocities. Factored densely, so that
/// its cost grows with the cube of the nodes. @cite cortez2018
class Resistance {
 public:
  /// Regularisation and viscosity > 0. Throws InvalidInput for chains of less than two nodes or bad numbers.
  Resistance(Chains chains, double epsilon, double viscosity, Coupling coupling);

  /// The force at each node that the bodies exert on the fluid when their nodes move with `velocities` (3n) [m/s]: the
  /// integral of its hat function times the force density. (3n) [N]
  VectorX force(const VectorX& velocities) const;

 private:
  /// Integrals of products of hat functions, times values at nodes: (3n) -> (3n). [m]
  VectorX weighted(const VectorX& at_nodes) const;

  Chains chains_;
  Coupling coupling_;
  Eigen::PartialPivLU<MatrixX> factor_;
};

}  // namespace tresse::fluid
