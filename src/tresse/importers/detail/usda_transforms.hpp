#pragma once

#include <cstddef>
#include <string>

#include <Eigen/Geometry>

#include <tresse/importers/detail/usda_layer.hpp>

namespace tresse::importers::detail {

/// From the axes of a prim to those of the world, in the layer's unit. Transforms that move are refused.
/// @throws InvalidInput, whose message begins with the prim at fault, without the file's name.
Eigen::Affine3d world_transform(const UsdLayer& layer, std::size_t prim);

}  // namespace tresse::importers::detail
