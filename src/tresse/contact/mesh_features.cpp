#include <tresse/contact/detail/mesh_features.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include <Eigen/Geometry>

#include <tresse/contact/contact_frame.hpp>
#include <tresse/contact/detail/pair_search.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::contact::detail {
namespace {

Vector3 normal_of(const Mesh& mesh, int face) { return geometry::triangle_normal(mesh.corners(face)); }

Vector3 vertex_at(const Mesh& mesh, int vertex) {
  return mesh.pose.position + mesh.pose.frame * mesh.surface->vertices[static_cast<std::size_t>(vertex)];
}

const geometry::MeshEdge& edge_at(const Mesh& mesh, int edge) {
  return mesh.surface->topology->edges()[static_cast<std::size_t>(edge)];
}

/// How two faces that agree turn at their edge: sine and cosine of the angle of their normals, > 0 where it is convex.
struct Turn {
  double sine, cosine;
};

Turn turn_at(const Mesh& mesh, const geometry::MeshEdge& edge) {
  const auto& faces = mesh.surface->topology->faces();
  const geometry::Face& first = faces[static_cast<std::size_t>(edge.faces[0])];
  const auto low = std::find(first.begin(), first.end(), edge.vertices[0]) - first.begin();
  const bool forward = first[static_cast<std::size_t>((low + 1) % 3)] == edge.vertices[1];
  const Vector3 along =
      (forward ? 1.0 : -1.0) * (vertex_at(mesh, edge.vertices[1]) - vertex_at(mesh, edge.vertices[0]));
  const Vector3 n = normal_of(mesh, edge.faces[0]);
  const Vector3 m = normal_of(mesh, edge.faces[1]);
  return {n.cross(m).dot(math::safe_normalized(along)), n.dot(m)};
}

/// The contact with a point of a face, `out` of the surface: unit, from there to the piece.
Candidate candidate_at(const CandidatePair& pair, const Piece& a, const Mesh& mesh, double s, const Vector3& out) {
  const CurvePoint on_a = point_of(a.curve, s);
  Candidate candidate;
  Contact& contact = candidate.contact;
  contact.a = pair.a;
  contact.b = pair.b;
  contact.s_a = s;
  contact.point_a = on_a.position;
  contact.frame = frame_from_normal(-out, on_a.tangent);
  contact.gap = -a.radius - mesh.thickness;  // the distance comes on top
  candidate.at_junction = leaves_through_junction(a, side_of(a, s), out.dot(on_a.tangent));
  return candidate;
}

}  // namespace

Candidate face_candidate(const CandidatePair& pair, const Piece& a, const Mesh& mesh, const FaceSide& on, double s) {
  const auto x = mesh.corners(on.face);
  const Vector3 out = on.side * geometry::triangle_normal(x);
  Candidate candidate = candidate_at(pair, a, mesh, s, out);
  Contact& contact = candidate.contact;
  const double height = out.dot(contact.point_a - x[0]);
  contact.point_b = contact.point_a - height * out;
  contact.gap += height;
  contact.face = on.face;
  contact.side = on.side;
  contact.weights = geometry::nearest_on_triangle(x, contact.point_b).weights;
  return candidate;
}

std::pair<Vector3, Vector3> edge_ends(const Mesh& mesh, int edge) {
  const auto& ends = edge_at(mesh, edge).vertices;
  return {vertex_at(mesh, ends[0]), vertex_at(mesh, ends[1])};
}

bool stands_out(const Mesh& mesh, int edge, double flat) {
  const geometry::MeshEdge& at = edge_at(mesh, edge);
  if (!at.agree) return true;
  const Turn turn = turn_at(mesh, at);
  if (turn.cosine > 0.0 && std::abs(turn.sine) <= 0.5 * flat) return false;
  return turn.sine > 0.0 || turn.cosine < -1.0 + flat || !mesh.surface->topology->closed();
}

Feature feature_of(const Mesh& mesh, int edge, double share) {
  const geometry::MeshEdge& at = edge_at(mesh, edge);
  constexpr double end = 1e-9;
  Feature out;
  out.edge = edge;
  std::tie(out.from, out.to) = edge_ends(mesh, edge);
  out.point = out.from + share * (out.to - out.from);
  out.rim = at.faces[1] < 0;
  out.several = at.several || (!out.rim && !at.agree);
  if (share > end && share < 1.0 - end) {
    for (const int face : at.faces) {
      if (face >= 0) out.faces.push_back(face);
    }
    return out;
  }
  const std::span<const int> around = mesh.surface->topology->faces_at(at.vertices[share < 0.5 ? 0 : 1]);
  out.faces.assign(around.begin(), around.end());
  out.point = share < 0.5 ? out.from : out.to;
  return out;
}

