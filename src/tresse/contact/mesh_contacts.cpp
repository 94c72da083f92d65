#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <tresse/contact/contact_frame.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/curve_over_plane.hpp>
#include <tresse/contact/detail/mesh_features.hpp>
#include <tresse/contact/detail/pair_search.hpp>
#include <tresse/geometry/lowest_points.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::contact::detail {
namespace {

using geometry::Interval;
using geometry::TrianglePoint;

/// Slope of a height that counts as level, and sine of the angle up to which two faces count as one flat: what falls to
/// an edge from both sides, and is not level, has an edge there that stands out.
constexpr double level_slope = 2e-9;

/// A face, and the part of the piece that is near it.
struct NearFace {
  int face;
  Interval interval;
};

/// The contacts of one piece and one mesh.
class MeshSearch {
 public:
  MeshSearch(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out)
      : pair_(pair),
        a_(scene.pieces[pair.a]),
        mesh_(mesh_at(scene, pair.b)),
        bound_(a_.radius + mesh_.thickness + closing(scene, a_, mesh_)),
        out_(out) {}

  void run() {
    const std::size_t before = out_.size();
    gather();
    for (const NearFace& near : faces_) search_face(near);
    search_edges();
    for (std::size_t i = before; i < out_.size(); ++i) least_gap_ = std::min(least_gap_, out_[i].contact.gap);
    for (Candidate& station : stations_) {
      station.farther = station.contact.gap - least_gap_;
      if (is_along(a_, station.farther)) out_.push_back(station);
    }
  }

 private:
  /// Faces near each of some short spans of the piece, which are chords to within `sagitta`.
  void gather() {
    const double length = a_.interval.end - a_.interval.begin;
    constexpr double most = 16.0;
    const double wanted = std::max(length / (8.0 * bound_), length * std::sqrt(a_.curvature / (4.0 * bound_)));
    const int spans = static_cast<int>(std::clamp(std::ceil(wanted), 1.0, most));
    const double sagitta = a_.curvature * std::pow(length / spans, 2) / 8.0;
    const auto parameter = [&](int i) { return i == spans ? a_.interval.end : a_.interval.begin + length * i / spans; };
    const auto local = [&](double s) -> Vector3 {
      return mesh_.pose.frame.transpose() * (geometry::position(a_.curve, s) - mesh_.pose.position);
    };
    std::vector<int> found;
    std::vector<std::pair<int, int>> face_spans;
    Vector3 from = local(parameter(0));
    for (int i = 0; i < spans; ++i) {
      const Vector3 to = local(parameter(i + 1));
      found.clear();
      mesh_.surface->append_faces(geometry::Box{from.cwiseMin(to), from.cwiseMax(to)}.grown(bound_ + sagitta), found);
      for (const int face : found) face_spans.emplace_back(face, i);
      from = to;
    }
    std::sort(face_spans.begin(), face_spans.end());
    for (const auto& [face, span] : face_spans) {
      if (faces_.empty() || faces_.back().face != face)
        faces_.push_back({face, {parameter(span), parameter(span + 1)}});
      else
        faces_.back().interval.end = parameter(span + 1);
    }
  }

  /// Local minima of the height over a face where the foot is on it.
  void search_face(const NearFace& near) {
    const auto x = mesh_.corners(near.face);
    const Vector3 normal = geometry::triangle_normal(x);
    const CurveOverPlane over(a_.curve, a_.curvature, x[0], normal);
    if (over.beyond(near.interval, bound_)) return;
    const double slack = 1e-9 * std::sqrt((x[1] - x[0]).squaredNorm() + (x[2] - x[0]).squaredNorm());
    std::vector<Interval> parts{near.interval};
    for (std::size_t k = 0; k < 3 && !parts.empty(); ++k) {
      const Vector3 inwards = math::safe_normalized(Vector3(normal.cross(x[(k + 1) % 3] - x[k])));
      parts = CurveOverPlane(a_.curve, a_.curvature, x[k], inwards).above(parts, -slack);
    }
    for (const Interval& part : parts) search_over(near, x, normal, part);
  }

