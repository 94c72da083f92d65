#include <tresse/contact/detection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include <oneapi/tbb/parallel_sort.h>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/contact_frame.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/pair_search.hpp>
#include <tresse/contact/overlaps.hpp>
#include <tresse/geometry/lowest_points.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::contact {
namespace {

using detail::beside_itself;
using detail::body_end;
using detail::Candidate;
using detail::contact_between;
using detail::contact_over_plane;
using detail::CurvePoint;
using detail::leaves_through_junction;
using detail::make_candidate;
using detail::neighbour;
using detail::point_of;
using detail::side_of;

/// Whether a piece is embedded in the body of b.
bool embedded(const Geometry& scene, int piece, int b) {
  const int within = scene.pieces[piece].embedded_in;
  return within >= 0 && within == body_at(scene, b);
}

/// Whether a comes out of b, in which it is embedded, at its end `side`: there the gap need not be at a right angle to
/// a.
bool comes_out(const Geometry& scene, const CandidatePair& pair, int side) {
  return side < 0 && pair.a > 0 && scene.pieces[pair.a - 1].body == scene.pieces[pair.a].body &&
         embedded(scene, pair.a - 1, pair.b);
}

Candidate plane_candidate(const Geometry& scene, int piece, int index, double s) {
  const Piece& a = scene.pieces[piece];
  const CurvePoint on_a = point_of(a.curve, s);
  Candidate out{.contact = contact_over_plane(scene, {piece, index}, s, on_a)};
  out.at_junction = leaves_through_junction(a, side_of(a, s), scene.planes[-1 - index].normal.dot(on_a.tangent));
  return out;
}

/// What two rigid bodies may touch at is all found anew. A mesh has two sides, and the one that counts is known.
bool is_followed(const Geometry& scene, const Place& place) {
  return scene.pieces[piece_at(scene, place.body_a, place.element_a, place.s_a).piece].id.is_fibre() ||
         is_mesh(scene, surface_of(scene, place.body_b));
}

/// The pieces where a contact was.
CandidatePair pair_at(const Geometry& scene, const Place& place) {
  const int surface = surface_of(scene, place.body_b);
  return {piece_at(scene, place.body_a, place.element_a, place.s_a).piece,
          surface < 0 ? surface : piece_at(scene, place.body_b, place.element_b, place.s_b).piece};
}

/// Contacts of the same two bodies (and, for an obstacle that is no loop, of the same tube of it) belong together.
std::array<int, 3> group_of(const Geometry& scene, const Contact& contact) {
  const int body_a = scene.pieces[contact.a].body;
  if (contact.b < 0) return {body_a, body_at(scene, contact.b), -1};
  const Piece& b = scene.pieces[contact.b];
  return {body_a, b.body, b.id.is_fibre() || b.loop > 0.0 ? -1 : b.element};
}

/// Where a comes out of b steeply and goes on inside: no contact, as its normal would run along a, which cannot give.
bool at_way_out(const Geometry& scene, const Candidate& candidate) {
  const Contact& contact = candidate.contact;
  const Piece& piece = scene.pieces[contact.a];
  constexpr double steep = 0.5;  // sine of the angle with the surface
  return candidate.at_junction && comes_out(scene, {contact.a, contact.b}, side_of(piece, contact.s_a)) &&
         std::abs(contact.frame.col(0).dot(point_of(piece.curve, contact.s_a).tangent)) > steep;
}

/// How far along the bodies a nearer contact stands for others.
double stands_for(const Geometry& scene, const Candidate& candidate, const Candidate& nearer) {
  const Piece& piece = scene.pieces[candidate.contact.a];
  constexpr double share = 0.1;  // what lies on a mesh needs both ends, and a short one has them close by
  if (!piece.id.is_fibre()) return share * piece.radius;
  // A smooth piece has few ways to bend: a few contacts along it hold it.
  if (candidate.followed || nearer.followed || candidate.level)
    return std::max(4.0 * piece.radius, 0.25 * (piece.interval.end - piece.interval.begin));
  return candidate.at_junction ? 4.0 * piece.radius : piece.radius;
}

bool stands_for_it(const Geometry& scene, const Candidate& candidate, const Candidate& nearer) {
  const double radius = scene.pieces[candidate.contact.a].radius;
  if (is_mesh(scene, nearer.contact.b) && detail::bear_apart(nearer.contact, candidate.contact, radius)) return false;
  return !(distance_along(scene, candidate.contact, nearer.contact) >= stands_for(scene, candidate, nearer));
}

/// Drops what a nearer contact of the same two bodies already stands for; docs/theory/contact.md, "Junctions".
void drop_duplicates(const Geometry& scene, const std::vector<Candidate>& candidates, std::vector<int>& members,
                     std::vector<char>& keep) {
  // Of two that are as near, as on both sides of a node of a polygon, the one from before stays.
  constexpr double as_near = 1e-6;  // of the radius
  const auto depth = [&](int i) {
    const Contact& contact = candidates[i].contact;
    return contact.gap - (candidates[i].followed ? as_near * scene.pieces[contact.a].radius : 0.0);
  };
  std::sort(members.begin(), members.end(), [&](int i, int j) {
    const double depth_i = depth(i), depth_j = depth(j);
    return depth_i != depth_j ? depth_i < depth_j : i < j;
  });
  constexpr std::size_t few = 64;  // of which all are looked at, sooner than they are sorted
  if (members.size() <= few) {
    for (std::size_t m = 1; m < members.size(); ++m) {
      for (std::size_t n = 0; n < m && keep[members[m]]; ++n)
        keep[members[m]] = !keep[members[n]] || !stands_for_it(scene, candidates[members[m]], candidates[members[n]]);
    }
    return;
  }
  std::multimap<double, int> kept;  // by arc length of a
  for (const int m : members) {
    const Candidate& candidate = candidates[m];
    const Piece& piece = scene.pieces[candidate.contact.a];
    const double along = arc_length_at(piece, candidate.contact.s_a);
    const double farthest = std::max(4.0 * piece.radius, 0.25 * (piece.interval.end - piece.interval.begin));
    const auto end = kept.upper_bound(along + farthest);
    keep[m] = std::none_of(kept.lower_bound(along - farthest), end, [&](const auto& nearer) {
      return stands_for_it(scene, candidate, candidates[nearer.second]);
    });
    if (keep[m]) kept.emplace(along, m);
  }
}

}  // namespace

