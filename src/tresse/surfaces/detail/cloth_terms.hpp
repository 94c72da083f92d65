#pragma once

#include <array>
#include <vector>

#include <tresse/surfaces/cloth.hpp>
#include <tresse/surfaces/detail/hinge_angle.hpp>

namespace tresse::surfaces {

/// Of every element of a cloth in one shape.
struct Cloth::Terms {
  struct Triangle {
    std::array<Matrix3, 3> slopes;  ///< of the strain with each corner
    Vector3 stress;
  };
  struct Bend {
    detail::HingeVector slope;
    double moment;
  };
  std::vector<Triangle> triangles;
  std::vector<Bend> bends;
  std::vector<detail::HingeMatrix> turns;  ///< second derivatives of the angles; empty unless they are wanted
};

/// What a matrix holds: the stiffness of the materials, that of their stress, and the masses.
struct Cloth::Weights {
  double material = 1.0;
  double stress = 1.0;
  double mass = 0.0;
};

}  // namespace tresse::surfaces
