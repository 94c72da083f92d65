#pragma once

#include <cstddef>

#include <tresse/files/hdf5.hpp>
#include <tresse/observe/frame.hpp>

/// Every array of a trajectory, listed once: the log, trajectory.h5, their readers and docs/reference/files.md follow
/// this list.
namespace tresse::observe {

/// What an array has one row of.
enum class Per {
  point,
  curvature,
  fibre,
  offset,
  obstacle,
  contact,
  capsule,
  plane,
  mesh,
  mesh_vertex,
  mesh_face,
  surface,
  surface_face,
  axis,
  grain_node,
  grain_cell
};

struct Field {
  const char* name;     ///< in trajectory.h5
  Per per;              ///< outermost extent (after the frame)
  files::Shape inner;   ///< extents of one row
  const char* unit;     ///< empty: none
  const char* meaning;  ///< attribute of the dataset
};

inline std::size_t width(const Field& field) {
  std::size_t count = 1;
  for (const std::size_t extent : field.inner) count *= extent;
  return count;
}

/// Runs of before there were meshes have no such array.
inline bool of_meshes(const Field& field) {
  return field.per == Per::mesh || field.per == Per::mesh_vertex || field.per == Per::mesh_face;
}

/// visit(Field, array) for every numeric array of a layout.
template <class Layout, class Visit>
void for_each_array(Layout& x, Visit&& visit) {
  visit(Field{"fibres/point_offsets", Per::offset, {}, "", "points of fibre i: from entry i to entry i + 1"},
        x.point_offsets);
  visit(Field{"fibres/arc_length", Per::point, {}, "m", "from the root"}, x.arc_length);
  visit(Field{"fibres/radius", Per::point, {}, "m", "of the tube that touches"}, x.radius);
  visit(Field{"fibres/curvature_offsets", Per::offset, {}, "", "curvatures of fibre i: from entry i to entry i + 1"},
        x.curvature_offsets);
  visit(Field{"fibres/root_is_free", Per::fibre, {}, "", "0: clamped, 1: free"}, x.root_is_free);
  visit(Field{"fibres/group", Per::fibre, {}, "", "index in fibres/group_names"}, x.group);
  visit(Field{"obstacles/reference", Per::obstacle, {3}, "m", "point that rotations turn about, reference pose"},
        x.obstacle_reference);
  visit(Field{"obstacles/capsules/from", Per::capsule, {3}, "m", "reference pose"}, x.capsule_from);
  visit(Field{"obstacles/capsules/to", Per::capsule, {3}, "m", "reference pose"}, x.capsule_to);
  visit(Field{"obstacles/capsules/radius", Per::capsule, {}, "m", ""}, x.capsule_radius);
  visit(Field{"obstacles/capsules/obstacle", Per::capsule, {}, "", "index in obstacles/names"}, x.capsule_obstacle);
  visit(Field{"obstacles/planes/point", Per::plane, {3}, "m", "reference pose"}, x.plane_point);
  visit(Field{"obstacles/planes/normal", Per::plane, {3}, "", "unit, away from the solid, reference pose"},
        x.plane_normal);
  visit(Field{"obstacles/planes/obstacle", Per::plane, {}, "", "index in obstacles/names"}, x.plane_obstacle);
  visit(Field{"obstacles/meshes/obstacle", Per::mesh, {}, "", "index in obstacles/names"}, x.mesh_obstacle);
  visit(Field{"obstacles/meshes/faces", Per::mesh, {}, "", "number of faces"}, x.mesh_faces);
  visit(Field{"obstacles/meshes/vertices", Per::mesh, {}, "", "number of vertices in a frame"}, x.mesh_vertices);
  visit(Field{"obstacles/meshes/frames", Per::mesh, {}, "", "number of frames of its animation"}, x.mesh_frames);
  visit(Field{"obstacles/meshes/rate", Per::mesh, {}, "Hz", "frames per second, the first at time zero"}, x.mesh_rate);
  visit(Field{"obstacles/meshes/vertex", Per::mesh_vertex, {3}, "m", "mesh by mesh, frame by frame, reference pose"},
        x.mesh_vertex);
  visit(Field{"obstacles/meshes/face", Per::mesh_face, {3}, "", "mesh by mesh, vertices of the mesh"}, x.mesh_face);
}

/// visit(Field, array) for every numeric array about surfaces, of a layout that has any: others, and those of earlier
/// versions, are without. The vertices of a frame are `surfaces/NAME/vertices`, a data set a surface.
template <class Layout, class Visit>
void for_each_surface_array(Layout& x, Visit&& visit) {
  visit(Field{"surfaces/vertex_counts", Per::surface, {}, "", "number of vertices"}, x.surface_vertices);
  visit(Field{"surfaces/face_counts", Per::surface, {}, "", "number of faces"}, x.surface_faces);
  visit(Field{"surfaces/face", Per::surface_face, {3}, "", "surface by surface, vertices of the surface"},
        x.surface_face);
}

/// visit(Field, array) for every array about grains, of a layout that has any.
template <class Layout, class Visit>
void for_each_grain_array(Layout& x, Visit&& visit) {
  visit(Field{"grains/node_counts", Per::axis, {}, "", "of the grid along x, y, z"}, x.grain_nodes);
  visit(Field{"grains/cell_counts", Per::axis, {}, "", "likewise"}, x.grain_cells);
  visit(Field{"grains/node", Per::grain_node, {3}, "m", "where it is; along x first, then y, then z"}, x.grain_node);
  visit(Field{"grains/cell", Per::grain_cell, {3}, "m", "its centre, in the same order"}, x.grain_cell);
}

/// The same for a frame.
template <class AnyFrame, class Visit>
void for_each_grain_array_of_frame(AnyFrame& x, Visit&& visit) {
  visit(Field{"grains/velocity", Per::grain_node, {3}, "m/s", "at the node"}, x.grain_velocity);
  visit(Field{"grains/pressure", Per::grain_cell, {}, "Pa", "between grains, 0 in obstacles"}, x.grain_pressure);
  visit(Field{"grains/fraction", Per::grain_cell, {}, "", "of the cell that grains fill: 1, or 0 in obstacles"},
        x.grain_fraction);
}

/// visit(Field, array) for every array of a frame but the vertices of surfaces and those about grains; the contacts'
/// last.
template <class AnyFrame, class Visit>
void for_each_array_of_frame(AnyFrame& x, Visit&& visit) {
  visit(Field{"fibres/points", Per::point, {3}, "m", "centreline"}, x.points);
  visit(Field{"fibres/force", Per::point, {3}, "N", "internal: tension, shear along n1, shear along n2"}, x.force);
  visit(Field{"fibres/moment", Per::point, {3}, "N m", "internal: twist, bending about n1, bending about n2"},
        x.moment);
  visit(Field{"fibres/curvature", Per::curvature, {}, "1/m", "generalised coordinates"}, x.curvature);
  visit(Field{"fibres/curvature_rate", Per::curvature, {}, "1/(m s)", "their rates"}, x.curvature_rate);
  visit(Field{"fibres/root_position", Per::fibre, {3}, "m", ""}, x.root_position);
  visit(Field{"fibres/root_frame", Per::fibre, {3, 3}, "", "columns n0 (tangent), n1, n2"}, x.root_frame);
  visit(Field{"obstacles/position", Per::obstacle, {3}, "m", "of the moved reference point"}, x.obstacle_position);
  visit(Field{"obstacles/frame", Per::obstacle, {3, 3}, "", "rotation from the reference pose"}, x.obstacle_frame);
  visit(
      Field{"obstacles/force", Per::obstacle, {3}, "N", "that fibres, free bodies and grains exert over the last step"},
      x.obstacle_force);
  visit(Field{"obstacles/torque", Per::obstacle, {3}, "N m", "of that force about the moved reference point"},
        x.obstacle_torque);
  visit(Field{"contacts/fibre_a", Per::contact, {}, "", "index of the fibre, -1 - k: free obstacle k"},
        x.contact_fibre_a);
  visit(Field{"contacts/fibre_b", Per::contact, {}, "", "index of the fibre, -1: an obstacle"}, x.contact_fibre_b);
  visit(Field{"contacts/obstacle_b", Per::contact, {}, "", "index in obstacles/names, -1: a fibre"},
        x.contact_obstacle_b);
  visit(Field{"contacts/part_b",
              Per::contact,
              {},
              "",
              "capsule of the obstacle or face of the mesh, -1: a fibre or a plane"},
        x.contact_part_b);
  visit(Field{"contacts/s_a", Per::contact, {}, "m", "arc length from the root, or along the obstacle's axis"},
        x.contact_s_a);
  visit(Field{"contacts/s_b", Per::contact, {}, "m", "arc length from the root, or along the obstacle's axis"},
        x.contact_s_b);
  visit(Field{"contacts/point_a", Per::contact, {3}, "m", "on a's centreline or axis"}, x.contact_point_a);
  visit(Field{"contacts/point_b", Per::contact, {3}, "m", "on b's centreline or axis"}, x.contact_point_b);
  visit(Field{"contacts/normal", Per::contact, {3}, "", "unit, from a to b"}, x.contact_normal);
  visit(Field{"contacts/force", Per::contact, {3}, "N", "that a exerts on b"}, x.contact_force);
  visit(Field{"contacts/gap", Per::contact, {}, "m", "between the surfaces, negative: penetrating"}, x.contact_gap);
  visit(Field{"contacts/state", Per::contact, {}, "", "0: open, 1: stick, 2: slide"}, x.contact_state);
}

/// Rows that an array of `layout` or of one of its frames has. `contacts`: of the frame.
inline std::size_t rows(Per per, const TrajectoryLayout& layout, std::size_t contacts) {
  switch (per) {
    case Per::point:
      return layout.point_count();
    case Per::curvature:
      return layout.curvature_count();
    case Per::fibre:
      return layout.fibre_count();
    case Per::offset:
      return layout.fibre_count() + 1;
    case Per::obstacle:
      return layout.obstacle_count();
    case Per::contact:
      return contacts;
    case Per::capsule:
      return layout.capsule_radius.size();
    case Per::plane:
      return layout.plane_obstacle.size();
    case Per::mesh:
      return layout.mesh_obstacle.size();
    case Per::mesh_vertex:
      return layout.mesh_vertex.size() / 3;  // against what the meshes say: validate()
    case Per::mesh_face:
      return layout.mesh_face.size() / 3;
    case Per::surface:
      return layout.surface_count();
    case Per::surface_face:
      return layout.surface_face.size() / 3;  // likewise
    case Per::axis:
      return layout.has_grains() ? 3 : 0;
    case Per::grain_node:
      return layout.grain_node.size() / 3;  // likewise
    case Per::grain_cell:
      return layout.grain_cell.size() / 3;
  }
  return 0;
}

}  // namespace tresse::observe
