#include <tresse/observe/layout_surfaces.hpp>

namespace tresse::observe {

std::vector<LayoutSurface> surfaces_of(const TrajectoryLayout& layout) {
  std::vector<LayoutSurface> out;
  std::span<const std::int32_t> face(layout.surface_face);
  std::size_t first = 0;
  for (std::size_t i = 0; i < layout.surface_count(); ++i) {
    const auto vertices = static_cast<std::size_t>(layout.surface_vertices[i]);
    const std::size_t corners = 3 * static_cast<std::size_t>(layout.surface_faces[i]);
    out.push_back({layout.surface_names[i], first, vertices, face.first(corners)});
    face = face.subspan(corners);
    first += vertices;
  }
  return out;
}

}  // namespace tresse::observe
