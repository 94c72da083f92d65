#include <tresse/statics/equilibrium_change.hpp>

#include <Eigen/Geometry>
#include <Eigen/QR>

#include <tresse/base/errors.hpp>

namespace tresse::statics {

VectorX equilibrium_change(const rods::Rod& rod, const Vector3& gravity, const EquilibriumVariation& variation) {
  require(rod.root_condition() == rods::RootCondition::clamped, "equilibrium change: the root must be clamped");
  const Eigen::Index m = rod.coordinate_count();
  require(rod.linear_elasticity() && rod.rest_curvature().size() == m,
          "equilibrium change: a rod of nodes; expected a super-helix or a super-clothoid");
  require(variation.natural.size() == 0 || variation.natural.size() == m,
          "equilibrium change: natural curvatures do not match the rod");
  VectorX strain = rod.curvature() - rod.rest_curvature();
  for (Eigen::Index i = 0; i < m; ++i) strain[i] *= variation.stiffness[i % 3];
  if (variation.natural.size() > 0) strain -= variation.natural;
  VectorX out = VectorX::Zero(m);
  rod.add_stiffness_times(1.0, strain, out);
  // A turned root is gravity turned back.
  const Vector3 pull = variation.density * gravity + variation.gravity - variation.turn.cross(gravity);
  VectorX weight(m);
  rod.gravity_force(pull, weight);
  out -= weight;
  MatrixX hessian(m, m);
  rod.potential_hessian(gravity, hessian);
  const Eigen::ColPivHouseholderQR<MatrixX> solver(hessian);
  require(solver.isInvertible(), "equilibrium change: the Hessian is singular; expected a stable equilibrium");
  return solver.solve(-out);
}

}  // namespace tresse::statics
