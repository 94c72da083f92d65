#include <tresse/assembly/world.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

namespace tresse::assembly {
namespace {

double largest_curvature(const geometry::Curve& curve, const geometry::Interval& interval) {
  // |r''| is constant on a helix and convex along a clothoid or a cubic: its maximum is at an end.
  return std::max(geometry::second_derivative(curve, interval.begin).norm(),
                  geometry::second_derivative(curve, interval.end).norm());
}

void add_fibre(const Fibre& fibre, int body, std::vector<contact::Piece>& pieces) {
  const rods::Rod& rod = *fibre.rod;
  const std::size_t first = pieces.size();
  for (int element = 0; element < rod.piece_count(); ++element) {
    const geometry::Curve curve = rod.piece(element);
    const geometry::Interval whole = geometry::domain(curve);
    const double curvature = largest_curvature(curve, whole);
    const int parts = contact::pieces_per_element(curvature, whole.end);
    for (int part = 0; part < parts; ++part) {
      contact::Piece piece;
      piece.curve = curve;
      piece.interval = {whole.end * part / parts, part + 1 == parts ? whole.end : whole.end * (part + 1) / parts};
      piece.radius = rod.contact_radius();
      piece.curvature = curvature;
      piece.begin = rod.piece_begin(element);
      piece.body = body;
      piece.element = element;
      piece.first = piece.last = false;
      pieces.push_back(piece);
    }
  }
  pieces[first].first = true;
  pieces.back().last = true;
}

geometry::LineSegment moved_axis(const bodies::Obstacle& obstacle, const Pose& pose, const bodies::Capsule& capsule) {
  return {moved(obstacle, pose, capsule.from), moved(obstacle, pose, capsule.to)};
}

contact::HalfSpace moved_plane(const bodies::Obstacle& obstacle, const Pose& pose, const bodies::Plane& plane,
                               int body) {
  return {moved(obstacle, pose, plane.point), pose.frame * plane.normal, body};
}

}  // namespace

VectorX rest_curvature_at(const Fibre& fibre, double time) {
  const double weight = std::min(1.0, time / fibre.rest_onset);
  return (1.0 - weight) * fibre.first_rest_curvature + weight * fibre.last_rest_curvature;
}

Pose root_pose(const Fibre& fibre, double time) {
  const Pose shift = bodies::displacement(fibre.root_motion, time);
  return {fibre.root.position + shift.position, shift.frame * fibre.root.frame};
}

Twist mean_twist(const Pose& from, const Pose& to, double dt) {
  const Eigen::AngleAxisd rotation(Matrix3(to.frame * from.frame.transpose()));
  return {(to.position - from.position) / dt, rotation.axis() * (rotation.angle() / dt)};
}

Pose obstacle_pose(const bodies::Obstacle& obstacle, double time) {
  const Pose shift = bodies::displacement(obstacle.motion, time);
  return {obstacle.reference + shift.position, shift.frame};
}

Vector3 moved(const bodies::Obstacle& obstacle, const Pose& pose, const Vector3& reference_point) {
  return pose.position + pose.frame * (reference_point - obstacle.reference);
}

int obstacle_body(const World& world, int obstacle) { return static_cast<int>(world.fibres.size()) + obstacle; }

contact::Geometry contact_geometry(const World& world, double time) {
  contact::Geometry geometry;
  for (int i = 0; i < static_cast<int>(world.fibres.size()); ++i) add_fibre(world.fibres[i], i, geometry.pieces);
  for (int k = 0; k < static_cast<int>(world.obstacles.size()); ++k) {
    const bodies::Obstacle& obstacle = world.obstacles[k];
    const Pose pose = obstacle_pose(obstacle, time);
    const int body = obstacle_body(world, k);
    if (const auto* plane = std::get_if<bodies::Plane>(&obstacle.shape)) {
      geometry.planes.push_back(moved_plane(obstacle, pose, *plane, body));
    }
    int part = 0;
    for (const bodies::Capsule& capsule : bodies::capsules(obstacle.shape)) {
      contact::Piece piece;
      piece.curve = moved_axis(obstacle, pose, capsule);
      piece.interval = geometry::domain(piece.curve);
      piece.radius = capsule.radius;
      piece.body = body;
      piece.element = part++;
      piece.fibre = false;
      geometry.pieces.push_back(piece);
    }
  }
  return geometry;
}

void move_geometry(const World& world, double time, contact::Geometry& geometry) {
  const int fibre_count = static_cast<int>(world.fibres.size());
  std::vector<Pose> poses;
  std::vector<std::vector<bodies::Capsule>> parts;
  for (const bodies::Obstacle& obstacle : world.obstacles) {
    poses.push_back(obstacle_pose(obstacle, time));
    parts.push_back(bodies::capsules(obstacle.shape));
  }
  for (contact::Piece& piece : geometry.pieces) {
    if (piece.fibre) {
      piece.curve = world.fibres[piece.body].rod->piece(piece.element);
    } else {
      const int k = piece.body - fibre_count;
      piece.curve = moved_axis(world.obstacles[k], poses[k], parts[k][piece.element]);
    }
    piece.curvature = largest_curvature(piece.curve, piece.interval);
  }
  for (contact::HalfSpace& plane : geometry.planes) {
    const int k = plane.body - fibre_count;
    plane = moved_plane(world.obstacles[k], poses[k], std::get<bodies::Plane>(world.obstacles[k].shape), plane.body);
  }
}

}  // namespace tresse::assembly
