#include <tresse/scene/remarks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <tresse/base/words.hpp>

namespace tresse::scene {
namespace {

struct Build {
  double radius = 0.0;  ///< largest half-axis of its sections [m]
  double length = 0.0;  ///< [m]

  bool stout() const { return radius > 0.5 * length; }
};

Build build_of(const std::vector<double>& element_lengths, const std::vector<rods::CrossSection>& sections) {
  Build out{.length = std::accumulate(element_lengths.begin(), element_lengths.end(), 0.0)};
  for (const rods::CrossSection& section : sections)
    out.radius = std::max({out.radius, section.half_axis_1, section.half_axis_2});
  return out;
}

std::string thicker_than_long(const Build& build) {
  return fmt::format("radius {:.6g} m, length {:.6g} m; expected a radius of at most half the length", build.radius,
                     build.length);
}

void look_at_thickness(const FibreGroup& group, std::vector<Remark>& out) {
  if (group.strands.empty()) {
    const Build build = build_of(group.element_lengths, group.sections);
    if (build.stout())
      out.push_back({group.location, fmt::format("fibres '{}': {}", group.name, thicker_than_long(build))});
    return;
  }
  std::int64_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = group.strands.size(); i-- > 0;) {
    if (!build_of(group.strands[i].element_lengths, group.strands[i].sections).stout()) continue;
    ++count;
    first = i;
  }
  if (count == 0) return;
  const Strand& strand = group.strands[first];
  const std::string others = count > 1 ? fmt::format(", and {} like it", counted(count - 1, "strand")) : "";
  out.push_back(
      {group.location, fmt::format("fibres '{}', strand {}: {}{}", group.name, first,
                                   thicker_than_long(build_of(strand.element_lengths, strand.sections)), others)});
}

void look_at_mesh(const Obstacle& obstacle, std::vector<Remark>& out) {
  const bodies::Surface* surface = bodies::surface_of(obstacle.body.shape);
  if (surface == nullptr) return;
  const geometry::MeshTopology& topology = *surface->topology;
  if (topology.turned() == 0) return;
  out.push_back(
      {obstacle.location, fmt::format("obstacle '{}': {} of its {} faces run round against the others, and were turned",
                                      obstacle.body.name, topology.turned(), topology.faces().size())});
}

void look_at_surface(const Scene& scene, const Surface& surface, std::vector<Remark>& out) {
  const auto remark = [&](const std::string& message) {
    out.push_back({surface.location, fmt::format("surface '{}': {}", surface.name, message)});
  };
  if (!is_cloth(surface)) {
    if (!scene.fibres.empty() || !scene.obstacles.empty())
      remark("touches nothing; fibres, obstacles and other surfaces go through it");
    return;
  }
  if (!scene.fibres.empty()) remark("fibres go through it, and neither acts on the other");
  if (scene.surfaces.size() > 1) remark("other surfaces go through it, and neither acts on the other");
  if (has_free_bodies(scene)) remark("free bodies go through it, and neither acts on the other");
  if (scene.friction_kinetic.default_coefficient || !scene.friction_kinetic.pairs.empty())
    remark("slides with the friction with which it sticks; [friction_kinetic] is of fibres and free bodies");
  if (scene.restitution.default_coefficient > 0.0)
    remark("does not bounce; [restitution] is of fibres and free bodies");
}

void look_at_grains(const Scene& scene, std::vector<Remark>& out) {
  const auto remark = [&](const std::string& message) {
    out.push_back({scene.grains->location, "grains: " + message});
  };
  if (!scene.fibres.empty() || !scene.surfaces.empty())
    remark("fibres and surfaces go through them, and neither acts on the other");
  const std::vector<int> solid = medium_of(*scene.grains, scene.obstacles).solid;
  for (std::size_t i = 0; i < scene.obstacles.size(); ++i) {
    const Obstacle& obstacle = scene.obstacles[i];
    const bool filled = std::find(solid.begin(), solid.end(), static_cast<int>(i)) != solid.end();
    if (fills_cells(obstacle) && !filled)
      remark(
          fmt::format("obstacle '{}' covers the centre of no cell, and neither acts on the other", obstacle.body.name));
    if (!fills_cells(obstacle))
      remark(fmt::format("obstacle '{}' is not at rest and goes through them, and neither acts on the other",
                         obstacle.body.name));
  }
}

}  // namespace

std::vector<Remark> shape_remarks(const Scene& scene) {
  std::vector<Remark> out;
  for (const FibreGroup& group : scene.fibres) {
    out.insert(out.end(), group.remarks.begin(), group.remarks.end());
    look_at_thickness(group, out);
  }
  for (const Obstacle& obstacle : scene.obstacles) look_at_mesh(obstacle, out);
  for (const Surface& surface : scene.surfaces) look_at_surface(scene, surface, out);
  if (scene.grains) look_at_grains(scene, out);
  return out;
}

std::vector<Remark> remarks(const Scene& scene) {
  std::vector<Remark> out = shape_remarks(scene);
  for (Remark& remark : time_step_remarks(scene)) out.push_back(std::move(remark));
  return out;
}

}  // namespace tresse::scene
