#include <tresse/contact/detection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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
  bool followed = false;     ///< from an earlier configuration
};

/// A point of a curve and its unit tangent, zero where the curve is a point.
struct CurvePoint {
  Vector3 position;
  Vector3 tangent;
};

CurvePoint point_of(const geometry::PreparedCurve& curve, double s) {
  return std::visit(
      [s](const auto& c) -> CurvePoint {
        const geometry::CurveJet jet = c.jet(s);
        const double size = jet.first.norm();
        return {c.origin + jet.offset, size > 0.0 ? Vector3(jet.first / size) : Vector3(Vector3::Zero())};
      },
      curve);
}

/// How far along a contact is followed from one configuration to the next, in radii.
constexpr double follow_radii = 2.0;

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
      : a_(a), b_(b), bound_(meeting_distance(a, b)) {
    query_ = {.method = options.method,
              .tolerance = options.tolerance,
              .upper_bound = bound_,
              .max_steps = along_each_other(a, b) ? boxes_in_valley : largest_boxes};
    // Within this of a local minimum the distance to a bar stays below the bound: d^2 = s^2 across it.
    const double radii = a.radius + b.radius;
    separation_ = 2.0 * a.radius + 2.0 * std::sqrt(2.0 * radii * (bound_ - radii));
  }

  std::vector<geometry::ClosestPoints> run() {
    const geometry::ClosestPoints nearest = closest(a_.interval);
    if (!nearest.found) return {};
    found_.push_back(nearest);
    if (nearly_parallel(point_of(a_.curve, nearest.s_a).tangent, point_of(b_.curve, nearest.s_b).tangent)) {
      // The distance is flat along the stretch: a few contacts carry it.
      separation_ = std::max(separation_, (a_.interval.end - a_.interval.begin) / largest_contacts);
    }
    // In a valley that could not be proved one contact a pair has to do.
    if (nearest.certified || query_.method != geometry::DetectionMethod::certified)
      search_beside(a_.interval, nearest.s_a);
    return std::move(found_);
  }

 private:
  static constexpr int largest_boxes = 500;         // of one query
  static constexpr int boxes_in_valley = 32;        // of pieces that run along each other: Newton's method settles it
  static constexpr double largest_contacts = 12.0;  // along a parallel stretch
  static constexpr int largest_queries = 32;        // of one pair

  /// Whether the pieces' chords are nearly parallel, as those of neighbours in a wisp.
  static bool along_each_other(const Piece& a, const Piece& b) {
    const Vector3 p = geometry::position(a.curve, a.interval.end) - geometry::position(a.curve, a.interval.begin);
    const Vector3 q = geometry::position(b.curve, b.interval.end) - geometry::position(b.curve, b.interval.begin);
    return p.cross(q).norm() < 2.0 * parallel_sine * p.norm() * q.norm();
  }

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

/// `along_gap`: the normal is the direction of the gap, as at an end.
Candidate make_candidate(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& nearest,
                         bool along_gap) {
  const Piece& a = scene.pieces[pair.a];
  const Piece& b = scene.pieces[pair.b];
  const CurvePoint on_a = point_of(a.curve, nearest.s_a);
  const CurvePoint on_b = point_of(b.curve, nearest.s_b);
  Candidate out;
  Contact& contact = out.contact;
  contact.a = pair.a;
  contact.b = pair.b;
  contact.s_a = nearest.s_a;
  contact.s_b = nearest.s_b;
  contact.point_a = on_a.position;
  contact.point_b = on_b.position;
  contact.gap = nearest.distance - a.radius - b.radius;

  const int side_a = side_of(a, nearest.s_a);
  const int side_b = side_of(b, nearest.s_b);
  contact.frame =
      contact_frame({on_a.position, on_a.tangent, along_gap || body_end(a, side_a)},
                    {on_b.position, on_b.tangent, along_gap || body_end(b, side_b) || on_b.tangent.isZero(0.0)});

  const Vector3 direction = (contact.point_b - contact.point_a).stableNormalized();
  out.at_junction = leaves_through_junction(a, side_a, -direction.dot(on_a.tangent)) ||
                    leaves_through_junction(b, side_b, direction.dot(on_b.tangent));
  return out;
}

