#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/bodies/shapes.hpp>
#include <tresse/dynamics/report.hpp>
#include <tresse/grains/flow.hpp>
#include <tresse/surfaces/surface.hpp>

namespace tresse::observe {

/// What a trajectory says once: which point belongs to which fibre, and the obstacles' shapes. Flat arrays, row-major.
/// n fibres, P centreline points and m curvatures over all fibres, o obstacles, C capsules, Q planes, M
/// meshes with T faces and, over the frames of their animations, V vertices.
struct TrajectoryLayout {
  std::string scene;    ///< the resolved scene's text
  std::string version;  ///< of the program

  std::vector<std::int64_t> point_offsets;      ///< (n + 1) points of fibre i: point_offsets[i] to point_offsets[i + 1]
  std::vector<double> arc_length;               ///< (P) from the root [m]
  std::vector<double> radius;                   ///< (P) of the tube that touches [m]
  std::vector<std::int64_t> curvature_offsets;  ///< (n + 1) the same for the generalised coordinates
  std::vector<std::uint8_t> root_is_free;       ///< (n) 0: clamped, 1: free
  std::vector<std::int32_t> group;              ///< (n) index in group_names
  std::vector<std::string> group_names;         ///< fibre groups of the scene

  std::vector<std::string> obstacle_names;     ///< (o)
  std::vector<double> obstacle_reference;      ///< (o, 3) point that rotations turn about, at the reference pose [m]
  std::vector<double> capsule_from;            ///< (C, 3) at the reference pose [m]
  std::vector<double> capsule_to;              ///< (C, 3) [m]
  std::vector<double> capsule_radius;          ///< (C) [m]
  std::vector<std::int32_t> capsule_obstacle;  ///< (C)
  std::vector<double> plane_point;             ///< (Q, 3) at the reference pose [m]
  std::vector<double> plane_normal;            ///< (Q, 3) unit, away from the solid [-]
  std::vector<std::int32_t> plane_obstacle;    ///< (Q)

  std::vector<std::int32_t> mesh_obstacle;  ///< (M)
  std::vector<std::int64_t> mesh_faces;     ///< (M) how many
  std::vector<std::int64_t> mesh_vertices;  ///< (M) how many, of one frame
  std::vector<std::int64_t> mesh_frames;    ///< (M) of its animation, >= 1
  std::vector<double> mesh_rate;            ///< (M) frames per second, the first at time zero [Hz]
  std::vector<double> mesh_vertex;          ///< (V, 3) mesh by mesh, frame by frame, at the reference pose [m]
  std::vector<std::int32_t> mesh_face;      ///< (T, 3) mesh by mesh, vertices of the mesh

  std::vector<std::string> surface_names;      ///< (S) of bodies that are surfaces
  std::vector<std::int64_t> surface_vertices;  ///< (S) how many
  std::vector<std::int64_t> surface_faces;     ///< (S) how many
  std::vector<std::int32_t> surface_face;      ///< (faces of all, 3) surface by surface, vertices of the surface

  std::vector<std::int32_t> grain_nodes;  ///< (3) of the grid of grains along x, y, z; empty without grains
  std::vector<std::int32_t> grain_cells;  ///< (3) likewise
  std::vector<double> grain_node;         ///< (N, 3) where each node is, along x first, then y, then z [m]
  std::vector<double> grain_cell;         ///< (K, 3) centre of each cell, in the same order [m]

  std::size_t fibre_count() const { return group.size(); }
  std::size_t point_count() const { return arc_length.size(); }
  std::size_t curvature_count() const {
    return curvature_offsets.empty() ? 0 : static_cast<std::size_t>(curvature_offsets.back());
  }
  std::size_t obstacle_count() const { return obstacle_names.size(); }
  std::size_t surface_count() const { return surface_names.size(); }
  bool has_grains() const { return !grain_nodes.empty(); }

  bool operator==(const TrajectoryLayout&) const = default;
};

/// One instant. Flat arrays, row-major; a frame matrix is stored by rows, its columns are the axes. k contacts.
struct Frame {
  double time = 0.0;      ///< [s]
  std::int64_t step = 0;  ///< 0: the initial state

