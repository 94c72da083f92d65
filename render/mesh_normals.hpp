#pragma once

#include <array>
#include <vector>

#include "render/scene.hpp"

namespace tresse::render {

/// Unit normals at the three corners of each face of a mesh: averages by area over the faces around a vertex that hang
/// together over edges where they turn by less than `crease` [rad]. So a surface is smooth but for its sharp edges.
/// A face without area has zeros.
std::vector<std::array<Eigen::Vector3f, 3>> corner_normals(const Mesh& mesh, double crease);

}  // namespace tresse::render
