#pragma once

#include <array>
#include <vector>

#include <tresse/rods/detail/helix_discs.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

namespace tresse::rods::detail {

/// Four elements of a super-helix side by side; where the chain has no more, the last again with no length.
struct HelixGroup {
  lanes::Doubles length, density;
  Triple<lanes::Doubles> w, rate, offset, next;
  Columns<lanes::Doubles> frame;
  Columns<lanes::Doubles> linear, angular;         ///< twists of the coordinates
  std::array<lanes::Doubles, lanes::count> discs;  ///< ElementDiscs
};

/// All groups of a chain, and the integrals of each. A step asks for them two or three times in a row.
struct HelixGroups {
  std::vector<HelixGroup> groups;
  std::vector<HelixIntegrals<lanes::Doubles>> integrals;
  std::vector<HelixDiscs<lanes::Doubles>> discs;
};

}  // namespace tresse::rods::detail