namespace detail {

bool beside_itself(const Geometry& scene, const Contact& contact) {
  if (contact.b < 0 || scene.pieces[contact.a].body != scene.pieces[contact.b].body) return false;
  const auto [first, last] = std::minmax(contact.a, contact.b);
  if (last - first < 2) return true;
  const double between = std::abs(arc_length_at(scene.pieces[contact.b], contact.s_b) -
                                  arc_length_at(scene.pieces[contact.a], contact.s_a));
  const auto begin = scene.pieces.begin();
  return std::none_of(begin + first, begin + last + 1,
                      [&](const Piece& piece) { return piece.curvature * between >= std::numbers::pi; });
}

int side_of(const Piece& piece, double s) {
  const double tolerance = 1e-12 * (piece.interval.end - piece.interval.begin);
  if (s <= piece.interval.begin + tolerance) return -1;
  if (s >= piece.interval.end - tolerance) return 1;
  return 0;
}

int neighbour(const Geometry& scene, int piece, int side) {
  const Piece& of = scene.pieces[piece];
  if (side == 0 || body_end(of, side)) return -1;
  const int next = piece + side;
  if (!(of.loop > 0.0)) return next;
  const int begin = scene.body_begin[of.body];
  const int end = scene.body_begin[of.body + 1];
  return next < begin ? end - 1 : next == end ? begin : next;
}

Contact contact_between(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& at,
                        const CurvePoint& on_a, const CurvePoint& on_b) {
  Contact out;
  out.a = pair.a;
  out.b = pair.b;
  out.s_a = at.s_a;
  out.s_b = at.s_b;
  out.point_a = on_a.position;
  out.point_b = on_b.position;
  out.gap = at.distance - scene.pieces[pair.a].radius - scene.pieces[pair.b].radius;
  return out;
}

Contact contact_over_plane(const Geometry& scene, const CandidatePair& pair, double s, const CurvePoint& on_a) {
  const HalfSpace& plane = scene.planes[-1 - pair.b];
  const double height = plane.normal.dot(on_a.position - plane.point);
  Contact out;
  out.a = pair.a;
  out.b = pair.b;
  out.s_a = s;
  out.point_a = on_a.position;
  out.point_b = on_a.position - height * plane.normal;
  out.gap = height - scene.pieces[pair.a].radius;
  out.frame = frame_from_normal(-plane.normal, on_a.tangent);
  return out;
}

Candidate make_candidate(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& nearest,
                         bool along_gap) {
  const Piece& a = scene.pieces[pair.a];
  const Piece& b = scene.pieces[pair.b];
  const CurvePoint on_a = point_of(a.curve, nearest.s_a);
  const CurvePoint on_b = point_of(b.curve, nearest.s_b);
  Candidate out{.contact = contact_between(scene, pair, nearest, on_a, on_b)};
  Contact& contact = out.contact;
  const int side_a = side_of(a, nearest.s_a);
  const int side_b = side_of(b, nearest.s_b);
  contact.frame =
      contact_frame({on_a.position, on_a.tangent, along_gap || body_end(a, side_a) || comes_out(scene, pair, side_a)},
                    {on_b.position, on_b.tangent, along_gap || body_end(b, side_b) || on_b.tangent.isZero(0.0)});

  const Vector3 direction = math::safe_normalized(contact.point_b - contact.point_a);
  out.at_junction = leaves_through_junction(a, side_a, -direction.dot(on_a.tangent)) ||
                    leaves_through_junction(b, side_b, direction.dot(on_b.tangent));
  return out;
}

bool leaves_through_junction(const Piece& piece, int side, double gap_slope) {
  constexpr double slope_rounding = 1e-9;
  if (side == 0 || body_end(piece, side)) return false;
  return side > 0 ? gap_slope < -slope_rounding : gap_slope > slope_rounding;
}

double append_contacts(const Geometry& scene, const CandidatePair& pair, const DetectionOptions& options,
                       std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  if (is_mesh(scene, pair.b)) {
    append_mesh_contacts(scene, pair, out);
    return 0.0;
  }
  if (!a.id.is_fibre()) {
    append_rigid_contacts(scene, pair, out);
    return 0.0;
  }
  if (pair.b < 0) {
    const HalfSpace& plane = scene.planes[-1 - pair.b];
    const double reach = a.radius + travel_to_plane(scene, a, plane);
    const std::vector<double> lowest = geometry::lowest_points(a.curve, a.interval, plane.point, plane.normal, reach);
    for (const double s : lowest) out.push_back(plane_candidate(scene, pair.a, pair.b, s));
    append_stations_over_plane(scene, pair, lowest, out);
    return 0.0;
  }
  const double meeting = meeting_distance(a, scene.pieces[pair.b]);
  const detail::NearestPoints nearest = nearest_points(a, scene.pieces[pair.b], {meeting, meeting}, options);
  for (const geometry::ClosestPoints& found : nearest.minima) out.push_back(make_candidate(scene, pair, found, false));
  append_stations(scene, pair, nearest.minima, out);
  return nearest.distance;
}

void append_overlaps(const Geometry& scene, const CandidatePair& pair, double depth, const DetectionOptions& options,
                     std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  if (pair.b < 0 || !a.id.is_fibre()) {
    static_cast<void>(append_contacts(scene, pair, options, out));
    return;
  }
  const Piece& b = scene.pieces[pair.b];
  const Nearness deep{std::max(a.radius + b.radius - depth, a.radius), meeting_distance(a, b)};
  for (const geometry::ClosestPoints& found : nearest_points(a, b, deep, options).minima)
    out.push_back(make_candidate(scene, pair, found, false));
}

void append_all(const Geometry& scene, const std::vector<CandidatePair>& pairs, const DetectionOptions& options,
                std::vector<Candidate>& out) {
  constexpr std::size_t block = 32;
  std::vector<std::vector<Candidate>> found((pairs.size() + block - 1) / block);
  for_blocks(pairs.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) static_cast<void>(append_contacts(scene, pairs[i], options, found[k]));
  });
  for (const std::vector<Candidate>& part : found) out.insert(out.end(), part.begin(), part.end());
}