  std::vector<double> points;          ///< (P, 3) centreline [m]
  std::vector<double> force;           ///< (P, 3) internal force: tension, shear along n1, shear along n2 [N]
  std::vector<double> moment;          ///< (P, 3) internal moment: twist, bending about n1, bending about n2 [N m]
  std::vector<double> curvature;       ///< (m) generalised coordinates of each fibre [1/m]
  std::vector<double> curvature_rate;  ///< (m) [1/(m s)]
  std::vector<double> root_position;   ///< (n, 3) [m]
  std::vector<double> root_frame;      ///< (n, 3, 3) columns n0 (tangent), n1, n2

  std::vector<double> surface_vertex;  ///< (vertices of all surfaces, 3) surface by surface [m]

  std::vector<double> grain_velocity;  ///< (N, 3) at the nodes [m/s]
  std::vector<double> grain_pressure;  ///< (K) between grains, 0 in obstacles [Pa]
  std::vector<double> grain_fraction;  ///< (K) of the cell that grains fill: 1, or 0 in obstacles [-]

  std::vector<double> obstacle_position;  ///< (o, 3) of the moved reference point [m]
  std::vector<double> obstacle_frame;     ///< (o, 3, 3) rotation from the reference pose
  /// (o, 3) that fibres, free bodies and grains exert, over the last step, world axes [N]
  std::vector<double> obstacle_force;
  std::vector<double> obstacle_torque;  ///< (o, 3) about the moved reference point, world axes [N m]

  std::vector<std::int32_t> contact_fibre_a;     ///< (k) -1 - o: free obstacle o
  std::vector<std::int32_t> contact_fibre_b;     ///< (k) -1: an obstacle
  std::vector<std::int32_t> contact_obstacle_b;  ///< (k) -1: a fibre
  std::vector<std::int32_t> contact_part_b;      ///< (k) capsule or face of the obstacle, -1: a fibre or a plane
  std::vector<double> contact_s_a;               ///< (k) arc length from the root, or along the obstacle's axis [m]
  std::vector<double> contact_s_b;               ///< (k) arc length from the root, or along the obstacle's axis [m]
  std::vector<double> contact_point_a;           ///< (k, 3) on a's centreline or axis [m]
  std::vector<double> contact_point_b;           ///< (k, 3) on b's centreline or axis [m]
  std::vector<double> contact_normal;            ///< (k, 3) unit, from a to b
  std::vector<double> contact_force;             ///< (k, 3) that a exerts on b, world axes [N]
  std::vector<double> contact_gap;               ///< (k) < 0: penetrating [m]
  std::vector<std::uint8_t> contact_state;       ///< (k) 0: open, 1: stick, 2: slide

  std::size_t contact_count() const { return contact_gap.size(); }
  bool operator==(const Frame&) const = default;
};

/// Row i of a flat array (n, 3); matrix i of one (n, 3, 3).
inline Vector3 vector_at(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}
inline Matrix3 matrix_at(const std::vector<double>& values, std::size_t i) {
  Matrix3 out;
  for (int j = 0; j < 3; ++j) out.row(j) = vector_at(values, 3 * i + static_cast<std::size_t>(j));
  return out;
}

/// Appends three numbers, or nine by rows.
void append(std::vector<double>& into, const Vector3& value);
void append(std::vector<double>& into, const Matrix3& value);

/// Adds the name and faces of the next surface; its vertices to a frame.
void add_surface(TrajectoryLayout& layout, const std::string& name, const surfaces::Surface& surface);
void add_surface(Frame& frame, const surfaces::Surface& surface, const surfaces::SurfaceState& state);

/// Adds the grid of grains; their state to a frame.
void add_grains(TrajectoryLayout& layout, const grains::Medium& medium);
void add_grains(Frame& frame, const grains::Flow& flow, const grains::GrainState& state);

/// Adds the name and shape of the next obstacle.
void add_obstacle(TrajectoryLayout& layout, const bodies::Obstacle& obstacle);

void add_contact(Frame& frame, const dynamics::ContactReport& contact);

/// Moved place of the next obstacle and what the fibres did to it. `pose`: the obstacle's frame, origin at its moved
/// reference point.
void add_obstacle(Frame& frame, const Pose& pose, const dynamics::ObstacleLoad& load);

/// Throws InvalidInput, naming the array, when sizes disagree.
void validate(const TrajectoryLayout& layout);
void validate(const Frame& frame, const TrajectoryLayout& layout);

}  // namespace tresse::observe
