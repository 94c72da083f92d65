#include <tresse/assembly/kinematics.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tresse::assembly {

Kinematics::Kinematics(const World& world) : world_(&world) {
  rods_.reserve(world.fibres.size());
  for (const Fibre& fibre : world.fibres) {
    rods_.push_back(fibre.model->make_rod());
    rods_.back()->share_memory(*rods_.front());
  }
  bodies.reserve(world.free_bodies.size());
  for (const FreeBody& body : world.free_bodies) bodies.push_back(body.start);
}

Kinematics::Kinematics(const Kinematics& other) : bodies(other.bodies), world_(other.world_) {
  rods_.reserve(other.rods_.size());
  for (const auto& rod : other.rods_) rods_.push_back(rod->clone());
}

void Kinematics::set_natural_shapes(double time) {
  for (std::size_t f = 0; f < rods_.size(); ++f) set_natural_shape(world_->fibres[f], time, *rods_[f]);
}

double held_parameter(const Kinematics& at, const Hold& hold) {
  return hold.share * at.rod(hold.fibre).span(hold.piece).rest;
}

double held_arc_length(const Kinematics& at, const Hold& hold) {
  const rods::Rod& rod = at.rod(hold.fibre);
  return rod.piece_begin(hold.piece) + hold.share * (rod.piece_begin(hold.piece + 1) - rod.piece_begin(hold.piece));
}

Pose obstacle_pose(const Kinematics& at, int obstacle, double time) {
  const int free = free_body_of(at.world(), obstacle);
  return free < 0 ? obstacle_pose(at.world().obstacles[obstacle], time) : at.bodies[free].pose;
}

namespace {

/// Elements of fibres that have a held point, in order.
using HeldElements = std::vector<std::pair<int, int>>;

HeldElements held_elements(const World& world) {
  HeldElements out;
  for (const Hold& hold : world.holds) {
    out.emplace_back(hold.fibre, hold.piece);
    if (hold.share == 0.0) out.emplace_back(hold.fibre, hold.piece - 1);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// The embedded part of a fibre is made of pieces of its own.
void add_fibre(const Kinematics& at, int body, const HeldElements& held, std::vector<contact::Piece>& pieces) {
  const World& world = at.world();
  const Fibre& fibre = world.fibres[body];
  const rods::Rod& rod = at.rod(body);
  const Embedding& embedding = fibre.embedding;
  const int within = embedding.obstacle >= 0 ? body_number(world, obstacle_id(world, embedding.obstacle)) : -1;
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
    piece.id = {BodyKind::fibre, body};
    piece.body = body;
    piece.element = element;
    piece.first = piece.last = false;
    // What touches next to a clamp or a held point has its stiffness against it, and would bear what others should.
    const bool stiff =
        rod.piece_count() > 1 &&
        ((element == 0 && clamped(fibre)) || std::binary_search(held.begin(), held.end(), std::pair(body, element)));
    piece.stations = stiff ? 0 : world.stations;
    piece.stations_at_nodes = rod.model()->stations_at_nodes();
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

/// What an obstacle is made of.
void add_obstacle(const Kinematics& at, int index, double time, contact::Geometry& out) {
  const World& world = at.world();
  const bodies::Obstacle& obstacle = world.obstacles[index];
  const Pose pose = obstacle_pose(at, index, time);
  const BodyId id = obstacle_id(world, index);
  const int body = body_number(world, id);
  out.body_begin.push_back(static_cast<int>(out.pieces.size()));
  const bodies::Parts parts = bodies::parts(obstacle.shape);
  for (const bodies::HalfSpace& plane : parts.planes)
    out.planes.push_back({moved(obstacle, pose, plane.point), pose.frame * plane.normal, id, body});
  for (const bodies::Shell& shell : parts.shells) {
    const Pose placed{moved(obstacle, pose, Vector3::Zero()), pose.frame};
    out.meshes.push_back({bodies::surface_at(*shell.surface, time), placed, shell.thickness, placed, 0.0, id, body});
  }
  const auto first = static_cast<std::ptrdiff_t>(out.pieces.size());
  int part = 0;
  double along = 0.0;
  for (const bodies::Tube& tube : parts.tubes) {
    contact::Piece piece;
    piece.curve = geometry::prepare(moved(obstacle, pose, tube.axis));
    piece.interval = geometry::domain(piece.curve);
    piece.curvature = geometry::second_derivative_bound(piece.curve, piece.interval);
    piece.radius = tube.radius;
    piece.id = id;
    piece.body = body;
    piece.element = part++;
    if (parts.loop) {
      piece.first = piece.last = false;
      piece.curve_begin = along;
      along += piece.interval.end;
    }
    out.pieces.push_back(piece);
  }
  std::for_each(out.pieces.begin() + first, out.pieces.end(), [&](contact::Piece& piece) { piece.loop = along; });
}

}  // namespace

double farthest_vertex(const bodies::Surface& surface, const contact::Mesh& now, double time) {
  double farthest2 = 0.0;
  if (!surface.moves()) return farthest2;
  for (std::size_t v = 0; v < now.surface->vertices.size(); ++v) {
    const Vector3 next = surface.vertex(static_cast<int>(v), time);
    farthest2 = std::max(farthest2, (next - now.surface->vertices[v]).squaredNorm());
  }
  return std::sqrt(farthest2);
}

void contact_geometry(const Kinematics& at, double time, contact::Geometry& out) {
  const World& world = at.world();
  out.pieces.clear();
  out.planes.clear();
  out.meshes.clear();
  out.body_begin.clear();
  const HeldElements held = held_elements(world);
  for (int i = 0; i < static_cast<int>(world.fibres.size()); ++i) {
    out.body_begin.push_back(static_cast<int>(out.pieces.size()));
    add_fibre(at, i, held, out.pieces);
  }
  for (const FreeBody& body : world.free_bodies) add_obstacle(at, body.obstacle, time, out);
  for (int k = 0; k < static_cast<int>(world.obstacles.size()); ++k) {
    if (free_body_of(world, k) < 0) add_obstacle(at, k, time, out);
  }
  out.body_begin.push_back(static_cast<int>(out.pieces.size()));
}

}  // namespace tresse::assembly
