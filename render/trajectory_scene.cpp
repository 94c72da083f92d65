#include "render/trajectory_scene.hpp"

namespace tresse::render {
namespace {

Vector3 vector_at(const std::vector<double>& rows, std::size_t i) {
  return {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]};
}

/// Moves reference-pose points of one obstacle.
struct Displacement {
  Vector3 reference;
  Vector3 position;
  Matrix3 frame;

  Vector3 operator()(const Vector3& x) const { return position + frame * (x - reference); }
};

std::vector<Displacement> displacements(const io::TrajectoryLayout& layout, const io::Frame& frame) {
  std::vector<Displacement> out;
  for (std::size_t i = 0; i < layout.obstacle_count(); ++i) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> rotation(&frame.obstacle_frame[9 * i]);
    out.push_back({vector_at(layout.obstacle_reference, i), vector_at(frame.obstacle_position, i), rotation});
  }
  return out;
}

Fibre fibre_of(const io::TrajectoryLayout& layout, const io::Frame& frame, std::size_t i) {
  const std::int64_t first = layout.point_offsets[i];
  const std::int64_t n = layout.point_offsets[i + 1] - first;
  Fibre out;
  out.points = Eigen::Map<const Matrix3X>(frame.points.data() + 3 * first, 3, n);
  out.radii = Eigen::Map<const VectorX>(layout.radius.data() + first, n);
  return out;
}

}  // namespace

Scene scene_of(const io::TrajectoryLayout& layout, const io::Frame& frame) {
  io::validate(layout);
  io::validate(frame, layout);
  Scene scene;
  for (std::size_t i = 0; i < layout.fibre_count(); ++i) scene.fibres.push_back(fibre_of(layout, frame, i));
  const std::vector<Displacement> moved = displacements(layout, frame);
  for (std::size_t i = 0; i < layout.capsule_radius.size(); ++i) {
    const Displacement& move = moved[static_cast<std::size_t>(layout.capsule_obstacle[i])];
    scene.capsules.push_back(
        {move(vector_at(layout.capsule_from, i)), move(vector_at(layout.capsule_to, i)), layout.capsule_radius[i]});
  }
  for (std::size_t i = 0; i < layout.plane_obstacle.size(); ++i) {
    const Displacement& move = moved[static_cast<std::size_t>(layout.plane_obstacle[i])];
    scene.planes.push_back({move(vector_at(layout.plane_point, i)), move.frame * vector_at(layout.plane_normal, i)});
  }
  for (std::size_t i = 0; i < frame.contact_count(); ++i) {
    if (frame.contact_obstacle_b[i] >= 0 && frame.contact_part_b[i] >= 0) {
      scene.contacts.push_back(vector_at(frame.contact_point_a, i));
    }
  }
  return scene;
}

}  // namespace tresse::render
