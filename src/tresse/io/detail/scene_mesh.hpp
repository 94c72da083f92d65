#pragma once

#include <tresse/io/detail/scene_reader.hpp>

namespace tresse::io::detail {

/// The keys of an obstacle of shape "mesh" and the files they name, beside the scene's. A checksum that is given must
/// be theirs: a run goes on with the mesh that it began with.
void read_mesh_obstacle(const TableReader& table, scene::Obstacle& out);

}  // namespace tresse::io::detail
