#include <tresse/grains/detail/flow_problem.hpp>

#include <algorithm>
#include <limits>

namespace tresse::grains::detail {
template <int d>
FlowProblem<d>::FlowProblem(const Grid<d>& grid)
    : grid_(grid),
      element_(grid),
      load_(Forces::Zero(d, node_count(grid.medium))),
      given_(load_),
      mu_(cone_coefficient<d>(grid.medium.friction)) {}

template <int d>
void FlowProblem<d>::prepare(const Velocities& carried, const Vector3& gravity, double dt) {
  matrix_ = element_.mass / dt + element_.viscosity;
  const double width = grid_.size.minCoeff();
  impedance_ = 2.0 * grid_.medium.viscosity + grid_.medium.density * width * width / dt;
  const double share = grid_.medium.density * grid_.volume / Element<d>::corners;
  given_.setZero();
  for (const int cell : grid_.flowing)
    scatter((share * grid_.narrowed(gravity)).template replicate<Element<d>::corners, 1>(), cell, given_);
  constexpr int of_face = Element<d>::corners / 2;
  for (const OpenFace& face : grid_.open_faces) {
    const double push = grid_.medium.pressure * grid_.volume / grid_.size[face.j] / of_face;
    for (int c = 0; c < Element<d>::corners; ++c)
      if (Grid<d>::on_face(c, face)) given_(face.j, grid_.corners_of(face.cell)[c]) += face.far ? -push : push;
  }
  load_ = given_ + product(element_.mass / dt, carried);
}

template <int d>
typename FlowProblem<d>::ElementVector FlowProblem<d>::gathered(const Nodal<d>& nodal, int cell) const {
  ElementVector out;
  const int* nodes = grid_.corners_of(cell);
  for (int c = 0; c < Element<d>::corners; ++c) out.template segment<d>(d * c) = nodal.col(nodes[c]);
  return out;
}

template <int d>
void FlowProblem<d>::scatter(const ElementVector& element, int cell, Nodal<d>& nodal) const {
  const int* nodes = grid_.corners_of(cell);
  for (int c = 0; c < Element<d>::corners; ++c) nodal.col(nodes[c]) += element.template segment<d>(d * c);
}

template <int d>
Nodal<d> FlowProblem<d>::product(const typename Element<d>::Matrix& matrix, const Nodal<d>& v) const {
  Nodal<d> out = Nodal<d>::Zero(d, v.cols());
  for (const int cell : grid_.flowing) scatter(matrix * gathered(v, cell), cell, out);
  return out;
}

template <int d>
typename FlowProblem<d>::Stresses FlowProblem<d>::strains(const Velocities& v) const {
  Stresses out = Stresses::Zero(dimension, static_cast<Eigen::Index>(grid_.medium.solid.size()));
  for (const int cell : grid_.flowing) out.col(cell) = element_.strain * gathered(v, cell);
  return out;
}

template <int d>
typename FlowProblem<d>::Forces FlowProblem<d>::matrix_times(const Velocities& v) const {
  return product(matrix_, v);
}

template <int d>
typename FlowProblem<d>::Forces FlowProblem<d>::stress_forces(const Stresses& lambda) const {
  Forces out = Forces::Zero(d, load_.cols());
  for (const int cell : grid_.flowing)
    scatter(grid_.volume * (element_.strain.transpose() * lambda.col(cell)), cell, out);
  return out;
}

template <int d>
VectorX FlowProblem<d>::reduced(const Forces& forces) const {
  VectorX out(grid_.unknowns);
  for (int node = 0; node < forces.cols(); ++node) {
    const int count = grid_.free[at(node)];
    out.segment(grid_.unknown[at(node)], count) = grid_.basis[at(node)].leftCols(count).transpose() * forces.col(node);
  }
  return out;
}

template <int d>
typename FlowProblem<d>::Velocities FlowProblem<d>::expanded(const VectorX& unknowns) const {
  Velocities out = Velocities::Zero(d, load_.cols());
  for (int node = 0; node < out.cols(); ++node) {
    const int count = grid_.free[at(node)];
    out.col(node) = grid_.basis[at(node)].leftCols(count) * unknowns.segment(grid_.unknown[at(node)], count);
  }
  return out;
}

template <int d>
double FlowProblem<d>::error(const Velocities& v, const Stresses& lambda) const {
  const VectorX motion = reduced(matrix_times(v)), force = reduced(stress_forces(lambda)), given = reduced(load_);
  const Stresses gamma = impedance_ * strains(v);
  double map = 0.0;
  for (const int cell : grid_.flowing)
    map += friction::natural_map<dimension>(lambda.col(cell), gamma.col(cell), mu_).squaredNorm();
  const auto relative = [](double part, double whole) { return whole > 0.0 ? part / whole : part; };
  const double of_motion =
      relative((motion - force - given).norm(), std::max({motion.norm(), force.norm(), given.norm()}));
  const double of_law = relative(std::sqrt(map), std::max(lambda.norm(), gamma.norm()));
  if (!std::isfinite(of_motion + of_law)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(of_motion, of_law);
}

template <int d>
void FlowProblem<d>::assemble(const Eigen::Matrix<double, dimension, Eigen::Dynamic>& derivatives, double rho,
                              LayeredLU& out) const {
  out.set_zero();
  typename Element<d>::Matrix block;
  for (const int cell : grid_.flowing) {
    block = matrix_;
    block.noalias() +=
        (rho * grid_.volume) * (element_.strain.transpose() *
                                (derivatives.template middleCols<dimension>(dimension * cell) * element_.strain));
    const int* nodes = grid_.corners_of(cell);
    for (int a = 0; a < Element<d>::corners; ++a) {
      const auto na = at(nodes[a]);
      for (int b = 0; b < Element<d>::corners; ++b) {
        const auto nb = at(nodes[b]);
        const Tensor<d> turned =
            grid_.basis[na].transpose() * block.template block<d, d>(d * a, d * b) * grid_.basis[nb];
        for (int i = 0; i < grid_.free[na]; ++i)
          for (int j = 0; j < grid_.free[nb]; ++j) out.add(grid_.unknown[na] + i, grid_.unknown[nb] + j, turned(i, j));
      }
    }
  }
}

template <int d>
double FlowProblem<d>::kinetic(const Velocities& v) const {
  return 0.5 * v.cwiseProduct(product(element_.mass, v)).sum();
}

template <int d>
Vector3 FlowProblem<d>::momentum(const Velocities& v) const {
  return grid_.widened(product(element_.mass, v).rowwise().sum());
}

template class FlowProblem<2>;
template class FlowProblem<3>;

}  // namespace tresse::grains::detail
