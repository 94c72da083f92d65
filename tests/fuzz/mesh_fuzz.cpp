#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/io/mesh_file.hpp>

/// Any bytes, the first of which chooses the format: a mesh, whose topology can be made, or InvalidInput; nothing else
/// may leave the parsers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string name = "input";
  try {
    const tresse::io::MeshData mesh = data[0] % 3 == 0   ? tresse::io::parse_obj(text, name)
                                      : data[0] % 3 == 1 ? tresse::io::parse_ply(text, name)
                                                         : tresse::io::parse_gltf(text, name, {std::string(text)});
    const tresse::geometry::Welded welded = tresse::geometry::weld(mesh.faces, mesh.vertices);
    const tresse::geometry::MeshTopology topology(welded.faces, welded.vertices);
  } catch (const tresse::InvalidInput&) {
    return 0;
  }
  return 0;
}