  void search_over(const NearFace& near, const std::array<Vector3, 3>& x, const Vector3& normal, const Interval& part) {
    const auto height = [&](double s) { return normal.dot(geometry::position(a_.curve, s) - x[0]); };
    const bool closed = mesh_.surface->topology->closed();
    const int side = closed || height(0.5 * (part.begin + part.end)) >= 0.0 ? 1 : -1;
    const Vector3 outwards = side * normal;
    std::vector<double> lowest = geometry::lowest_points(a_.curve, part, x[0], outwards, bound_);
    // Of a capsule both ends, however it is tilted. What may go so far in a step that it is on the other side of a
    // sheet then, wherever it swings, is held everywhere.
    if (!a_.id.is_fibre() || bound_ - a_.radius - mesh_.thickness > a_.radius) {
      for (const double s : {a_.interval.begin, 0.5 * (a_.interval.begin + a_.interval.end), a_.interval.end}) {
        const bool wanted = a_.id.is_fibre() || side_of(a_, s) != 0;
        if (wanted && s >= part.begin && s <= part.end && side * height(s) <= bound_) lowest.push_back(s);
      }
      std::sort(lowest.begin(), lowest.end());
      lowest.erase(std::unique(lowest.begin(), lowest.end()), lowest.end());
    }
    if (a_.id.is_fibre() && !lowest.empty()) offer_stations(near.face, part, side);
    for (const double s : lowest) {
      if (side * height(s) < -bound_) continue;
      if (side * height(s) >= 0.0) least_gap_ = std::min(least_gap_, side * height(s) - a_.radius - mesh_.thickness);
      const bool passes = side_of(a_, s) == 0 && (s <= part.begin || s >= part.end);
      // Where the foot leaves the face on its way down, something else is nearer.
      const bool level = std::abs(normal.dot(point_of(a_.curve, s).tangent)) <= level_slope;
      if (passes && !level) continue;
      offer_over_face(near.face, s, side, passes);
    }
  }

  /// Stations over a part of the piece whose feet are on a face, if they are not under the surface.
  void offer_stations(int face, const Interval& part, int side) {
    for_each_station(a_, [&](double s) {
      if (s < part.begin || s > part.end) return;
      Candidate found = face_candidate(pair_, a_, mesh_, {face, side}, s);
      found.fixed = true;
      if (found.contact.gap >= -a_.radius - mesh_.thickness) stations_.push_back(found);
    });
  }

  void offer_over_face(int face, double s, int side, bool level) {
    const Vector3 at = geometry::position(a_.curve, s);
    Candidate found = face_candidate(pair_, a_, mesh_, {face, side}, s);
    found.level = level;
    if (mesh_.surface->topology->closed() && found.contact.gap < -a_.radius - mesh_.thickness) {
      // Under the surface: out through the nearest face.
      const int nearest = nearest_face(at);
      if (nearest != face) {
        const TrianglePoint foot = geometry::nearest_on_triangle(mesh_.corners(nearest), at);
        if (foot.inside() < 3) return;
        found = face_candidate(pair_, a_, mesh_, {nearest, 1}, s);
        if (found.contact.gap >= -a_.radius - mesh_.thickness) return;  // not under that one: found on its own
      }
    }
    out_.push_back(found);
  }

  int nearest_face(const Vector3& x) const {
    int best = faces_.front().face;
    double least = std::numeric_limits<double>::infinity();
    for (const NearFace& near : faces_) {
      const double distance = geometry::nearest_on_triangle(mesh_.corners(near.face), x).distance;
      if (distance < least) {
        least = distance;
        best = near.face;
      }
    }
    return best;
  }

  void search_edges() {
    std::vector<int> edges;
    for (const NearFace& near : faces_) {
      const auto& own = mesh_.surface->topology->face_edges(near.face);
      edges.insert(edges.end(), own.begin(), own.end());
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const int edge : edges) {
      if (stands_out(mesh_, edge, level_slope)) search_edge(edge);
    }
  }

