#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <tresse/contact/contact_frame.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/geometry/lowest_points.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::contact::detail {
namespace {

/// The axis of a straight rigid piece.
struct Axis {
  Vector3 begin;
  Vector3 tangent;  ///< unit, zero of a ball
  double length = 0.0;

  explicit Axis(const Piece& piece) : begin(geometry::position(piece.curve, piece.interval.begin)) {
    const Vector3 along = geometry::position(piece.curve, piece.interval.end) - begin;
    length = along.norm();
    tangent = math::safe_normalized(along);
  }
  Vector3 at(double s) const { return begin + s * tangent; }
  double nearest(const Vector3& x) const { return std::clamp(tangent.dot(x - begin), 0.0, length); }
};

/// A pair of places along the two axes.
struct Places {
  double s_a, s_b, distance;
};

Places measured(const Axis& a, const Axis& b, double s_a, double s_b) {
  return {s_a, s_b, math::safe_norm(a.at(s_a) - b.at(s_b))};
}

/// The nearest points of two axes, where they are inside both.
bool crossing(const Axis& a, const Axis& b, Places& out) {
  const double cosine = a.tangent.dot(b.tangent);
  const double sine2 = a.tangent.cross(b.tangent).squaredNorm();
  constexpr double parallel = 1e-12;  // squared: then the nearest points could be anywhere, and the ends are enough
  if (!(sine2 > parallel)) return false;
  const Vector3 apart = b.begin - a.begin;
  const double s_a = (a.tangent.dot(apart) - cosine * b.tangent.dot(apart)) / sine2;
  const double s_b = (cosine * a.tangent.dot(apart) - b.tangent.dot(apart)) / sine2;
  if (!(s_a > 0.0 && s_a < a.length && s_b > 0.0 && s_b < b.length)) return false;
  out = measured(a, b, s_a, s_b);
  return true;
}

/// Places between which the axes must not come nearer than the radii: nearest first, those that all but coincide with a
/// nearer one left out.
std::vector<Places> touching(const Axis& a, const Axis& b, double radii, double bound) {
  std::array<Places, 5> all;
  std::size_t count = 0;
  const auto add = [&](double s_a, double s_b) { all[count++] = measured(a, b, s_a, s_b); };
  add(0.0, b.nearest(a.at(0.0)));
  if (a.length > 0.0) add(a.length, b.nearest(a.at(a.length)));
  if (b.length > 0.0) {
    add(a.nearest(b.at(0.0)), 0.0);
    add(a.nearest(b.at(b.length)), b.length);
  }
  // Of axes that run along each other the ends say as much, but for a rounding.
  constexpr double rounding = 1e-9;
  Places inside{};
  const double nearest_end = std::min_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                                              [](const Places& x, const Places& y) { return x.distance < y.distance; })
                                 ->distance;
  if (crossing(a, b, inside) && inside.distance < nearest_end - rounding * radii) all[count++] = inside;
  std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                   [](const Places& x, const Places& y) { return x.distance < y.distance; });
  // Nearly redundant contacts are where friction solvers are slowest.
  constexpr double share = 0.1;
  const double longer = std::max(a.length, b.length);
  const double apart = share * std::min(longer, 0.5 * radii);
  std::vector<Places> out;
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].distance > bound) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const Places& x) {
      return std::abs(x.s_a - all[i].s_a) <= apart && std::abs(x.s_b - all[i].s_b) <= apart;
    });
    if (!known) out.push_back(all[i]);
  }
  return out;
}

/// Where pieces end: of those of a loop, where they begin, as the next one begins where they end.
std::vector<double> ends_of(const Piece& piece) {
  if (piece.loop > 0.0) return {piece.interval.begin};
  return {piece.interval.begin, piece.interval.end};
}

/// Whether the next piece of a loop has this place too.
bool belongs_to_next(const Piece& piece, double s) { return piece.loop > 0.0 && side_of(piece, s) > 0; }

