#pragma once

#include <memory>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/inverse/rest_shape.hpp>

namespace tresse::inverse {

/// A load on a fibre of a world, besides its weight.
struct FibreLoad {
  int fibre = 0;
  PointLoad load;
};

/// What the fibres of a world must be made of so that they are at rest where the kinematics have them, (fibres).
/// Gravity is the world's. A branch passes its weight, its loads and their moment on to its parent, as a load at the
/// point where it grows; contacts and holds exert what `loads` say, and nothing else. Throws InvalidInput, with the
/// fibre's number, as resting_rod() does.
std::vector<RestingRod> resting_rods(const assembly::Kinematics& at, const std::vector<FibreLoad>& loads);

}  // namespace tresse::inverse