Feature feature_under(const Mesh& mesh, int face, const geometry::TrianglePoint& foot) {
  const auto& edges = mesh.surface->topology->face_edges(face);
  // The side opposite the corner without weight; of a corner, one of its sides.
  Eigen::Index away = 0;
  foot.weights.minCoeff(&away);
  const int edge = edges[static_cast<std::size_t>((away + 1) % 3)];
  const auto [from, to] = edge_ends(mesh, edge);
  Feature out = feature_of(mesh, edge, (foot.point - from).norm() / (to - from).norm());
  if (foot.inside() == 1) out.from = out.to = out.point;
  return out;
}

Candidate feature_candidate(const CandidatePair& pair, const Piece& a, const Mesh& mesh, const Feature& feature,
                            double s, int side) {
  const Vector3 apart = geometry::position(a.curve, s) - feature.point;
  const double distance = math::safe_norm(apart);
  Vector3 mean = Vector3::Zero();
  for (const int face : feature.faces) mean += normal_of(mesh, face);
  const bool sided = !feature.rim && !feature.several;
  const bool behind = sided && mean.dot(apart) < 0.0;
  const int now = sided ? (mesh.surface->topology->closed() ? 1 : (behind ? -1 : 1)) : 0;
  const int kept = side != 0 && sided ? side : now;
  // Through the surface: behind a solid one, or on the other side than before.
  const bool through = sided && behind != (kept < 0);
  constexpr double rounding = 1e-9;  // of the radius: nearer than that there is no direction
  Vector3 out = distance > rounding * a.radius ? Vector3(apart / distance) : math::safe_normalized(mean);
  if (distance <= rounding * a.radius && kept < 0) out = -out;
  if (distance > rounding * a.radius && through) out = -out;
  Candidate candidate = candidate_at(pair, a, mesh, s, out);
  Contact& contact = candidate.contact;
  contact.point_b = feature.point;
  contact.gap += through ? -distance : distance;
  contact.face = feature.faces.front();
  contact.side = kept;
  contact.weights = geometry::nearest_on_triangle(mesh.corners(contact.face), feature.point).weights;
  return candidate;
}

std::pair<int, geometry::TrianglePoint> nearest_around(const Mesh& mesh, int start, const Vector3& x) {
  const geometry::MeshTopology& topology = *mesh.surface->topology;
  const auto foot_on = [&](int face) { return geometry::nearest_on_triangle(mesh.corners(face), x); };
  std::vector<int> patch{start};
  std::pair<int, geometry::TrianglePoint> best{start, foot_on(start)};
  const Vector3 normal = normal_of(mesh, start);
  constexpr std::size_t most = 256;
  constexpr double groove = 0.17;  // sine of ten degrees
  constexpr double least_cosine = 0.5;
  const auto known = [&](int face) { return std::find(patch.begin(), patch.end(), face) != patch.end(); };
  const auto beyond = [](const geometry::MeshEdge& edge, int face) {
    return edge.faces[0] == face ? edge.faces[1] : edge.faces[0];
  };
  for (std::size_t i = 0; i < patch.size() && patch.size() < most; ++i) {
    for (const int e : topology.face_edges(patch[i])) {
      const geometry::MeshEdge& edge = edge_at(mesh, e);
      const int next = edge.agree ? beyond(edge, patch[i]) : -1;
      if (next < 0 || known(next)) continue;
      const auto [from, to] = edge_ends(mesh, e);
      const Vector3 along = to - from;
      const double share = std::clamp(along.dot(x - from) / along.squaredNorm(), 0.0, 1.0);
      if ((x - from - share * along).norm() > best.second.distance * (1.0 + 1e-9)) continue;
      if (normal.dot(normal_of(mesh, next)) < least_cosine || turn_at(mesh, edge).sine < -groove) continue;
      patch.push_back(next);
      if (const auto foot = foot_on(next); foot.distance < best.second.distance) best = {next, foot};
    }
  }
  if (best.second.inside() == 3) return best;
  for (const int next : feature_under(mesh, best.first, best.second).faces) {
    if (known(next)) continue;
    const auto foot = foot_on(next);
    const bool outside = normal_of(mesh, next).dot(x - foot.point) >= 0.0;
    if (outside && foot.distance < best.second.distance) best = {next, foot};
  }
  return best;
}

}  // namespace tresse::contact::detail