void follow_one(const Geometry& scene, const Place& place, std::vector<Candidate>& out) {
  OnPiece on_a = piece_at(scene, place.body_a, place.element_a, place.s_a);
  // Where a comes out of b two pieces meet, and only the second touches.
  const int last = scene.body_begin[place.body_a + 1] - 1;
  while (on_a.piece < last && scene.pieces[on_a.piece].embedded_in == place.body_b)
    on_a = {on_a.piece + 1, scene.pieces[on_a.piece + 1].interval.begin};
  if (const int surface = surface_of(scene, place.body_b); surface < 0) {
    Candidate found = is_plane(scene, surface) ? plane_candidate(scene, on_a.piece, surface, on_a.s)
                                               : follow_on_mesh(scene, on_a, surface, place);
    out.push_back(found);
    found.fixed = found.contact.s_a == on_a.s && is_station(scene.pieces[on_a.piece], place.s_a);
    if (found.fixed) out.push_back(found);  // of a line; alone it is a contact as any other
    return;
  }
  const OnPiece on_b = piece_at(scene, place.body_b, place.element_b, place.s_b);
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
  Candidate found = search(on_a.piece, on_b.piece, on_a.s, on_b.s);
  if (found.at_junction) {
    const Piece& a = scene.pieces[found.contact.a];
    const Piece& b = scene.pieces[found.contact.b];
    const int side_a = side_of(a, found.contact.s_a);
    const int side_b = side_of(b, found.contact.s_b);
    int next_a = neighbour(scene, found.contact.a, side_a);
    if (next_a >= 0 && embedded(scene, next_a, found.contact.b)) next_a = -1;
    const int next_b = neighbour(scene, found.contact.b, side_b);
    const auto start = [&](int next, int side, double s) {
      if (next < 0) return s;
      return side > 0 ? scene.pieces[next].interval.begin : scene.pieces[next].interval.end;
    };
    const Candidate beyond = search(next_a < 0 ? found.contact.a : next_a, next_b < 0 ? found.contact.b : next_b,
                                    start(next_a, side_a, found.contact.s_a), start(next_b, side_b, found.contact.s_b));
    if (beyond.contact.gap < found.contact.gap) found = beyond;
  }
  out.push_back(found);
  Candidate fixed = follow_fixed(scene, on_a, place);
  fixed.stays = !is_station(scene.pieces[on_a.piece], place.s_a);
  if (!fixed.stays || may_stay(scene, fixed, found)) out.push_back(fixed);
}

