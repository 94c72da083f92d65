#include <tresse/contact/pieces.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Cholesky>

namespace tresse::contact {

int pieces_per_element(double curvature, double length) {
  constexpr double largest_turn = 0.45 * 2.0 * std::numbers::pi;
  return std::max(1, static_cast<int>(std::ceil(curvature * length / largest_turn)));
}

double self_contact_free_length(double curvature, double radius, double margin) {
  if (curvature <= 0.0) return std::numeric_limits<double>::infinity();
  const double half_chord_angle = std::asin(std::min(1.0, curvature * (radius + 0.5 * margin)));
  return 2.0 * (std::numbers::pi - half_chord_angle) / curvature;
}

bool is_station(const Piece& piece, double u) {
  if (piece.stations == 0) return false;
  constexpr double rounding = 1e-9;
  const double share = u / piece.span.rest;
  if ((piece.first && share < rounding) || (piece.last && share > 1.0 - rounding)) return true;
  const double place = share * piece.stations - (piece.stations_at_nodes ? 0.0 : 0.5);
  return std::abs(place - std::round(place)) < rounding;
}

double station_spacing(const Piece& piece) { return geometry::domain(piece.curve).end / std::max(1, piece.stations); }

namespace {

/// The farthest that a rigid motion, of a piece's middle and about it, takes any of its points: their velocities are
/// linear in their places, so that none between two others goes farther than both. [m]
double farthest(const Travel& piece, const Vector3& drift, const Vector3& spin) {
  const double squared = std::max({drift.squaredNorm(), (drift + spin.cross(piece.to_begin)).squaredNorm(),
                                   (drift + spin.cross(piece.to_end)).squaredNorm()});
  return std::sqrt(squared) + spin.norm() * piece.sagitta;
}

}  // namespace

double Travel::extent() const { return std::max(to_begin.norm(), to_end.norm()) + sagitta; }

double Travel::farthest() const { return reach + contact::farthest(*this, drift, spin); }

double closing(const Travel& a, const Travel& b) {
  const Vector3 seen = b.drift - a.drift - a.spin.cross(b.middle - a.middle);
  const double from_a = farthest(b, seen, b.spin - a.spin);
  const double reach = a.reach + b.reach;
  // Alone both go as far as their middles at least.
  if (from_a <= a.drift.norm() + b.drift.norm()) return reach + from_a;
  const double alone = farthest(a, a.drift, a.spin) + farthest(b, b.drift, b.spin);
  return reach + std::min(from_a, alone);
}

Travel rigid_travel(const ThreePoints& at, const ThreePoints& travel, double sagitta, double least) {
  Travel out;
  out.middle = at.middle;
  out.drift = travel.middle;
  const Vector3 chord = at.end - at.begin;
  const double length2 = chord.squaredNorm();
  const Vector3 to_begin = at.begin - at.middle;
  const Vector3 to_end = at.end - at.middle;
  if (length2 > 0.0) {
    out.spin = chord.cross(travel.end - travel.begin) / length2;
    // About the chord: what the middle does beside it.
    const Vector3 beside = at.middle - 0.5 * (at.begin + at.end);
    const Vector3 moves = travel.middle - 0.5 * (travel.begin + travel.end) - out.spin.cross(beside);
    const Vector3 moment = chord * (chord.dot(beside.cross(moves)) / length2);
    const double arm2 = beside.squaredNorm() - std::pow(chord.dot(beside), 2) / length2;
    constexpr double bent = 1e-4;  // squared, of the chord: of a straighter piece the spin about it is lost in rounding
    if (arm2 > bent * length2) out.spin += moment / arm2;
  }
  const auto left = [&](const Vector3& arm, const Vector3& moves) -> Vector3 {
    return moves - out.drift - out.spin.cross(arm);
  };
  // What bends leaves both ends on one side: halfway between them and the middle nothing is far off.
  out.drift += 0.25 * (left(to_begin, travel.begin) + left(to_end, travel.end));
  out.to_begin = to_begin;
  out.to_end = to_end;
  out.sagitta = sagitta;
  out.reach = least + std::max({left(to_begin, travel.begin).norm(), left(Vector3::Zero(), travel.middle).norm(),
                                left(to_end, travel.end).norm()});
  return out;
}

namespace {

/// `travel(i)`: of piece i.
template <typename TravelOf>
Travel take_off(const std::vector<Piece>& pieces, const TravelOf& travel) {
  Travel common;
  int count = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].id.is_fibre()) continue;
    common.middle += travel(i).middle;
    common.drift += travel(i).drift;
    ++count;
  }
  if (count == 0) return {};
  common.middle /= count;
  common.drift /= count;
  Matrix3 inertia = Matrix3::Zero();
  Vector3 moment = Vector3::Zero();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].id.is_fibre()) continue;
    const Vector3 arm = travel(i).middle - common.middle;
    inertia += arm.squaredNorm() * Matrix3::Identity() - arm * arm.transpose();
    moment += arm.cross(travel(i).drift - common.drift);
  }
  // All in a line: about it nothing is known, and nothing needed.
  inertia += 1e-12 * inertia.trace() * Matrix3::Identity();
  if (inertia.trace() > 0.0) common.spin = inertia.ldlt().solve(moment);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    travel(i).drift -= common.drift + common.spin.cross(travel(i).middle - common.middle);
    travel(i).spin -= common.spin;
  }
  return common;
}

}  // namespace

