#include <tresse/observe/frame.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/observe/frame_arrays.hpp>

namespace tresse::observe {
namespace {

void check_offsets(const char* name, const std::vector<std::int64_t>& offsets, std::size_t end) {
  bool good = !offsets.empty() && offsets.front() == 0;
  for (std::size_t i = 1; good && i < offsets.size(); ++i) good = offsets[i] >= offsets[i - 1];
  if (good && offsets.back() == static_cast<std::int64_t>(end)) return;
  throw InvalidInput(fmt::format("trajectory: '{}' must rise from 0 to {}", name, end));
}

void check_indices(const char* name, const std::vector<std::int32_t>& indices, std::size_t count) {
  for (const std::int32_t index : indices) {
    if (index >= 0 && static_cast<std::size_t>(index) < count) continue;
    throw InvalidInput(
        fmt::format("trajectory: '{}' holds {}, expected 0 to {}", name, index, static_cast<std::int64_t>(count) - 1));
  }
}

/// Visitor that compares sizes.
struct SizeCheck {
  const TrajectoryLayout& layout;
  std::size_t contacts;

  template <class T>
  void operator()(const observe::Field& field, const std::vector<T>& array) const {
    const std::size_t expected = observe::rows(field.per, layout, contacts) * observe::width(field);
    if (array.size() == expected) return;
    throw InvalidInput(fmt::format("trajectory: '{}' has {} values, expected {}", field.name, array.size(), expected));
  }
};

}  // namespace

void append(std::vector<double>& into, const Vector3& value) { into.insert(into.end(), value.begin(), value.end()); }

void append(std::vector<double>& into, const Matrix3& value) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) into.push_back(value(i, j));
  }
}

namespace {

void add_mesh(TrajectoryLayout& layout, const bodies::Surface& surface, std::int32_t obstacle) {
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  layout.mesh_obstacle.push_back(obstacle);
  layout.mesh_faces.push_back(count(surface.topology->faces()));
  layout.mesh_vertices.push_back(count(surface.frames.front()));
  layout.mesh_frames.push_back(count(surface.frames));
  layout.mesh_rate.push_back(surface.rate);
  for (const std::vector<Vector3>& frame : surface.frames) {
    for (const Vector3& x : frame) append(layout.mesh_vertex, x);
  }
  for (const geometry::Face& face : surface.topology->faces())
    layout.mesh_face.insert(layout.mesh_face.end(), face.begin(), face.end());
}

/// That the meshes fit in what there is of vertices and faces.
void check_meshes(const TrajectoryLayout& layout) {
  const auto fail = [] { throw InvalidInput("trajectory: 'obstacles/meshes' do not add up"); };
  std::size_t vertices = layout.mesh_vertex.size() / 3;
  std::size_t faces = layout.mesh_face.size() / 3;
  auto face = layout.mesh_face.begin();
  for (std::size_t i = 0; i < layout.mesh_obstacle.size(); ++i) {
    const std::int64_t counts[] = {layout.mesh_faces[i], layout.mesh_vertices[i], layout.mesh_frames[i]};
    for (const std::int64_t count : counts) {
      if (count < 1) fail();
    }
    const auto of_frame = static_cast<std::size_t>(counts[1]);
    if (static_cast<std::size_t>(counts[0]) > faces || of_frame > vertices ||
        static_cast<std::size_t>(counts[2]) > vertices / of_frame || !(layout.mesh_rate[i] > 0.0) ||
        !std::isfinite(layout.mesh_rate[i]))
      fail();
    faces -= static_cast<std::size_t>(counts[0]);
    vertices -= of_frame * static_cast<std::size_t>(counts[2]);
    for (const auto end = face + 3 * counts[0]; face != end; ++face) {
      if (*face < 0 || static_cast<std::size_t>(*face) >= of_frame) fail();
    }
  }
  if (faces != 0 || vertices != 0) fail();
  require(std::all_of(layout.mesh_vertex.begin(), layout.mesh_vertex.end(), [](double x) { return std::isfinite(x); }),
          "trajectory: 'obstacles/meshes/vertex' holds a number that is not finite");
}

void require_shapes(const TrajectoryLayout& layout) {
  std::vector<bool> has(layout.obstacle_count(), false);
  for (const std::vector<std::int32_t>* of :
       {&layout.capsule_obstacle, &layout.plane_obstacle, &layout.mesh_obstacle}) {
    for (const std::int32_t obstacle : *of) has[static_cast<std::size_t>(obstacle)] = true;
  }
  const auto without = std::find(has.begin(), has.end(), false);
  require(without == has.end(), [&] {
    return fmt::format("trajectory: obstacle '{}' has no capsule, plane or mesh in 'obstacles'",
                       layout.obstacle_names[static_cast<std::size_t>(without - has.begin())]);
  });
}

}  // namespace

