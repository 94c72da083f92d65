#pragma once

#include <filesystem>

#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {

/// The file of one frame of an animated mesh: its number with as many digits as there are #.
std::filesystem::path mesh_frame_file(const scene::MeshFile& mesh, int frame);

/// The keys of an obstacle of shape "mesh" and the files they name, beside the scene's. A checksum that is given must
/// be theirs: a run goes on with the mesh that it began with.
void read_mesh_obstacle(const TableReader& table, scene::Obstacle& out);

}  // namespace tresse::scene_file::detail
