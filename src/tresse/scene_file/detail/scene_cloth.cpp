#include <fmt/format.h>

#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/text.hpp>
#include <tresse/geometry/triangle_mesh.hpp>
#include <tresse/importers/mesh_file.hpp>
#include <tresse/scene_file/detail/scene_mesh.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

std::optional<scene::Fabric> fabric_preset(std::string_view name) {
  for (const scene::FabricPreset& preset : scene::fabric_presets) {
    if (preset.name == name) return preset.fabric;
  }
  return std::nullopt;
}

std::string preset_alternatives() {
  return files::alternatives(
      std::vector<std::string>(scene::fabric_preset_names.begin(), scene::fabric_preset_names.end()));
}

scene::Fabric find_fabric(const TableReader& table, const std::string& name, const Materials& materials) {
  const auto found = materials.fabrics.find(name);
  if (found != materials.fabrics.end()) return found->second;
  if (const auto preset = fabric_preset(name)) return *preset;
  table.fail("material", fmt::format("is {}, the name of no fabric; expected a [fabrics.NAME], {}",
                                     files::in_quotes(name, 40), preset_alternatives()));
}

std::vector<int> read_numbers(const TableReader& table, std::string_view key) {
  std::vector<int> out;
  const TomlNode* node = table.find(key);
  if (node == nullptr) return out;
  if (!node->is(TomlNode::Kind::array))
    table.fail(key, fmt::format("is {}; expected an array of whole numbers", describe(*node)));
  for (std::size_t i = 0; i < node->items.size(); ++i)
    out.push_back(static_cast<int>(
        read_whole(table.context(), node->items[i], fmt::format("{}[{}]", table.path(key), i), table.wanted(key))));
  return out;
}

std::vector<Vector3> read_corners(const TableReader& table, std::string_view key) {
  std::vector<Vector3> out;
  const TomlNode* node = table.find(key);
  if (node == nullptr) return out;
  if (!node->is(TomlNode::Kind::array) || node->items.size() != 2)
    table.fail(key, fmt::format("is {}; expected two corners, [[x, y, z], [x, y, z]]", describe(*node)));
  for (std::size_t i = 0; i < 2; ++i)
    out.push_back(
        read_vector(table.context(), node->items[i], fmt::format("{}[{}]", table.path(key), i), table.wanted(key)));
  return out;
}

std::vector<scene::ClothPin> read_pins(const TableReader& table) {
  std::vector<scene::ClothPin> out;
  const TomlNode* node = table.find("pins");
  if (node == nullptr) return out;
  if (!node->is(TomlNode::Kind::array) || node->items.size() > static_cast<std::size_t>(scene::limits::pins))
    table.fail("pins",
               fmt::format("is {}; expected an array of at most {} tables", describe(*node), scene::limits::pins));
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const TableReader own(table.context(), node->items[i], fmt::format("{}[{}]", table.path("pins"), i),
                          description<scene::ClothPin>());
    scene::ClothPin pin;
    pin.name = fmt::format("pin {}", i);
    pin.vertices = read_numbers(own, "vertices");
    pin.box = read_corners(own, "box");
    own.read<scene::ClothPin>(pin);
    for (const scene::ClothPin& other : out) {
      if (other.name == pin.name)
        own.fail("name",
                 fmt::format("is {}, which a pin above has; expected one of its own", files::in_quotes(pin.name, 40)));
    }
    out.push_back(std::move(pin));
  }
  return out;
}

/// Reads all but the grid, whose counts are read by hand.
struct AllButGrid {
  const TableReader& table;

  template <class T>
  void operator()(const scene::Field& field, T&& value) const {
    if constexpr (!std::same_as<std::remove_cvref_t<T>, std::optional<scene::ClothGrid>>) table(field, value);
  }
};

/// The faces of a file all the same way round, vertices at the same place one.
surfaces::ClothShape shape_in_file(scene::ClothFile& mesh) {
  const importers::MeshBytes read = importers::read_mesh_bytes(mesh.file);
  mesh.checksum = fmt::format("{:08x}-{}", files::crc32(read.bytes), read.bytes.size());
  std::vector<Vector3> vertices;
  for (const Vector3& x : read.mesh.vertices)
    vertices.emplace_back(mesh.unit * (mesh.up == scene::UpAxis::y ? Vector3(x.x(), -x.z(), x.y()) : x));
  const geometry::Welded welded = geometry::weld(read.mesh.faces, vertices);
  const geometry::MeshTopology topology(welded.faces, welded.vertices);
  return surfaces::sheet(welded.vertices, topology.faces(), mesh.warp);
}

void read_shape_file(const TableReader& table, scene::Cloth& cloth) {
  ReaderContext& context = table.context();
  const TableReader own(context, *table.find("mesh"), table.path("mesh"), description<scene::ClothFile>());
  scene::ClothFile& mesh = *cloth.mesh;
  const TomlNode& file = own.require("file");
  if (mesh.file.empty()) own.fail("file", "is empty; expected the name of a file");
  if (!own.has("up") && (mesh.file.ends_with(".gltf") || mesh.file.ends_with(".glb"))) mesh.up = scene::UpAxis::y;
  const std::filesystem::path beside = std::filesystem::path(context.file_name).parent_path();
  mesh.file = std::filesystem::absolute(beside / mesh.file).lexically_normal().string();
  if (context.leave_meshes) return;
  const std::string expected = mesh.checksum;
  try {
    cloth.from_file = shape_in_file(mesh);
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    context.fail(file, fmt::format("{}: {}{}", own.path("file"), message.starts_with(mesh.file) ? "" : mesh.file + ": ",
                                   message));
  }
  if (!expected.empty() && expected != mesh.checksum)
    own.fail("checksum", fmt::format("is {}, but {} has {}; expected the mesh that the run began with",
                                     files::in_quotes(expected, 40), mesh.file, mesh.checksum));
}

}  // namespace

void read_fabrics(ReaderContext& context, const TomlNode* node, Materials& materials) {
  if (node == nullptr) return;
  if (!node->is(TomlNode::Kind::table))
    context.fail(*node, fmt::format("fabrics is {}; expected tables [fabrics.NAME]", describe(*node)));
  for (const TomlMember& member : node->members) {
    const TableReader table(context, member.value, "fabrics." + one_line(member.key, 40), description<scene::Fabric>());
    scene::Fabric fabric;
    if (const TomlNode* preset = table.find("preset")) {
      fabric = *fabric_preset(read_word(context, *preset, table.path("preset"), scene::fabric_preset_names));
    } else {
      for (const std::string_view key :
           {"area_density", "warp_stiffness", "weft_stiffness", "shear_stiffness", "bending_stiffness"})
        table.require(key, "it, or preset = " + preset_alternatives());
    }
    table.read<scene::Fabric>(fabric);
    materials.fabrics[member.key] = fabric;
    materials.names.insert(member.key);
  }
}

void read_cloth(const TableReader& table, const Materials& materials, scene::Surface& out) {
  if (const TomlNode* grid = table.find("grid")) {
    const TableReader own(table.context(), *grid, table.path("grid"), description<scene::ClothGrid>());
    own.require("cells");
    out.cloth.grid.emplace().cells = read_numbers(own, "cells");
    own.read<scene::ClothGrid>(*out.cloth.grid);
  }
  out.cloth.pins = read_pins(table);
  scene::Table<scene::ClothSurface>::fields(out, AllButGrid{table});
  table.check<scene::ClothSurface>(out);
  out.cloth.fabric = find_fabric(table, out.material_name, materials);
  if (out.cloth.mesh) read_shape_file(table, out.cloth);
}

}  // namespace tresse::scene_file::detail