namespace {

/// Whether the distance falls further on in the neighbour of a piece, past the junction at one of its places. `slope`:
/// by the arc length, for a tangent there.
template <class Slope>
bool falls_beyond(const Geometry& scene, int piece, double s, const Slope& slope) {
  const int side = side_of(scene.pieces[piece], s);
  const int next = neighbour(scene, piece, side);
  if (next < 0) return false;
  const Piece& beyond = scene.pieces[next];
  const double end = side > 0 ? beyond.interval.begin : beyond.interval.end;
  return leaves_through_junction(scene.pieces[piece], side, slope(point_of(beyond.curve, end).tangent));
}

/// Whether a potential takes a candidate. Its minima at junctions are those beyond which the distance does not fall:
/// both edges of a polygon lead to a node that points to the other body, and the gap is the direction of its force.
bool has_potential(const Geometry& scene, Candidate& candidate) {
  if (candidate.line_end) return false;
  if (candidate.fixed ? !candidate.beyond : !candidate.at_junction) return true;
  const Contact& contact = candidate.contact;
  const Vector3 normal =
      contact.b < 0 ? Vector3(contact.frame.col(0)) : math::safe_normalized(contact.point_b - contact.point_a);
  if (!candidate.fixed &&
      falls_beyond(scene, contact.a, contact.s_a, [&](const Vector3& tangent) { return -normal.dot(tangent); }))
    return false;
  if (contact.b < 0) return true;
  if (falls_beyond(scene, contact.b, contact.s_b, [&](const Vector3& tangent) { return normal.dot(tangent); }))
    return false;
  if (candidate.fixed) return true;
  const double distance = contact.gap + scene.pieces[contact.a].radius + scene.pieces[contact.b].radius;
  candidate = make_candidate(scene, {contact.a, contact.b},
                             {.distance = distance, .s_a = contact.s_a, .s_b = contact.s_b}, true);
  candidate.at_junction = false;
  return true;
}

}  // namespace

