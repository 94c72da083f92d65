#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/geometry/triangle_mesh.hpp>

/// Surfaces of triangles from files: OBJ, PLY and glTF. docs/reference/scenes.md, "Meshes", says what of them is read.
namespace tresse::importers {

/// As the file has it: vertices are not merged, degenerate faces are still there.
struct MeshData {
  std::vector<Vector3> vertices;  ///< in the file's unit and axes
  std::vector<geometry::Face> faces;
};

/// By the file's ending: .obj, .ply, .gltf or .glb. Throws InvalidInput with one line that names the file.
MeshData read_mesh(const std::filesystem::path& file);

/// A file's bytes and the mesh in them; of a .gltf the bytes of the buffers beside it as well.
struct MeshBytes {
  MeshData mesh;
  std::string bytes;
};
MeshBytes read_mesh_bytes(const std::filesystem::path& file);

/// The same from memory; messages begin with `name`.
MeshData parse_obj(std::string_view bytes, const std::string& name);
MeshData parse_ply(std::string_view bytes, const std::string& name);
/// `buffers`: those that the document names by a file, in its order; see gltf_buffer_files().
MeshData parse_gltf(std::string_view bytes, const std::string& name, const std::vector<std::string>& buffers);
/// Names of the files that a glTF document's buffers are in; empty for embedded ones.
std::vector<std::string> gltf_buffer_files(std::string_view bytes, const std::string& name);

}  // namespace tresse::importers
