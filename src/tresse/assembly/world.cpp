#include <tresse/assembly/world.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

namespace tresse::assembly {
namespace {

/// The embedded part of a fibre is made of pieces of its own.
void add_fibre(const World& world, int body, std::vector<contact::Piece>& pieces) {
  const Fibre& fibre = world.fibres[body];
  const rods::Rod& rod = *fibre.rod;
  const Embedding& embedding = fibre.embedding;
  const int within = embedding.obstacle >= 0 ? obstacle_body(world, embedding.obstacle) : -1;
  const std::size_t first = pieces.size();
  double curve_begin = 0.0;
  for (int element = 0; element < rod.piece_count(); ++element) {
    contact::Piece piece;
    piece.curve = geometry::prepare(rod.piece(element));
    const geometry::Interval whole = geometry::domain(piece.curve);
    piece.curvature = geometry::second_derivative_bound(piece.curve, whole);
    piece.radius = rod.contact_radius();
    piece.span = rod.span(element);
    piece.material_begin = rod.piece_begin(element);
    piece.curve_begin = curve_begin;
    curve_begin += whole.end;
    piece.body = piece.owner = body;
    piece.element = element;
    piece.first = piece.last = false;
    const int parts = contact::pieces_per_element(piece.curvature, whole.end);
    const double out = within >= 0 && element == embedding.piece ? whole.end * embedding.share : 0.0;
    const auto add = [&](double begin, double end) {
      piece.interval = {begin, end};
      piece.embedded_in = element < embedding.piece || begin < out ? within : -1;
      pieces.push_back(piece);
    };
    for (int part = 0; part < parts; ++part) {
      const double begin = whole.end * part / parts;
      const double end = part + 1 == parts ? whole.end : whole.end * (part + 1) / parts;
      if (begin < out && out < end) {
        add(begin, out);
        add(out, end);
      } else {
        add(begin, end);
      }
    }
  }
  pieces[first].first = true;
  pieces.back().last = true;
}

geometry::LineSegment moved_axis(const bodies::Obstacle& obstacle, const Pose& pose, const bodies::Capsule& capsule) {
  return {moved(obstacle, pose, capsule.from), moved(obstacle, pose, capsule.to)};
}

}  // namespace

double length_scale_at(const Fibre& fibre, double time) {
  const Growth& g = fibre.growth;
  if (time >= g.end) return g.final_scale;
  return time <= g.begin ? 1.0 : 1.0 + (g.final_scale - 1.0) * (time - g.begin) / (g.end - g.begin);
}

void set_natural_shape(Fibre& fibre, double time) {
  if (fibre.rest_onset > 0.0) fibre.rod->set_rest_curvature(rest_curvature_at(fibre, time));
  if (fibre.growth.final_scale != 1.0) fibre.rod->set_length_scale(length_scale_at(fibre, time));
}

bool grows(const Fibre& fibre, double begin, double end) {
  const Growth& g = fibre.growth;
  return begin < fibre.rest_onset || (g.final_scale != 1.0 && begin < g.end && end > g.begin);
}

VectorX rest_curvature_at(const Fibre& fibre, double time) {
  const double weight = std::min(1.0, time / fibre.rest_onset);
  return (1.0 - weight) * fibre.first_rest_curvature + weight * fibre.last_rest_curvature;
}

Vector3 wind_at(const World& world, double time) {
  if (world.gust.isZero(0.0)) return world.wind;
  const double phase = 2.0 * std::numbers::pi * time / world.gust_period;
  return world.wind + 0.5 * (1.0 - std::cos(phase)) * world.gust;
}

Pose root_pose(const Fibre& fibre, double time) {
  const Pose shift = bodies::displacement(fibre.root_motion, time);
  return {fibre.root.position + shift.position + (shift.frame * fibre.root_arm - fibre.root_arm),
          shift.frame * fibre.root.frame};
}

double held_parameter(const World& world, const Hold& hold) {
  return hold.share * world.fibres[hold.fibre].rod->span(hold.piece).rest;
}

double held_arc_length(const World& world, const Hold& hold) {
  const rods::Rod& rod = *world.fibres[hold.fibre].rod;
  return rod.piece_begin(hold.piece) + hold.share * (rod.piece_begin(hold.piece + 1) - rod.piece_begin(hold.piece));
}

Pose hold_pose(const Hold& hold, double time) {
  const Pose shift = bodies::displacement(hold.motion, time);
  return {hold.pose.position + shift.position, shift.frame * hold.pose.frame};
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

Pose obstacle_pose(const World& world, int obstacle, double time) {
  const int free = free_body_of(world, obstacle);
  return free < 0 ? obstacle_pose(world.obstacles[obstacle], time) : world.free_bodies[free].state.pose;
}

std::vector<FreeBody> find_free_bodies(const std::vector<bodies::Obstacle>& obstacles) {
  std::vector<FreeBody> out;
  for (int k = 0; k < static_cast<int>(obstacles.size()); ++k) {
    const bodies::Obstacle& obstacle = obstacles[k];
    if (obstacle.mass == 0.0) continue;
    const bodies::Solid solid = bodies::solid(obstacle.shape, obstacle.mass);
    require(bodies::is_centre(obstacle.shape, obstacle.reference, 1e-9),
            "free body: the reference must be the centre of mass");
    out.push_back({k, solid, {{obstacle.reference, Matrix3::Identity()}, obstacle.velocity}});
  }
  return out;
}

namespace {

/// Free bodies before an obstacle, in the order of obstacles.
int free_before(const World& world, int obstacle) {
  const auto first = std::lower_bound(world.free_bodies.begin(), world.free_bodies.end(), obstacle,
                                      [](const FreeBody& body, int k) { return body.obstacle < k; });
  return static_cast<int>(first - world.free_bodies.begin());
}

/// The capsules of an obstacle, or its plane.
void add_obstacle(const World& world, int index, double time, contact::Geometry& out) {
  const bodies::Obstacle& obstacle = world.obstacles[index];
  const Pose pose = obstacle_pose(world, index, time);
  const int body = obstacle_body(world, index);
  out.body_begin.push_back(static_cast<int>(out.pieces.size()));
  if (const auto* plane = std::get_if<bodies::Plane>(&obstacle.shape)) {
    out.planes.push_back({moved(obstacle, pose, plane->point), pose.frame * plane->normal, body, index});
  }
  if (const auto* mesh = std::get_if<bodies::Mesh>(&obstacle.shape)) {
    const Pose placed{moved(obstacle, pose, Vector3::Zero()), pose.frame};
    out.meshes.push_back({bodies::surface_at(*mesh->surface, time), placed, mesh->thickness, placed, 0.0, body, index});
  }
  int part = 0;
  for (const bodies::Capsule& capsule : bodies::capsules(obstacle.shape)) {
    contact::Piece piece;
    piece.curve = geometry::SegmentEvaluator(moved_axis(obstacle, pose, capsule));
    piece.interval = geometry::domain(piece.curve);
    piece.radius = capsule.radius;
    piece.body = body;
    piece.owner = index;
    piece.element = part++;
    piece.fibre = false;
    piece.free = free_body_of(world, index) >= 0;
    out.pieces.push_back(piece);
  }
}

}  // namespace

int free_body_of(const World& world, int obstacle) {
  const int place = free_before(world, obstacle);
  const bool free = place < static_cast<int>(world.free_bodies.size()) && world.free_bodies[place].obstacle == obstacle;
  return free ? place : -1;
}

int obstacle_body(const World& world, int obstacle) {
  const int fibres = static_cast<int>(world.fibres.size());
  const int free = free_before(world, obstacle);
  if (free_body_of(world, obstacle) >= 0) return fibres + free;
  return fibres + obstacle + static_cast<int>(world.free_bodies.size()) - free;
}

int obstacle_of_body(const World& world, int body) {
  const int index = body - static_cast<int>(world.fibres.size());
  const int free = static_cast<int>(world.free_bodies.size());
  if (index < free) return world.free_bodies[index].obstacle;
  int obstacle = index - free;
  for (const FreeBody& before : world.free_bodies) obstacle += before.obstacle <= obstacle ? 1 : 0;
  return obstacle;
}

double farthest_vertex(const bodies::Mesh& shape, const contact::Mesh& now, double time) {
  double farthest2 = 0.0;
  if (!shape.surface->moves()) return farthest2;
  for (std::size_t v = 0; v < now.surface->vertices.size(); ++v) {
    const Vector3 next = shape.surface->vertex(static_cast<int>(v), time);
    farthest2 = std::max(farthest2, (next - now.surface->vertices[v]).squaredNorm());
  }
  return std::sqrt(farthest2);
}

void contact_geometry(const World& world, double time, contact::Geometry& out) {
  out.pieces.clear();
  out.planes.clear();
  out.meshes.clear();
  out.body_begin.clear();
  for (int i = 0; i < static_cast<int>(world.fibres.size()); ++i) {
    out.body_begin.push_back(static_cast<int>(out.pieces.size()));
    add_fibre(world, i, out.pieces);
  }
  for (const FreeBody& body : world.free_bodies) add_obstacle(world, body.obstacle, time, out);
  for (int k = 0; k < static_cast<int>(world.obstacles.size()); ++k) {
    if (free_body_of(world, k) < 0) add_obstacle(world, k, time, out);
  }
  out.body_begin.push_back(static_cast<int>(out.pieces.size()));
}

double energy_floor(const World& world, double dt) {
  constexpr double still = 1e-9;  // of a length in a step
  const double gravity = world.gravity.norm();
  const auto floor_of = [&](double mass, double radius, double length) {
    const double speed = still * length / dt;
    return mass * (gravity * radius + speed * speed);
  };
  double out = 0.0;
  for (const Fibre& fibre : world.fibres)
    out += floor_of(fibre.rod->mass(), fibre.rod->contact_radius(), fibre.rod->length());
  for (const FreeBody& body : world.free_bodies) {
    const double radius = bodies::radius(world.obstacles[static_cast<std::size_t>(body.obstacle)].shape);
    out += floor_of(body.solid.mass, radius, radius);
  }
  return out;
}

}  // namespace tresse::assembly
