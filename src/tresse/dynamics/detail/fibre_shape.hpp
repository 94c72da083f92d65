#pragma once

#include <memory>
#include <vector>

#include <tresse/rods/chain_field.hpp>

namespace tresse::dynamics::detail {

/// A fibre in one shape.
struct FibreShape {
  std::unique_ptr<rods::Rod> rod;
  std::unique_ptr<rods::ChainField> field;

  /// `like`: a rod of the fibre, with its natural shape. `nodes`: of the field, the same in all shapes of a part.
  FibreShape(const rods::Rod& like, const rods::RodState& at, Eigen::Index nodes) : rod(like.clone()) {
    rod->update(at);
    field = std::make_unique<rods::ChainField>(*rod, nodes);
  }
  /// Takes another shape of the same fibre.
  void take(const rods::RodState& at, Eigen::Index nodes) {
    rod->update(at);
    field->take(*rod, nodes);
  }
};
using Shapes = std::vector<std::shared_ptr<const FibreShape>>;  ///< (fibres)

}  // namespace tresse::dynamics::detail