void add_obstacle(TrajectoryLayout& layout, const bodies::Obstacle& obstacle) {
  const auto index = static_cast<std::int32_t>(layout.obstacle_names.size());
  layout.obstacle_names.push_back(obstacle.name);
  append(layout.obstacle_reference, obstacle.reference);
  const bodies::Parts parts = bodies::parts(obstacle.shape);
  for (const bodies::HalfSpace& plane : parts.planes) {
    append(layout.plane_point, plane.point);
    append(layout.plane_normal, plane.normal);
    layout.plane_obstacle.push_back(index);
  }
  for (const bodies::Shell& shell : parts.shells) add_mesh(layout, *shell.surface, index);
  for (const bodies::Bar& bar : bodies::bars(obstacle.shape)) {
    append(layout.capsule_from, bar.from);
    append(layout.capsule_to, bar.to);
    layout.capsule_radius.push_back(bar.radius);
    layout.capsule_obstacle.push_back(index);
  }
}

void add_contact(Frame& frame, const dynamics::ContactReport& contact) {
  frame.contact_fibre_a.push_back(contact.a.body.is_fibre() ? contact.a.body.index : -1 - contact.a.body.index);
  frame.contact_fibre_b.push_back(contact.b.body.fibre());
  frame.contact_obstacle_b.push_back(contact.b.body.obstacle());
  frame.contact_part_b.push_back(contact.b.part);
  frame.contact_s_a.push_back(contact.a.s);
  frame.contact_s_b.push_back(contact.b.s);
  append(frame.contact_point_a, contact.point_a);
  append(frame.contact_point_b, contact.point_b);
  append(frame.contact_normal, contact.normal);
  append(frame.contact_force, contact.force);
  frame.contact_gap.push_back(contact.gap);
  frame.contact_state.push_back(static_cast<std::uint8_t>(contact.state));
}

void add_obstacle(Frame& frame, const Pose& pose, const dynamics::ObstacleLoad& load) {
  append(frame.obstacle_position, pose.position);
  append(frame.obstacle_frame, pose.frame);
  append(frame.obstacle_force, load.force);
  append(frame.obstacle_torque, load.torque);
}

namespace {

/// Vertices of all surfaces.
std::size_t surface_vertex_count(const TrajectoryLayout& layout) {
  std::size_t out = 0;
  for (const std::int64_t count : layout.surface_vertices) out += static_cast<std::size_t>(count);
  return out;
}

/// That the surfaces fit in what there is of faces.
void check_surfaces(const TrajectoryLayout& layout) {
  const auto fail = [] { throw InvalidInput("trajectory: 'surfaces' do not add up"); };
  constexpr std::int64_t most = 1'000'000'000;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layout.surface_count(); ++i) {
    const std::int64_t vertices = layout.surface_vertices[i], faces = layout.surface_faces[i];
    if (vertices < 1 || vertices > most || faces < 1 || faces > most) fail();
    const std::size_t end = begin + 3 * static_cast<std::size_t>(faces);
    if (end > layout.surface_face.size()) fail();
    for (; begin < end; ++begin) {
      if (layout.surface_face[begin] < 0 || layout.surface_face[begin] >= vertices) fail();
    }
  }
  if (begin != layout.surface_face.size()) fail();
}