/// Places of two pieces one of which is bent: the local minima of their distance, and the nearest points of each end of
/// one on the other. What all but coincides is left to without_duplicates().
std::vector<geometry::ClosestPoints> touching_bent(const Piece& a, const Piece& b, double meeting) {
  constexpr int most_boxes = 500;  // along a valley, where any place is as good
  std::vector<geometry::ClosestPoints> out = nearest_points(a, b, {.bound = meeting, .meeting = meeting}, {}).minima;
  const auto search = [&](const geometry::Interval& on_a, const geometry::Interval& on_b) {
    const geometry::ClosestPoints found =
        geometry::closest_points(a.curve, on_a, b.curve, on_b, {.upper_bound = meeting, .max_steps = most_boxes});
    if (found.found) out.push_back(found);
  };
  for (const double s : ends_of(a)) search({s, s}, b.interval);
  for (const double s : ends_of(b)) search(a.interval, {s, s});
  std::erase_if(out, [&](const auto& at) { return belongs_to_next(a, at.s_a) || belongs_to_next(b, at.s_b); });
  return out;
}

void append_bent(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  const Piece& b = scene.pieces[pair.b];
  for (const geometry::ClosestPoints& at : touching_bent(a, b, meeting_distance(a, b))) {
    const CurvePoint on_a = point_of(a.curve, at.s_a);
    const CurvePoint on_b = point_of(b.curve, at.s_b);
    Contact& contact = out.emplace_back(Candidate{contact_between(scene, pair, at, on_a, on_b)}).contact;
    contact.frame = contact_frame({on_a.position, on_a.tangent, true}, {on_b.position, on_b.tangent, true});
  }
}

void append_bent_on_plane(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  const HalfSpace& plane = scene.planes[-1 - pair.b];
  const double bound = a.radius + travel_to_plane(scene, a, plane);
  std::vector<double> lowest = geometry::lowest_points(a.curve, a.interval, plane.point, plane.normal, bound);
  const std::vector<double> ends = ends_of(a);
  lowest.insert(lowest.end(), ends.begin(), ends.end());
  for (const double s : lowest) {
    const CurvePoint on_a = point_of(a.curve, s);
    const double height = plane.normal.dot(on_a.position - plane.point);
    if (height > bound || belongs_to_next(a, s)) continue;
    out.push_back({contact_over_plane(scene, pair, s, on_a)});
  }
}

void append_on_plane(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  const HalfSpace& plane = scene.planes[-1 - pair.b];
  const Axis axis(a);
  const double bound = a.radius + travel_to_plane(scene, a, plane);
  const std::array<double, 2> ends{0.0, axis.length};
  for (std::size_t i = 0; i < (axis.length > 0.0 ? 2U : 1U); ++i) {
    const Vector3 end = axis.at(ends[i]);
    const double height = plane.normal.dot(end - plane.point);
    if (height > bound) continue;
    out.push_back({contact_over_plane(scene, pair, a.interval.begin + ends[i], {end, axis.tangent})});
  }
}

}  // namespace

void append_rigid_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[pair.a];
  if (pair.b < 0) {
    if (a.curvature > 0.0)
      append_bent_on_plane(scene, pair, out);
    else
      append_on_plane(scene, pair, out);
    return;
  }
  const Piece& b = scene.pieces[pair.b];
  if (a.curvature > 0.0 || b.curvature > 0.0) {
    append_bent(scene, pair, out);
    return;
  }
  const Axis axis_a(a);
  const Axis axis_b(b);
  for (const Places& at : touching(axis_a, axis_b, a.radius + b.radius, meeting_distance(a, b))) {
    const CurvePoint on_a{axis_a.at(at.s_a), axis_a.tangent};
    const CurvePoint on_b{axis_b.at(at.s_b), axis_b.tangent};
    const geometry::ClosestPoints near{
        .distance = at.distance, .s_a = a.interval.begin + at.s_a, .s_b = b.interval.begin + at.s_b};
    Contact& contact = out.emplace_back(Candidate{contact_between(scene, pair, near, on_a, on_b)}).contact;
    contact.frame = contact_frame({on_a.position, on_a.tangent, true}, {on_b.position, on_b.tangent, true});
  }
}

}  // namespace tresse::contact::detail
