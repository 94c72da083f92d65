#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/importers/mesh_file.hpp>

/// Any bytes, in every format: a mesh, whose topology can be made, or InvalidInput; nothing else may leave the parsers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = "input";
  const auto parse = [&](const auto& parser) {
    try {
      const tresse::importers::MeshData mesh = parser();
      const tresse::geometry::Welded welded = tresse::geometry::weld(mesh.faces, mesh.vertices);
      const tresse::geometry::MeshTopology topology(welded.faces, welded.vertices);
    } catch (const tresse::InvalidInput&) {
      return;
    }
  };
  parse([&] { return tresse::importers::parse_obj(text, name); });
  parse([&] { return tresse::importers::parse_ply(text, name); });
  parse([&] { return tresse::importers::parse_gltf(text, name, {std::string(text)}); });
  return 0;
}