std::vector<Contact> without_duplicates(const Geometry& scene, std::vector<Candidate> candidates, double softness) {
  struct Member {
    std::array<int, 3> group;
    int index;
  };
  std::vector<Member> sorted;
  sorted.reserve(candidates.size());
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    const Contact& contact = candidates[i].contact;
    // Beyond a junction where the distance falls further the neighbour has the minimum.
    if (softness > 0.0 ? !has_potential(scene, candidates[i]) : candidates[i].beyond) continue;
    if (!at_way_out(scene, candidates[i]) && !beside_itself(scene, contact))
      sorted.push_back({group_of(scene, contact), i});
  }
  const auto before = [](const Member& x, const Member& y) {
    return x.group != y.group ? x.group < y.group : x.index < y.index;
  };
  constexpr std::size_t few = 1000;
  if (sorted.size() <= few) {
    std::sort(sorted.begin(), sorted.end(), before);
  } else {
    oneapi::tbb::parallel_sort(sorted.begin(), sorted.end(), before);
  }
  std::vector<char> keep(candidates.size(), 0);
  std::vector<std::size_t> begin;  // of each group, and the end
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    keep[static_cast<std::size_t>(sorted[k].index)] = 1;
    if (k == 0 || sorted[k].group != sorted[k - 1].group) begin.push_back(k);
  }
  const std::size_t groups = begin.size();
  begin.push_back(sorted.size());
  constexpr std::size_t block = 256;
  for_blocks(groups, block, [&](std::size_t, std::size_t first, std::size_t last) {
    std::vector<int> members;
    for (std::size_t g = first; g < last; ++g) {
      // Those of two rigid bodies stand apart, or are both needed: the ends of a short capsule on a plane. A loop has
      // them on both sides of a joint.
      const Contact& one = candidates[static_cast<std::size_t>(sorted[begin[g]].index)].contact;
      const bool loops = scene.pieces[one.a].loop > 0.0 || (one.b >= 0 && scene.pieces[one.b].loop > 0.0);
      const bool thinned = scene.pieces[one.a].id.is_fibre() || is_mesh(scene, one.b) || loops;
      if (!thinned || begin[g + 1] - begin[g] < 2) continue;
      members.clear();
      for (std::size_t k = begin[g]; k < begin[g + 1]; ++k) members.push_back(sorted[k].index);
      if (softness > 0.0) {
        give_reach(scene, candidates, members, keep, softness);
        continue;
      }
      thin_lines(scene, candidates, members, keep);
      std::erase_if(members, [&](int m) { return !keep[m] || candidates[m].fixed; });
      drop_duplicates(scene, candidates, members, keep);
    }
  });
  std::vector<Contact> contacts;
  contacts.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!keep[i]) continue;
    contacts.push_back(candidates[i].contact);
    contacts.back().fixed = candidates[i].fixed;
  }
  return contacts;
}