  void search_edge(int index) {
    const auto [from, to] = edge_ends(mesh_, index);
    Piece edge;
    edge.curve = geometry::SegmentEvaluator({from, to});
    edge.interval = geometry::domain(edge.curve);
    edge.radius = mesh_.thickness;
    edge.id = mesh_.id;
    for (const geometry::ClosestPoints& found : nearest_points(a_, edge, {bound_, bound_}, {}).minima) {
      const double share = found.s_b / edge.interval.end;
      const Feature feature = feature_of(mesh_, index, share);
      const Vector3 at = geometry::position(a_.curve, found.s_a);
      // In the cone of directions that belongs to it no face that meets here is nearer.
      constexpr double rounding = 1e-8;
      const bool own = std::all_of(feature.faces.begin(), feature.faces.end(), [&](int face) {
        return geometry::nearest_on_triangle(mesh_.corners(face), at).distance >= (1.0 - rounding) * found.distance;
      });
      if (own || feature.several) out_.push_back(feature_candidate(pair_, a_, mesh_, feature, found.s_a, 0));
    }
  }

  CandidatePair pair_;
  const Piece& a_;
  const Mesh& mesh_;
  double bound_;  ///< of the distance of the piece's curve to the surface [m]
  std::vector<NearFace> faces_;
  std::vector<Candidate> stations_;                             ///< over faces
  double least_gap_ = std::numeric_limits<double>::infinity();  ///< of the piece, found so far [m]
  std::vector<Candidate>& out_;
};

}  // namespace

void append_mesh_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  MeshSearch(scene, pair, out).run();
}

Candidate follow_on_mesh(const Geometry& scene, const OnPiece& on_a, int surface, const Place& place) {
  const CandidatePair pair{on_a.piece, surface};
  const Piece& a = scene.pieces[pair.a];
  const Mesh& mesh = mesh_at(scene, pair.b);
  const int faces = static_cast<int>(mesh.surface->topology->faces().size());
  const double s = std::clamp(on_a.s, a.interval.begin, a.interval.end);
  const int side = mesh.surface->topology->closed() ? 1 : static_cast<int>(place.s_b);
  const Vector3 at = geometry::position(a.curve, s);
  const auto [face, foot] = nearest_around(mesh, std::clamp(place.element_b, 0, faces - 1), at);
  if (foot.inside() == 3) {
    const double height = geometry::triangle_normal(mesh.corners(face)).dot(at - foot.point);
    return face_candidate(pair, a, mesh, {face, side != 0 ? side : (height < 0.0 ? -1 : 1)}, s);
  }
  Feature feature = feature_under(mesh, face, foot);
  const auto segment = geometry::SegmentEvaluator({feature.from, feature.to});
  const double window = follow_radii * a.radius;
  const auto nearest = geometry::closest_points_near(
      a.curve, {std::max(s - window, a.interval.begin), std::min(s + window, a.interval.end)}, segment,
      segment.domain(), {s, (foot.point - feature.from).norm()});
  if (feature.from != feature.to) feature = feature_of(mesh, feature.edge, nearest.s_b / segment.domain().end);
  return feature_candidate(pair, a, mesh, feature, nearest.s_a, side);
}

bool bear_apart(const Contact& contact, const Contact& other, double radius) {
  const Vector3 normal = contact.frame.col(0);
  const Vector3 other_normal = other.frame.col(0);
  constexpr double turned = 0.1;  // [rad]
  if ((normal - other_normal).norm() <= turned) return false;
  // On the two sides of one sheet or thin plate the fibre cannot be.
  const bool one_sheet =
      normal.dot(other_normal) < 0.0 && std::abs(normal.dot(contact.point_b - other.point_b)) < radius;
  return !one_sheet;
}

}  // namespace tresse::contact::detail
