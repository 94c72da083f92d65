#include <tresse/contact/detection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <oneapi/tbb/parallel_for.h>
#include <Eigen/Geometry>

#include <tresse/contact/contact_frame.hpp>
#include <tresse/geometry/lowest_points.hpp>

namespace tresse::contact {
namespace {

/// A contact under construction: the flags say why it may be dropped.
struct Candidate {
  Contact contact;
  bool at_junction = false;  ///< sits at the common end of two pieces, and the neighbour is nearer still
};

Vector3 unit_tangent(const geometry::Curve& curve, double s) {
  const Vector3 direction = geometry::derivative(curve, s);
  const double size = direction.norm();
  return size > 0.0 ? Vector3(direction / size) : Vector3(Vector3::Zero());
}

/// Sine of the angle below which a contact counts as a parallel stretch.
constexpr double parallel_sine = 0.1;

bool nearly_parallel(const Vector3& tangent_a, const Vector3& tangent_b) {
  return !tangent_b.isZero(0.0) && tangent_a.cross(tangent_b).norm() < parallel_sine;
}

/// The contacts of one pair of pieces: the nearest points, and the other local minima of the distance along a, as when
/// an element bends around a bar more than the bar does and rests on it at two places.
class PairSearch {
 public:
  PairSearch(const Piece& a, const Piece& b, const DetectionOptions& options)
      : a_(a), b_(b), bound_(a.radius + b.radius + a.reach + b.reach) {
    query_ = {
        .method = options.method, .tolerance = options.tolerance, .upper_bound = bound_, .max_steps = largest_boxes};
    // Within this of a local minimum the distance to a bar stays below the bound: d^2 = s^2 across it.
    separation_ = 2.0 * a.radius + 2.0 * std::sqrt(2.0 * (a.radius + b.radius) * (a.reach + b.reach));
  }

  std::vector<geometry::ClosestPoints> run() {
    const geometry::ClosestPoints nearest = closest(a_.interval);
    if (!nearest.found) return {};
    found_.push_back(nearest);
    if (nearly_parallel(unit_tangent(a_.curve, nearest.s_a), unit_tangent(b_.curve, nearest.s_b))) {
      // The distance is flat along the stretch: a few contacts carry it.
      separation_ = std::max(separation_, (a_.interval.end - a_.interval.begin) / largest_contacts);
    }
    // In a valley that could not be proved one contact a pair has to do.
    if (nearest.certified || query_.method != geometry::DetectionMethod::certified)
      search_beside(a_.interval, nearest.s_a);
    return std::move(found_);
  }

 private:
  static constexpr int largest_boxes = 500;         // of one query; a valley is then settled by Newton's method alone
  static constexpr double largest_contacts = 12.0;  // along a parallel stretch
  static constexpr int largest_queries = 32;        // of one pair

  geometry::ClosestPoints closest(const geometry::Interval& interval) {
    ++queries_;
    return geometry::closest_points(a_.curve, interval, b_.curve, b_.interval, query_);
  }

  void search_beside(const geometry::Interval& interval, double s) {
    search({interval.begin, s - separation_});
    search({s + separation_, interval.end});
  }

  /// Local minima inside an interval one or both of whose ends are cuts beside known contacts.
  void search(const geometry::Interval& interval) {
    if (interval.end - interval.begin < separation_ || queries_ >= largest_queries) return;
    const geometry::ClosestPoints nearest = closest(interval);
    if (!nearest.found) return;
    const double rounding = 1e-9 * (interval.end - interval.begin);
    const bool at_cut = (nearest.s_a <= interval.begin + rounding && interval.begin > a_.interval.begin) ||
                        (nearest.s_a >= interval.end - rounding && interval.end < a_.interval.end);
    if (at_cut) {
      const double middle = 0.5 * (interval.begin + interval.end);
      search({interval.begin, middle});
      search({middle, interval.end});
    } else {
      found_.push_back(nearest);
      search_beside(interval, nearest.s_a);
    }
  }

