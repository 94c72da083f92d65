#include <tresse/rods/detail/dense_step_matrix.hpp>

#include <tresse/rods/rod.hpp>

namespace tresse::rods::detail {

bool DenseStepMatrix::factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) {
  matrix_.resize(rod.dof(), rod.dof());
  rod.mass_matrix(matrix_);
  momentum.noalias() = matrix_ * velocity;
  rod.add_stiffness(terms.stiffness, terms.damping, matrix_);
  if (terms.drag > 0.0) rod.add_drag_matrix(terms.drag, matrix_);
  return factor_.factor(matrix_);
}

}  // namespace tresse::rods::detail