/// That there is a place for every node and cell that are counted.
void check_grains(const TrajectoryLayout& layout) {
  const auto product = [](const std::vector<std::int32_t>& counts) {
    std::size_t out = counts.empty() ? 0 : 1;
    for (const std::int32_t count : counts) out *= static_cast<std::size_t>(std::clamp(count, 0, 1 << 20));
    return out;
  };
  require(layout.grain_node.size() == 3 * product(layout.grain_nodes) &&
              layout.grain_cell.size() == 3 * product(layout.grain_cells),
          "trajectory: 'grains' do not add up");
}

}  // namespace

void add_surface(TrajectoryLayout& layout, const std::string& name, const surfaces::Surface& surface) {
  layout.surface_names.push_back(name);
  layout.surface_vertices.push_back(surface.vertex_count());
  layout.surface_faces.push_back(static_cast<std::int64_t>(surface.faces().size()));
  for (const geometry::Face& face : surface.faces())
    layout.surface_face.insert(layout.surface_face.end(), face.begin(), face.end());
}

void add_surface(Frame& frame, const surfaces::Surface& surface, const surfaces::SurfaceState& state) {
  for (const Vector3& x : surface.vertices(state)) append(frame.surface_vertex, x);
}

void add_grains(TrajectoryLayout& layout, const grains::Medium& medium) {
  const auto nodes = grains::node_counts(medium), cells = grains::cell_counts(medium);
  layout.grain_nodes.assign(nodes.begin(), nodes.end());
  layout.grain_cells.assign(cells.begin(), cells.end());
  for (int node = 0; node < grains::node_count(medium); ++node)
    append(layout.grain_node, grains::node_place(medium, node));
  for (int cell = 0; cell < grains::cell_count(medium); ++cell)
    append(layout.grain_cell, grains::cell_centre(medium, cell));
}

void add_grains(Frame& frame, const grains::Flow& flow, const grains::GrainState& state) {
  const VectorX pressure = flow.pressure(state);
  const std::vector<int>& solid = flow.medium().solid;
  frame.grain_velocity.assign(state.velocity.begin(), state.velocity.end());
  frame.grain_pressure.assign(pressure.begin(), pressure.end());
  frame.grain_fraction.assign(frame.grain_pressure.size(), 1.0);
  for (std::size_t cell = 0; cell < solid.size(); ++cell) {
    if (solid[cell] >= 0) frame.grain_fraction[cell] = 0.0;
  }
}

void validate(const TrajectoryLayout& layout) {
  observe::for_each_array(layout, SizeCheck{layout, 0});
  observe::for_each_surface_array(layout, SizeCheck{layout, 0});
  check_surfaces(layout);
  observe::for_each_grain_array(layout, SizeCheck{layout, 0});
  check_grains(layout);
  check_offsets("fibres/point_offsets", layout.point_offsets, layout.point_count());
  check_offsets("fibres/curvature_offsets", layout.curvature_offsets, layout.curvature_count());
  check_indices("fibres/group", layout.group, layout.group_names.size());
  check_indices("obstacles/capsules/obstacle", layout.capsule_obstacle, layout.obstacle_count());
  check_indices("obstacles/planes/obstacle", layout.plane_obstacle, layout.obstacle_count());
  check_indices("obstacles/meshes/obstacle", layout.mesh_obstacle, layout.obstacle_count());
  check_meshes(layout);
  require_shapes(layout);
}

void validate(const Frame& frame, const TrajectoryLayout& layout) {
  observe::for_each_array_of_frame(frame, SizeCheck{layout, frame.contact_count()});
  observe::for_each_grain_array_of_frame(frame, SizeCheck{layout, 0});
  const std::size_t expected = 3 * surface_vertex_count(layout);
  require(frame.surface_vertex.size() == expected, [&] {
    return fmt::format("trajectory: the surfaces have {} values, expected {}", frame.surface_vertex.size(), expected);
  });
}

}  // namespace tresse::observe
