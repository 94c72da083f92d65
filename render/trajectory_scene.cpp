#include "render/trajectory_scene.hpp"

#include <algorithm>
#include <optional>

#include <tresse/observe/layout_meshes.hpp>
#include <tresse/observe/layout_surfaces.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::render {
namespace {

/// Moves reference-pose points of one obstacle.
struct Displacement {
  Vector3 reference;
  Vector3 position;
  Matrix3 frame;

  Vector3 operator()(const Vector3& x) const { return position + frame * (x - reference); }
};

std::vector<Displacement> displacements(const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  std::vector<Displacement> out;
  for (std::size_t i = 0; i < layout.obstacle_count(); ++i) {
    out.push_back({observe::vector_at(layout.obstacle_reference, i), observe::vector_at(frame.obstacle_position, i),
                   observe::matrix_at(frame.obstacle_frame, i)});
  }
  return out;
}

/// Sections and frames are not in a trajectory: for fibres of elliptic section the rod is built anew from the run's
/// scene and takes the frame's coordinates. Not discrete elastic rods, whose reference frames a frame does not hold.
std::optional<scene::Case> rods_of(const observe::TrajectoryLayout& layout) {
  if (layout.scene.find("half_axis_1") == std::string::npos) return std::nullopt;
  return scene::build(scene_file::parse_scene_without_meshes(layout.scene, "the run's scene"));
}

bool is_flat(const rods::RodModel& rod) { return rod.surface_reach().minCoeff() < 0.99 * rod.contact_radius(); }

/// The tube of elliptic section around one fibre's points.
void add_section(Fibre& out, const rods::Rod& rod, const double* arc_length) {
  const Eigen::Index n = out.points.cols();
  for (Matrix3X* columns : {&out.tangents, &out.half_axis_1, &out.half_axis_2}) columns->resize(3, n);
  const double stretch = rod.length() / arc_length[n - 1];  // of a fibre that grows
  const Vector3 reach = rod.surface_reach();
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto section = rod.section(std::min(rod.length(), stretch * arc_length[i]));
    out.tangents.col(i) = section.frame.col(0);
    out.half_axis_1.col(i) = reach.z() * section.frame.col(1);
    out.half_axis_2.col(i) = reach.y() * section.frame.col(2);
  }
}

void add_sections(Scene& scene, const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  std::optional<scene::Case> built = rods_of(layout);
  if (!built) return;
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) {
    const assembly::Fibre& fibre = built->world.fibres[i];
    rods::RodState state = built->state.rods[i];
    if (!is_flat(*fibre.model) || state.memory.size() > 0) continue;
    const auto rod = fibre.model->make_rod();
    assembly::set_natural_shape(fibre, frame.time, *rod);
    const std::int64_t first = layout.curvature_offsets[i];
    state.coordinates =
        Eigen::Map<const VectorX>(frame.curvature.data() + first, layout.curvature_offsets[i + 1] - first);
    state.root.position = observe::vector_at(frame.root_position, i);
    state.root.frame = observe::matrix_at(frame.root_frame, i);
    rod->update(state);
    add_section(scene.fibres[i], *rod, layout.arc_length.data() + layout.point_offsets[i]);
  }
}

Fibre fibre_of(const observe::TrajectoryLayout& layout, const observe::Frame& frame, std::size_t i) {
  const std::int64_t first = layout.point_offsets[i];
  const std::int64_t n = layout.point_offsets[i + 1] - first;
  Fibre out;
  out.points = Eigen::Map<const Matrix3X>(frame.points.data() + 3 * first, 3, n);
  out.radii = Eigen::Map<const VectorX>(layout.radius.data() + first, n);
  out.group = layout.group[i];
  return out;
}

void add_meshes(Scene& scene, const observe::TrajectoryLayout& layout, const std::vector<Displacement>& moved,
                double time) {
  for (const observe::LayoutMesh& from : observe::meshes_of(layout)) {
    Mesh& mesh = scene.meshes.emplace_back();
    mesh.vertices = observe::vertices_at(from, time);
    mesh.obstacle = static_cast<int>(from.obstacle);
    for (Vector3& x : mesh.vertices) x = moved[from.obstacle](x);
    for (std::size_t f = 0; f < from.face.size(); f += 3)
      mesh.faces.push_back({from.face[f], from.face[f + 1], from.face[f + 2]});
  }
}

/// Their looks come after those of the obstacles.
void add_surfaces(Scene& scene, const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  auto look = static_cast<int>(layout.obstacle_count());
  for (const observe::LayoutSurface& from : observe::surfaces_of(layout)) {
    Mesh& mesh = scene.meshes.emplace_back();
    mesh.obstacle = look++;
    for (std::size_t v = 0; v < from.vertices; ++v) mesh.vertices.push_back(from.vertex(frame, v));
    for (std::size_t f = 0; f < from.face.size(); f += 3)
      mesh.faces.push_back({from.face[f], from.face[f + 1], from.face[f + 2]});
  }
}

}  // namespace

Scene scene_of(const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  observe::validate(layout);
  observe::validate(frame, layout);
  Scene scene;
  for (std::size_t i = 0; i < layout.fibre_count(); ++i) scene.fibres.push_back(fibre_of(layout, frame, i));
  add_sections(scene, layout, frame);
  const std::vector<Displacement> moved = displacements(layout, frame);
  scene.capsule_obstacle.assign(layout.capsule_obstacle.begin(), layout.capsule_obstacle.end());
  scene.plane_obstacle.assign(layout.plane_obstacle.begin(), layout.plane_obstacle.end());
  for (std::size_t i = 0; i < layout.capsule_radius.size(); ++i) {
    const Displacement& move = moved[static_cast<std::size_t>(layout.capsule_obstacle[i])];
    scene.capsules.push_back({move(observe::vector_at(layout.capsule_from, i)),
                              move(observe::vector_at(layout.capsule_to, i)), layout.capsule_radius[i]});
  }
  for (std::size_t i = 0; i < layout.plane_obstacle.size(); ++i) {
    const Displacement& move = moved[static_cast<std::size_t>(layout.plane_obstacle[i])];
    scene.planes.push_back(
        {move(observe::vector_at(layout.plane_point, i)), move.frame * observe::vector_at(layout.plane_normal, i)});
  }
  add_meshes(scene, layout, moved, frame.time);
  add_surfaces(scene, layout, frame);
  for (std::size_t i = 0; i < frame.contact_count(); ++i) {
    if (frame.contact_obstacle_b[i] >= 0 && frame.contact_part_b[i] >= 0) {
      scene.contacts.push_back(observe::vector_at(frame.contact_point_a, i));
    }
  }
  return scene;
}

}  // namespace tresse::render