  const Piece& a_;
  const Piece& b_;
  double bound_;
  double separation_;
  int queries_ = 0;
  geometry::ClosestPointsOptions query_;
  std::vector<geometry::ClosestPoints> found_;
};

/// Position of a parameter in a piece's interval: -1 at its begin, 1 at its end, 0 inside.
int side_of(const Piece& piece, double s) {
  const double tolerance = 1e-12 * (piece.interval.end - piece.interval.begin);
  if (s <= piece.interval.begin + tolerance) return -1;
  if (s >= piece.interval.end - tolerance) return 1;
  return 0;
}

/// Whether the point is an end of the body itself, not a junction of two pieces.
bool body_end(const Piece& piece, int side) { return (side < 0 && piece.first) || (side > 0 && piece.last); }

/// Whether the distance falls further on in the neighbour, past this junction. `gap_slope` is the derivative of the
/// distance with the parameter.
bool leaves_through_junction(const Piece& piece, int side, double gap_slope) {
  constexpr double slope_rounding = 1e-9;
  if (side == 0 || body_end(piece, side)) return false;
  return side > 0 ? gap_slope < -slope_rounding : gap_slope > slope_rounding;
}

Candidate make_candidate(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& nearest) {
  const Piece& a = scene.pieces[pair.a];
  const Piece& b = scene.pieces[pair.b];
  Candidate out;
  Contact& contact = out.contact;
  contact.a = pair.a;
  contact.b = pair.b;
  contact.s_a = nearest.s_a;
  contact.s_b = nearest.s_b;
  contact.point_a = geometry::position(a.curve, nearest.s_a);
  contact.point_b = geometry::position(b.curve, nearest.s_b);
  contact.gap = nearest.distance - a.radius - b.radius;

  const int side_a = side_of(a, nearest.s_a);
  const int side_b = side_of(b, nearest.s_b);
  const Vector3 tangent_a = unit_tangent(a.curve, nearest.s_a);
  const Vector3 tangent_b = unit_tangent(b.curve, nearest.s_b);
  contact.frame = contact_frame({contact.point_a, tangent_a, body_end(a, side_a)},
                                {contact.point_b, tangent_b, body_end(b, side_b) || tangent_b.isZero(0.0)});

  const Vector3 direction = (contact.point_b - contact.point_a).stableNormalized();
  out.at_junction = leaves_through_junction(a, side_a, -direction.dot(tangent_a)) ||
                    leaves_through_junction(b, side_b, direction.dot(tangent_b));
  return out;
}

Candidate plane_candidate(const Geometry& scene, int piece, int index, const HalfSpace& plane, double s) {
  const Piece& a = scene.pieces[piece];
  Candidate out;
  Contact& contact = out.contact;
  contact.a = piece;
  contact.b = index;
  contact.s_a = s;
  contact.point_a = geometry::position(a.curve, s);
  const double height = plane.normal.dot(contact.point_a - plane.point);
  contact.point_b = contact.point_a - height * plane.normal;
  contact.gap = height - a.radius;
  const Vector3 tangent = unit_tangent(a.curve, s);
  contact.frame = frame_from_normal(-plane.normal, tangent);
  const double slope = plane.normal.dot(tangent);
  out.at_junction = leaves_through_junction(a, side_of(a, s), slope);
  return out;
}

/// Appends the contacts of a fibre's piece with a plane: every local minimum of the height, ends of the body included.
void add_plane_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  const HalfSpace& plane = scene.planes[-1 - pair.b];
  for (const double s : geometry::lowest_points(a.curve, a.interval, plane.point, plane.normal, a.radius + a.reach)) {
    out.push_back(plane_candidate(scene, pair.a, pair.b, plane, s));
  }
}

/// Contacts of the same two bodies (and, for an obstacle, of the same capsule of it) belong together.
std::array<int, 3> group_of(const Geometry& scene, const Contact& contact) {
  const int body_a = scene.pieces[contact.a].body;
  if (contact.b < 0) return {body_a, scene.planes[-1 - contact.b].body, -1};
  const Piece& b = scene.pieces[contact.b];
  return {body_a, b.body, b.fibre ? -1 : b.element};
}

struct Abscissae {
  double a;
  double b;
};

Abscissae abscissae(const Geometry& scene, const Contact& contact) {
  return {scene.pieces[contact.a].begin + contact.s_a,
          contact.b < 0 ? 0.0 : scene.pieces[contact.b].begin + contact.s_b};
}

/// Drops what a nearer contact of the same two bodies already stands for; docs/contact.md, "Junctions".
void drop_duplicates(const Geometry& scene, const std::vector<Candidate>& group, std::vector<char>& keep,
                     const std::vector<int>& members) {
  std::vector<int> by_gap = members;
  std::stable_sort(by_gap.begin(), by_gap.end(),
                   [&](int i, int j) { return group[i].contact.gap < group[j].contact.gap; });
  std::vector<int> kept;
  for (const int i : by_gap) {
    const Candidate& candidate = group[i];
    const double radius = scene.pieces[candidate.contact.a].radius;
    const Abscissae here = abscissae(scene, candidate.contact);
    bool drop = false;
    const double reach = candidate.at_junction ? 4.0 * radius : radius;
    for (const int j : kept) {
      const Abscissae there = abscissae(scene, group[j].contact);
      drop = drop || (std::abs(here.a - there.a) < reach && std::abs(here.b - there.b) < reach);
    }
    keep[i] = drop ? 0 : 1;
    if (!drop) kept.push_back(i);
  }
}

std::vector<Contact> without_duplicates(const Geometry& scene, const std::vector<Candidate>& candidates) {
  std::map<std::array<int, 3>, std::vector<int>> groups;
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    groups[group_of(scene, candidates[i].contact)].push_back(i);
  }
  std::vector<char> keep(candidates.size(), 1);
  for (const auto& [key, members] : groups) {
    if (members.size() > 1) drop_duplicates(scene, candidates, keep, members);
  }
  std::vector<Contact> contacts;
  contacts.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (keep[i]) contacts.push_back(candidates[i].contact);
  }
  return contacts;
}

}  // namespace

