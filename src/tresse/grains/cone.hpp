#pragma once

#include <array>
#include <cmath>

#include <Eigen/Core>

#include <tresse/friction/coulomb.hpp>

/// Symmetric tensors as vectors whose first entry is the normal part and whose others are the tangential one: the law
/// of Drucker and Prager is then that of Coulomb, in 3 dimensions for a plane flow and in 6 in space.
/// @cite bertails2018hdr sec. 3.3.3
namespace tresse::grains {

template <int d>
inline constexpr int cone_dimension = d*(d + 1) / 2;

template <int d>
using Tensor = Eigen::Matrix<double, d, d>;
template <int d>
using ConeVector = friction::ConeVector<cone_dimension<d>>;

/// chi: an isometry, chi(x) : chi(y) / 2 = x . y.
template <int d>
Tensor<d> tensor(const ConeVector<d>& x) {
  Tensor<d> out;
  if constexpr (d == 2) {
    out << x[0] + x[1], x[2], x[2], x[0] - x[1];
  } else {
    const double root = 1.0 / std::sqrt(3.0), mean = std::sqrt(2.0 / 3.0) * x[0];
    out << mean + x[1] - root * x[2], x[3], x[4],  //
        x[3], mean - x[1] - root * x[2], x[5],     //
        x[4], x[5], mean + 2.0 * root * x[2];
  }
  return out;
}

/// chi of the unit vectors.
template <int d>
const std::array<Tensor<d>, cone_dimension<d>>& cone_basis() {
  static const auto basis = [] {
    std::array<Tensor<d>, cone_dimension<d>> out;
    for (int k = 0; k < cone_dimension<d>; ++k) out[k] = tensor<d>(ConeVector<d>::Unit(k));
    return out;
  }();
  return basis;
}

/// chi^-1.
template <int d>
ConeVector<d> cone_vector(const Tensor<d>& sigma) {
  ConeVector<d> out;
  for (int k = 0; k < cone_dimension<d>; ++k) out[k] = 0.5 * cone_basis<d>()[k].cwiseProduct(sigma).sum();
  return out;
}

/// The pressure of minus a stress, -Tr(stress) / d.
template <int d>
double pressure(const ConeVector<d>& x) {
  return std::sqrt(2.0 / d) * x[0];
}

/// |Dev| <= friction * pressure is |x_T| <= this * x_N.
template <int d>
double cone_coefficient(double friction) {
  return friction * std::sqrt(2.0 / d);
}

/// How the force of a cell is taken from a trial one, x = lambda - rho gamma. `coulomb`: the friction disc of the
/// normal part that is found at the same time; `frozen`: that of a given normal part, so that the force is the gradient
/// of a convex function.
enum class Law { coulomb, frozen };

template <int dimension>
struct ConeForce {
  friction::ConeVector<dimension> value;
  Eigen::Matrix<double, dimension, dimension> derivative;  ///< by x; where there is none, that of the sticking side
};

/// x_N^+ and the projection of x_T on the disc of radius mu x_N^+, or mu `normal` under the frozen law. In lambda =
/// force(lambda - rho gamma) lambda and gamma obey Coulomb's law, for any rho > 0. @cite alart1991
template <int dimension>
ConeForce<dimension> cone_force(const friction::ConeVector<dimension>& x, double mu, Law law, double normal) {
  constexpr int tangents = dimension - 1;
  ConeForce<dimension> out{friction::ConeVector<dimension>::Zero(),
                           Eigen::Matrix<double, dimension, dimension>::Zero()};
  if (x[0] >= 0.0) {
    out.value[0] = x[0];
    out.derivative(0, 0) = 1.0;
  }
  const double radius = mu * (law == Law::coulomb ? out.value[0] : normal);
  const auto tangential = x.template tail<tangents>();
  const double length = tangential.norm();
  auto block = out.derivative.template block<tangents, tangents>(1, 1);
  if (length <= radius) {
    out.value.template tail<tangents>() = tangential;
    block.setIdentity();
    return out;
  }
  const Eigen::Matrix<double, tangents, 1> direction = tangential / length;
  out.value.template tail<tangents>() = radius * direction;
  block.setIdentity();
  block.noalias() -= direction * direction.transpose();
  block *= radius / length;
  if (law == Law::coulomb && x[0] >= 0.0) out.derivative.template block<tangents, 1>(1, 0) = mu * direction;
  return out;
}

}  // namespace tresse::grains