void append_followed(const Geometry& scene, const std::vector<Place>& places, const DetectionOptions& options,
                     std::vector<Candidate>& out) {
  // The baseline of segments must not be told where the smooth curves are nearest.
  if (options.method == geometry::DetectionMethod::segments) return;
  constexpr std::size_t block = 128;
  std::vector<std::vector<Candidate>> found((places.size() + block - 1) / block);
  for_blocks(places.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_followed(scene, places[i])) continue;
      const auto before = static_cast<std::ptrdiff_t>(found[k].size());
      follow_one(scene, places[i], found[k]);
      std::for_each(found[k].begin() + before, found[k].end(), [](Candidate& one) { one.followed = true; });
    }
  });
  for (const std::vector<Candidate>& part : found) out.insert(out.end(), part.begin(), part.end());
}

}  // namespace detail

Place place_of(const Geometry& scene, const Contact& contact) {
  const Piece& a = scene.pieces[contact.a];
  const double u = a.span.in_material(contact.s_a);
  if (contact.b < 0)
    return {a.body,       a.element, body_at(scene, contact.b), contact.face, u, static_cast<double>(contact.side),
            contact.fixed};
  const Piece& b = scene.pieces[contact.b];
  return {a.body, a.element, b.body, b.element, u, b.span.in_material(contact.s_b), contact.fixed};
}

bool is_place(const Geometry& scene, const Place& place) {
  const auto bodies = static_cast<int>(scene.body_begin.size()) - 1;
  const auto has_pieces = [&](int body) { return scene.body_begin[body] < scene.body_begin[body + 1]; };
  if (place.body_a < 0 || place.body_a >= bodies || place.body_b < 0 || place.body_b >= bodies) return false;
  constexpr double farthest = 1e9;  // [m]
  return has_pieces(place.body_a) && (has_pieces(place.body_b) || surface_of(scene, place.body_b) != 0) &&
         std::abs(place.s_a) <= farthest && std::abs(place.s_b) <= farthest;
}

double distance_along(const Geometry& scene, const Contact& contact, const Contact& other) {
  const auto apart = [&](int piece, double s, int other_piece, double other_s) {
    const double far =
        std::abs(arc_length_at(scene.pieces[piece], s) - arc_length_at(scene.pieces[other_piece], other_s));
    return std::min(far, std::abs(scene.pieces[piece].loop - far));  // what is no loop has 0 there
  };
  const double along_a = apart(contact.a, contact.s_a, other.a, other.s_a);
  if (contact.b < 0 || other.b < 0) return along_a;
  return std::max(along_a, apart(contact.b, contact.s_b, other.b, other.s_b));
}

std::vector<Contact> follow(const Geometry& scene, const std::vector<Place>& places) {
  std::vector<Candidate> candidates;
  candidates.reserve(places.size());
  std::vector<CandidatePair> rigid;
  for (const Place& place : places) {
    if (is_followed(scene, place)) {
      const std::size_t before = candidates.size();
      detail::follow_one(scene, place, candidates);
      if (place.fixed)
        std::for_each(candidates.begin() + before, candidates.end(), [](Candidate& one) { one.stays = false; });
    } else {
      rigid.push_back(pair_at(scene, place));
    }
  }
  std::sort(rigid.begin(), rigid.end());
  for (std::size_t i = 0; i < rigid.size(); ++i) {
    if (i == 0 || rigid[i - 1] < rigid[i]) detail::append_rigid_contacts(scene, rigid[i], candidates);
  }
  return detail::without_duplicates(scene, std::move(candidates), 0.0);
}

std::vector<Contact> detect(const Geometry& scene, const std::vector<CandidatePair>& pairs,
                            const DetectionOptions& options, const std::vector<Place>& followed) {
  std::vector<Candidate> candidates;
  detail::append_all(scene, pairs, options, candidates);
  detail::append_followed(scene, followed, options, candidates);
  return detail::without_duplicates(scene, std::move(candidates), options.softness);
}

std::vector<Contact> overlaps(const Geometry& scene, const std::vector<CandidatePair>& pairs, double depth,
                              const DetectionOptions& options) {
  constexpr std::size_t block = 128;
  std::vector<std::vector<Candidate>> found((pairs.size() + block - 1) / block);
  for_blocks(pairs.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) detail::append_overlaps(scene, pairs[i], depth, options, found[k]);
  });
  return detail::without_duplicates(scene, joined(found), options.softness);
}

}  // namespace tresse::contact
