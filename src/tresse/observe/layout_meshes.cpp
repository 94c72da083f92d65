#include <tresse/observe/layout_meshes.hpp>

#include <algorithm>

namespace tresse::observe {

std::vector<LayoutMesh> meshes_of(const TrajectoryLayout& layout) {
  std::vector<LayoutMesh> out;
  std::span<const double> places(layout.mesh_vertex);
  std::span<const std::int32_t> face(layout.mesh_face);
  for (std::size_t i = 0; i < layout.mesh_obstacle.size(); ++i) {
    LayoutMesh& mesh = out.emplace_back();
    mesh.obstacle = static_cast<std::size_t>(layout.mesh_obstacle[i]);
    mesh.vertices = static_cast<std::size_t>(layout.mesh_vertices[i]);
    mesh.keys = static_cast<std::size_t>(layout.mesh_frames[i]);
    mesh.rate = layout.mesh_rate[i];
    mesh.places = places.first(3 * mesh.vertices * mesh.keys);
    mesh.face = face.first(3 * static_cast<std::size_t>(layout.mesh_faces[i]));
    places = places.subspan(mesh.places.size());
    face = face.subspan(mesh.face.size());
  }
  return out;
}

MeshTime time_of(const LayoutMesh& mesh, double time) {
  const double place = time * mesh.rate;
  const std::size_t last = mesh.keys - 1;
  if (!(place > 0.0)) return {};
  if (!(place < static_cast<double>(last))) return {.before = last, .after = last};
  const auto before = static_cast<std::size_t>(place);
  const double weight = place - static_cast<double>(before);
  return {.before = before, .after = weight > 0.0 ? before + 1 : before, .weight = weight};
}

std::vector<Vector3> vertices_at(const LayoutMesh& mesh, double time) {
  const auto [before, after, weight] = time_of(mesh, time);
  std::vector<Vector3> out;
  out.reserve(mesh.vertices);
  for (std::size_t v = 0; v < mesh.vertices; ++v) {
    const Vector3 x = mesh.vertex(before, v);
    out.emplace_back(x + weight * (mesh.vertex(after, v) - x));
  }
  return out;
}

}  // namespace tresse::observe