Candidate plane_candidate(const Geometry& scene, int piece, int index, double s) {
  const Piece& a = scene.pieces[piece];
  const HalfSpace& plane = scene.planes[-1 - index];
  const CurvePoint on_a = point_of(a.curve, s);
  Candidate out;
  Contact& contact = out.contact;
  contact.a = piece;
  contact.b = index;
  contact.s_a = s;
  contact.point_a = on_a.position;
  const double height = plane.normal.dot(contact.point_a - plane.point);
  contact.point_b = contact.point_a - height * plane.normal;
  contact.gap = height - a.radius;
  contact.frame = frame_from_normal(-plane.normal, on_a.tangent);
  out.at_junction = leaves_through_junction(a, side_of(a, s), plane.normal.dot(on_a.tangent));
  return out;
}

/// Appends the contacts of a fibre's piece with a plane: every local minimum of the height, ends of the body included.
void add_plane_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  const HalfSpace& plane = scene.planes[-1 - pair.b];
  for (const double s :
       geometry::lowest_points(a.curve, a.interval, plane.point, plane.normal, a.radius + a.reach + a.drift.norm())) {
    out.push_back(plane_candidate(scene, pair.a, pair.b, s));
  }
}

/// The piece after (or before) one of the same body, -1 at the body's end.
int neighbour(const Geometry& scene, int piece, int side) {
  if (side == 0 || body_end(scene.pieces[piece], side)) return -1;
  return piece + side;
}

/// A contact of an earlier configuration where it is now: the nearest points within `follow_radii` radii of its place
/// along a, and as far as that can carry it along b. May pass one junction on each side.
Candidate follow_one(const Geometry& scene, const Place& place) {
  const int piece_a = piece_at(scene, place.body_a, place.element_a, place.s_a);
  if (place.element_b < 0) {
    const auto plane = std::find_if(scene.planes.begin(), scene.planes.end(),
                                    [&](const HalfSpace& p) { return p.body == place.body_b; });
    return plane_candidate(scene, piece_a, -1 - static_cast<int>(plane - scene.planes.begin()), place.s_a);
  }
  const auto around = [](const Piece& piece, double s, double size) -> geometry::Interval {
    return {std::clamp(s - size, piece.interval.begin, piece.interval.end),
            std::clamp(s + size, piece.interval.begin, piece.interval.end)};
  };
  const auto search = [&](int a, int b, double s_a, double s_b) {
    const double window = follow_radii * scene.pieces[a].radius;
    const double window_b = window + meeting_distance(scene.pieces[a], scene.pieces[b]);
    const auto nearest =
        geometry::closest_points_near(scene.pieces[a].curve, around(scene.pieces[a], s_a, window),
                                      scene.pieces[b].curve, around(scene.pieces[b], s_b, window_b), {s_a, s_b});
    return make_candidate(scene, {a, b}, nearest, true);
  };
  Candidate out = search(piece_a, piece_at(scene, place.body_b, place.element_b, place.s_b), place.s_a, place.s_b);
  if (out.at_junction) {
    const Piece& a = scene.pieces[out.contact.a];
    const Piece& b = scene.pieces[out.contact.b];
    const int side_a = side_of(a, out.contact.s_a);
    const int side_b = side_of(b, out.contact.s_b);
    const int next_a = neighbour(scene, out.contact.a, side_a);
    const int next_b = neighbour(scene, out.contact.b, side_b);
    const auto start = [&](int next, int side, double s) {
      if (next < 0) return s;
      return side > 0 ? scene.pieces[next].interval.begin : scene.pieces[next].interval.end;
    };
    const Candidate beyond = search(next_a < 0 ? out.contact.a : next_a, next_b < 0 ? out.contact.b : next_b,
                                    start(next_a, side_a, out.contact.s_a), start(next_b, side_b, out.contact.s_b));
    if (beyond.contact.gap < out.contact.gap) out = beyond;
  }
  return out;
}

/// Contacts of the same two bodies (and, for an obstacle, of the same capsule of it) belong together.
std::array<int, 3> group_of(const Geometry& scene, const Contact& contact) {
  const int body_a = scene.pieces[contact.a].body;
  if (contact.b < 0) return {body_a, scene.planes[-1 - contact.b].body, -1};
  const Piece& b = scene.pieces[contact.b];
  return {body_a, b.body, b.fibre ? -1 : b.element};
}

