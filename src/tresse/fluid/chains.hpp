#pragma once

#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::fluid {

/// Thin bodies as chains of straight segments between nodes.
struct Chains {
  std::vector<Vector3> nodes;   ///< (n) [m]
  std::vector<int> begin;       ///< (chains + 1) first node of each; two nodes or more a chain
  std::vector<double> epsilon;  ///< (chains) over what radius each spreads its forces, > 0 [m]

  int count() const { return static_cast<int>(epsilon.size()); }
};

}  // namespace tresse::fluid
