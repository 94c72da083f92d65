#pragma once

#include <memory>
#include <vector>

#include <tresse/dynamics/sensitivity.hpp>
#include <tresse/rods/chain_field.hpp>

namespace tresse::dynamics::detail {

/// A fibre in one shape, and how that shape changes along each variation.
struct ShapeTangent {
  std::unique_ptr<rods::Rod> rod;
  std::unique_ptr<rods::ChainField> field;
  std::vector<VectorX> displacement;     ///< (variations) (dof)
  std::vector<Twist> root;               ///< (variations) of a clamped root
  std::vector<rods::FieldMotion> along;  ///< (variations)

  /// `like`: a rod of the fibre, with its natural shape. `nodes`: of the field, the same in all shapes of a part.
  ShapeTangent(const rods::Rod& like, const rods::RodState& at, std::vector<VectorX> displacements,
               std::vector<Twist> roots, Eigen::Index nodes)
      : rod(like.clone()), displacement(std::move(displacements)), root(std::move(roots)) {
    rod->update(at);
    field = std::make_unique<rods::ChainField>(*rod, nodes);
    for (std::size_t k = 0; k < displacement.size(); ++k) along.push_back(field->motion(displacement[k], root[k]));
  }
};
using Shapes = std::vector<std::shared_ptr<const ShapeTangent>>;  ///< (fibres)

}  // namespace tresse::dynamics::detail
