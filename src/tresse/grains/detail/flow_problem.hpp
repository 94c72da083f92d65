#pragma once

#include <tresse/grains/detail/element.hpp>
#include <tresse/grains/detail/layered_lu.hpp>

namespace tresse::grains::detail {

/// One implicit step: velocities v and, in each cell with grains, lambda with
///     (M / dt + A) v = f + B^T lambda,   (gamma(v), lambda) under Coulomb's law,   f = M v* / dt + given.
template <int d>
class FlowProblem {
 public:
  static constexpr int dimension = cone_dimension<d>;
  using Velocities = Nodal<d>;
  using Forces = Nodal<d>;
  /// Of all cells, a column each; those of solid ones are zero.
  using Stresses = Eigen::Matrix<double, dimension, Eigen::Dynamic>;

  explicit FlowProblem(const Grid<d>& grid);

  /// `carried`: v*. gravity [m/s^2], dt [s]
  void prepare(const Velocities& carried, const Vector3& gravity, double dt);

  const Grid<d>& grid() const { return grid_; }
  const Element<d>& element() const { return element_; }
  double cone_friction() const { return mu_; }
  /// What a stress and a strain rate are to each other in a cell: 2 viscosity + density h^2 / dt. [Pa s]
  double impedance() const { return impedance_; }

  Stresses strains(const Velocities& v) const;         ///< gamma [1/s]
  Forces matrix_times(const Velocities& v) const;      ///< (M / dt + A) v [N]
  Forces stress_forces(const Stresses& lambda) const;  ///< B^T lambda [N]
  const Forces& load() const { return load_; }         ///< f [N]
  const Forces& given() const { return given_; }       ///< of gravity and of the pressure on open faces [N]
  /// In the coordinates of what is free.
  VectorX reduced(const Forces& forces) const;
  Velocities expanded(const VectorX& unknowns) const;

  /// How far (v, lambda) is from a solution: the larger of two. The norm of what the equation of motion leaves over,
  /// against the largest of its three terms; the norm of the natural map of the law over all cells, impedance() scaling
  /// strain rates to stresses, against the larger of |lambda| and |gamma| scaled so.
  double error(const Velocities& v, const Stresses& lambda) const;

  /// M / dt + A + rho B^T J B, J a derivative of forces by trial forces in each cell (dimension, dimension * cells).
  void assemble(const Eigen::Matrix<double, dimension, Eigen::Dynamic>& derivatives, double rho, LayeredLU& out) const;

  double kinetic(const Velocities& v) const;
  Vector3 momentum(const Velocities& v) const;

 private:
  using ElementVector = typename Element<d>::Vector;
  ElementVector gathered(const Nodal<d>& nodal, int cell) const;
  void scatter(const ElementVector& element, int cell, Nodal<d>& nodal) const;
  Nodal<d> product(const typename Element<d>::Matrix& matrix, const Nodal<d>& v) const;

  const Grid<d>& grid_;
  Element<d> element_;
  typename Element<d>::Matrix matrix_;  ///< of a cell: mass / dt + viscosity
  Forces load_, given_;
  double mu_ = 0.0, impedance_ = 0.0;
};

extern template class FlowProblem<2>;
extern template class FlowProblem<3>;

}  // namespace tresse::grains::detail