Contact at_same_place(const Geometry& scene, const Contact& contact) {
  const Piece& a = scene.pieces[contact.a];
  if (contact.b < 0) {
    const HalfSpace& plane = scene.planes[-1 - contact.b];
    return plane_candidate(scene, contact.a, contact.b, plane, contact.s_a).contact;
  }
  geometry::ClosestPoints place;
  place.s_a = contact.s_a;
  place.s_b = contact.s_b;
  place.distance =
      (geometry::position(a.curve, contact.s_a) - geometry::position(scene.pieces[contact.b].curve, contact.s_b))
          .norm();
  return make_candidate(scene, {contact.a, contact.b}, place).contact;
}

std::vector<Contact> detect(const Geometry& scene, const std::vector<CandidatePair>& pairs,
                            const DetectionOptions& options) {
  std::vector<std::vector<geometry::ClosestPoints>> nearest(pairs.size());
  oneapi::tbb::parallel_for(std::size_t{0}, pairs.size(), [&](std::size_t i) {
    if (pairs[i].b < 0) return;
    nearest[i] = PairSearch(scene.pieces[pairs[i].a], scene.pieces[pairs[i].b], options).run();
  });
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].b < 0) {
      add_plane_contacts(scene, pairs[i], candidates);
    }
    for (const geometry::ClosestPoints& found : nearest[i]) {
      candidates.push_back(make_candidate(scene, pairs[i], found));
    }
  }
  return without_duplicates(scene, candidates);
}

}  // namespace tresse::contact