/// Drops what a nearer contact of the same two bodies already stands for; docs/contact.md, "Junctions".
void drop_duplicates(const Geometry& scene, const std::vector<Candidate>& candidates, std::vector<int>& members,
                     std::vector<char>& keep) {
  std::sort(members.begin(), members.end(), [&](int i, int j) {
    const double gap_i = candidates[i].contact.gap;
    const double gap_j = candidates[j].contact.gap;
    return gap_i != gap_j ? gap_i < gap_j : i < j;
  });
  for (std::size_t m = 1; m < members.size(); ++m) {
    const Candidate& candidate = candidates[members[m]];
    const double radius = scene.pieces[candidate.contact.a].radius;
    for (std::size_t n = 0; n < m && keep[members[m]]; ++n) {
      if (!keep[members[n]]) continue;
      const Candidate& nearer = candidates[members[n]];
      double least = candidate.at_junction ? 4.0 * radius : radius;
      if (candidate.followed || nearer.followed) {
        // A smooth piece has few ways to bend: a few contacts along it hold it.
        const geometry::Interval& whole = scene.pieces[candidate.contact.a].interval;
        least = std::max(4.0 * radius, 0.25 * (whole.end - whole.begin));
      }
      keep[members[m]] = distance_along(scene, candidate.contact, nearer.contact) >= least;
    }
  }
}

std::vector<Contact> without_duplicates(const Geometry& scene, const std::vector<Candidate>& candidates) {
  struct Member {
    std::array<int, 3> group;
    int index;
  };
  std::vector<Member> sorted;
  sorted.reserve(candidates.size());
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    sorted.push_back({group_of(scene, candidates[i].contact), i});
  }
  std::sort(sorted.begin(), sorted.end(), [](const Member& x, const Member& y) {
    return x.group != y.group ? x.group < y.group : x.index < y.index;
  });
  std::vector<char> keep(candidates.size(), 1);
  std::vector<int> members;
  for (std::size_t begin = 0; begin < sorted.size();) {
    members.clear();
    std::size_t end = begin;
    for (; end < sorted.size() && sorted[end].group == sorted[begin].group; ++end) members.push_back(sorted[end].index);
    if (members.size() > 1) drop_duplicates(scene, candidates, members, keep);
    begin = end;
  }
  std::vector<Contact> contacts;
  contacts.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (keep[i]) contacts.push_back(candidates[i].contact);
  }
  return contacts;
}

}  // namespace

Place place_of(const Geometry& scene, const Contact& contact) {
  const Piece& a = scene.pieces[contact.a];
  if (contact.b < 0) return {a.body, a.element, scene.planes[-1 - contact.b].body, -1, contact.s_a, 0.0};
  const Piece& b = scene.pieces[contact.b];
  return {a.body, a.element, b.body, b.element, contact.s_a, contact.s_b};
}

double distance_along(const Geometry& scene, const Contact& contact, const Contact& other) {
  const double along_a =
      std::abs(scene.pieces[contact.a].begin + contact.s_a - scene.pieces[other.a].begin - other.s_a);
  if (contact.b < 0 || other.b < 0) return along_a;
  return std::max(along_a,
                  std::abs(scene.pieces[contact.b].begin + contact.s_b - scene.pieces[other.b].begin - other.s_b));
}

std::vector<Contact> follow(const Geometry& scene, const std::vector<Place>& places) {
  std::vector<Candidate> candidates;
  candidates.reserve(places.size());
  for (const Place& place : places) candidates.push_back(follow_one(scene, place));
  return without_duplicates(scene, candidates);
}

std::vector<Contact> detect(const Geometry& scene, const std::vector<CandidatePair>& pairs,
                            const DetectionOptions& options, const std::vector<Place>& followed) {
  std::vector<std::vector<geometry::ClosestPoints>> nearest(pairs.size());
  const auto search = [&](std::size_t i) {
    if (pairs[i].b >= 0) nearest[i] = PairSearch(scene.pieces[pairs[i].a], scene.pieces[pairs[i].b], options).run();
  };
  constexpr std::size_t few = 64;  // not worth a scheduler's trouble
  if (pairs.size() <= few) {
    for (std::size_t i = 0; i < pairs.size(); ++i) search(i);
  } else {
    oneapi::tbb::parallel_for(std::size_t{0}, pairs.size(), search);
  }
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].b < 0) add_plane_contacts(scene, pairs[i], candidates);
    for (const geometry::ClosestPoints& found : nearest[i]) {
      candidates.push_back(make_candidate(scene, pairs[i], found, false));
    }
  }
  // The baseline of segments must not be told where the smooth curves are nearest.
  if (options.method != geometry::DetectionMethod::segments) {
    for (const Place& place : followed) {
      candidates.push_back(follow_one(scene, place));
      candidates.back().followed = true;
    }
  }
  return without_duplicates(scene, candidates);
}

}  // namespace tresse::contact
