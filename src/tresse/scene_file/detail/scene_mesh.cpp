#include <tresse/scene_file/detail/scene_mesh.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/mesh_file.hpp>

namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;

/// The keys of the list, `file` as an absolute name.
void read_mesh_keys(const TableReader& table, const std::string& file, scene::Obstacle& out) {
  scene::MeshFile& mesh = out.mesh;
  mesh.animated = file.find('#') != std::string::npos;
  if (mesh.animated) table.require("last", "the number of the last frame");
  for (const char* key : {"first", "last", "rate"}) {
    if (!mesh.animated)
      table.refuse(key, "is given for a file without #; expected \"head.####.ply\" for frames that are numbered");
  }
  table.read<bodies::Mesh>(out);
  mesh.file = file;
  if (mesh.last < mesh.first || mesh.last - mesh.first >= limits::mesh_frames)
    table.fail("last", fmt::format("is {}; expected first, {}, or up to {} frames more", mesh.last, mesh.first,
                                   limits::mesh_frames - 1));
}

/// From the file's unit and axes to the scene's.
std::vector<Vector3> placed(const std::vector<Vector3>& vertices, const scene::MeshFile& mesh) {
  std::vector<Vector3> out;
  out.reserve(vertices.size());
  for (const Vector3& x : vertices) {
    const Vector3 turned = mesh.up == scene::UpAxis::y ? Vector3(x.x(), -x.z(), x.y()) : x;
    out.emplace_back(mesh.position + mesh.unit * turned);
  }
  return out;
}

bodies::Surface read_surface(scene::MeshFile& mesh) {
  const std::filesystem::path first_file = mesh_frame_file(mesh, mesh.first);
  importers::MeshBytes first = importers::read_mesh_bytes(first_file);
  std::uint32_t sum = files::crc32(first.bytes);
  std::size_t bytes = first.bytes.size();
  try {
    const geometry::Welded welded = geometry::weld(first.mesh.faces, placed(first.mesh.vertices, mesh));
    auto topology = std::make_shared<const geometry::MeshTopology>(welded.faces, welded.vertices);
    std::vector<std::vector<Vector3>> frames{welded.vertices};
    for (int frame = mesh.first + 1; mesh.animated && frame <= mesh.last; ++frame) {
      const std::filesystem::path file = mesh_frame_file(mesh, frame);
      const importers::MeshBytes next = importers::read_mesh_bytes(file);
      sum = files::crc32(next.bytes, sum);
      bytes += next.bytes.size();
      require(next.mesh.faces == first.mesh.faces && next.mesh.vertices.size() == first.mesh.vertices.size(), [&] {
        return fmt::format("{}: has other faces than {}; expected the same with other places of the vertices",
                           file.string(), first_file.string());
      });
      std::vector<Vector3>& at = frames.emplace_back(welded.vertices.size());
      const std::vector<Vector3> all = placed(next.mesh.vertices, mesh);
      // Of those that are one in the first frame the first counts.
      for (std::size_t i = all.size(); i-- > 0;) at[static_cast<std::size_t>(welded.merged[i])] = all[i];
    }
    mesh.checksum = fmt::format("{:08x}-{}", sum, bytes);
    return {std::move(topology), std::move(frames), mesh.rate};
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    throw InvalidInput(message.starts_with("mesh:") ? fmt::format("{}: {}", first_file.string(), message) : message);
  }
}

}  // namespace

std::filesystem::path mesh_frame_file(const scene::MeshFile& mesh, int frame) {
  std::string name = mesh.file;
  if (const std::size_t begin = name.find('#'); begin != std::string::npos) {
    const std::size_t end = std::min(name.find_first_not_of('#', begin), name.size());
    name.replace(begin, end - begin, fmt::format("{:0{}}", frame, end - begin));
  }
  return name;
}

void read_mesh_obstacle(const TableReader& table, scene::Obstacle& out) {
  ReaderContext& context = table.context();
  scene::MeshFile& mesh = out.mesh;
  auto& shape = std::get<bodies::Mesh>(out.body.shape);
  const TomlNode& file = table.require("file");
  const std::string name = read_text(context, file, table.path("file"));
  if (name.empty()) context.fail(file, table.path("file") + " is empty; expected the name of a file");
  if (name.ends_with(".gltf") || name.ends_with(".glb")) mesh.up = scene::UpAxis::y;  // the format says so
  const std::filesystem::path beside = std::filesystem::path(context.file_name).parent_path();
  read_mesh_keys(table, std::filesystem::absolute(beside / name).lexically_normal().string(), out);
  const TomlNode* checksum = table.find("checksum");
  const std::string expected = mesh.checksum;
  if (context.leave_meshes) {
    shape.surface = std::make_shared<const bodies::Surface>(
        std::make_shared<const geometry::MeshTopology>(
            std::vector<geometry::Face>{{0, 1, 2}},
            std::vector<Vector3>{Vector3::Zero(), Vector3::UnitX(), Vector3::UnitY()}),
        std::vector<std::vector<Vector3>>{{Vector3::Zero(), Vector3::UnitX(), Vector3::UnitY()}}, 1.0);
    return;
  }
  try {
    shape.surface = std::make_shared<const bodies::Surface>(read_surface(mesh));
  } catch (const InvalidInput& error) {
    context.fail(file, fmt::format("{}: {}", table.path("file"), error.what()));
  }
  if (checksum && expected != mesh.checksum)
    context.fail(*checksum,
                 fmt::format("{} is {}, but {} has {}; expected the mesh that the run began with",
                             table.path("checksum"), files::in_quotes(expected, 40), mesh.file, mesh.checksum));
}

}  // namespace tresse::scene_file::detail