Travel take_off_common(const std::vector<Piece>& pieces, std::vector<Travel>& travels) {
  return take_off(pieces, [&](std::size_t i) -> Travel& { return travels[i]; });
}

void take_off_common_travel(Geometry& scene) {
  scene.common = take_off(scene.pieces, [&](std::size_t i) -> Travel& { return scene.pieces[i].travel; });
}

double travel_to_plane(const Geometry& scene, const Piece& piece, const HalfSpace& plane) {
  const Travel& own = piece.travel;
  const Vector3 drift = own.drift + scene.common.drift + scene.common.spin.cross(own.middle - scene.common.middle);
  return own.reach + std::max(0.0, -plane.normal.dot(drift)) + (own.spin + scene.common.spin).norm() * own.extent();
}

std::array<Vector3, 3> Mesh::corners(int face) const {
  std::array<Vector3, 3> out = surface->corners(face);
  for (Vector3& x : out) x = pose.position + pose.frame * x;
  return out;
}

int body_at(const Geometry& scene, int b) {
  if (b >= 0) return scene.pieces[b].body;
  return is_plane(scene, b) ? scene.planes[-1 - b].body : mesh_at(scene, b).body;
}

BodyId id_at(const Geometry& scene, int b) {
  if (b >= 0) return scene.pieces[b].id;
  return is_plane(scene, b) ? scene.planes[-1 - b].id : mesh_at(scene, b).id;
}

int surface_of(const Geometry& scene, int body) {
  int surface = -1;
  for (const HalfSpace& plane : scene.planes) {
    if (plane.body == body) return surface;
    --surface;
  }
  for (const Mesh& mesh : scene.meshes) {
    if (mesh.body == body) return surface;
    --surface;
  }
  return 0;
}

double skin_at(const Geometry& scene, int b) {
  if (b >= 0) return scene.pieces[b].radius;
  return is_plane(scene, b) ? 0.0 : mesh_at(scene, b).thickness;
}

double closing(const Geometry& scene, const Piece& piece, const Mesh& mesh) {
  const Travel& own = piece.travel;
  const double length = piece.interval.end - piece.interval.begin;
  const Vector3 middle = geometry::position(piece.curve, piece.interval.begin + 0.5 * length);
  const Vector3 carried =
      mesh.next.position + mesh.next.frame * (mesh.pose.frame.transpose() * (middle - mesh.pose.position)) - middle;
  const Vector3 drift = own.drift + scene.common.drift + scene.common.spin.cross(middle - scene.common.middle);
  const Eigen::AngleAxisd turn(Matrix3(mesh.next.frame * mesh.pose.frame.transpose()));
  const Vector3 spin = own.spin + scene.common.spin - turn.angle() * turn.axis();
  // Half the length, of a curve, is as far as its points are from its middle.
  return own.reach + mesh.reach + (drift - carried).norm() + spin.norm() * 0.5 * length;
}

OnPiece piece_at(const Geometry& scene, int body, int element, double u) {
  int piece = scene.body_begin[body];
  const int last = scene.body_begin[body + 1] - 1;
  const auto on = [&](int i) -> OnPiece { return {i, scene.pieces[i].span.on_curve(u)}; };
  if (scene.pieces[last].element - scene.pieces[piece].element == last - piece) {  // one piece an element
    return on(std::clamp(piece + element, piece, last));
  }
  while (piece < last && (scene.pieces[piece].element < element || (scene.pieces[piece + 1].element == element &&
                                                                    scene.pieces[piece].interval.end < on(piece).s)))
    ++piece;
  return on(piece);
}

}  // namespace tresse::contact
