#pragma once

#include <array>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/contact/detection.hpp>
#include <tresse/friction/problem.hpp>
#include <tresse/inverse/assembly.hpp>
#include <tresse/inverse/rest_shape.hpp>
#include <tresse/math/reverse_cholesky.hpp>

/// Fibres that touch, measured: what the search for their natural shapes and the test for their stability share.
namespace tresse::inverse::detail {

template <typename Visit>
void for_each_fibre(std::size_t count, const Visit& visit) {
  constexpr std::size_t block = 8;
  for_blocks(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) visit(i);
  });
}

/// How the unknowns of fibres are measured, and with respect to what.
struct Measure {
  Guess guess = Guess::shape;
  Norm norm = Norm::energy;
};

/// A fibre's part: z = w - X^T r is the deviation of its natural shape from the guess, measured; above it, of a free
/// root, what the forces on it lack to balance.
struct FibrePart {
  int root = 0;                     ///< unknowns of the root: 0 or 6
  math::ReverseCholesky stiffness;  ///< of its coordinates
  MatrixX common;                   ///< (coordinates, 3) orthonormal: what a uniform guess takes out; else empty
  VectorX w;                        ///< (dof)
  Eigen::Array<double, 6, 1> root_scale = Eigen::Array<double, 6, 1>::Zero();
};

/// All parts, and the rows X of the contacts.
struct TouchingFibres {
  std::vector<FibrePart> parts;
  friction::FactoredProblem rows;
  double mean_diagonal = 0.0;  ///< of X X^T without free roots
};

TouchingFibres touching_fibres(const assembly::Kinematics& at, const contact::Geometry& geometry,
                               const std::vector<contact::Contact>& contacts, const Measure& measure);

/// Gives the equations of free roots the weight of `stiff` times the mean compliance of what touches.
void scale_roots(const assembly::Kinematics& at, double stiff, TouchingFibres& fibres);

/// What acts on each fibre: its weight, and the forces of its contacts (contacts, of a on b) [N].
std::vector<Loads> loads_of(const assembly::Kinematics& at, const contact::Geometry& geometry,
                            const std::vector<contact::Contact>& contacts, const std::vector<Vector3>& forces);

}  // namespace tresse::inverse::detail
