#include <tresse/rods/detail/dense_step_matrix.hpp>

#include <tresse/rods/rod.hpp>

namespace tresse::rods::detail {

bool DenseStepMatrix::factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) {
  thread_local MatrixX matrix;
  matrix.resize(rod.dof(), rod.dof());
  rod.mass_matrix(matrix);
  momentum.noalias() = matrix * velocity;
  rod.add_stiffness(terms.stiffness, terms.damping, matrix);
  if (terms.drag > 0.0) rod.add_drag_matrix(terms.drag, matrix);
  return factor_.factor(matrix);
}

}  // namespace tresse::rods::detail
