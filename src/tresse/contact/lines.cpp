#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/contact/detail/candidate.hpp>

// Lines of contact: where two bodies lie along each other, contacts are at stations, points of a's material.
namespace tresse::contact::detail {
namespace {

/// How much farther than the nearest points a station may be from b and still be on a line, of a's radius.
constexpr double flat = 0.1;
/// How much deeper a minimum may be than the fixed contacts beside it say, of a's radius.
constexpr double shallow = 1e-2;
/// Differences of gaps that are rounding, and those at which the nearest points are anywhere, of a's radius.
constexpr double rounding_gap = 1e-9, level_gap = 1e-6;

/// Where a contact is along its two bodies. [m]
struct Along {
  int index = 0;  ///< among the candidates
  double a = 0.0;
  double b = 0.0;
  double spacing = 0.0;  ///< of the stations there
};

Along along(const Geometry& scene, const std::vector<Candidate>& candidates, int index) {
  const Contact& contact = candidates[static_cast<std::size_t>(index)].contact;
  const Piece& a = scene.pieces[static_cast<std::size_t>(contact.a)];
  Along out{index, arc_length_at(a, contact.s_a), 0.0, station_spacing(a)};
  if (contact.b >= 0) out.b = arc_length_at(scene.pieces[static_cast<std::size_t>(contact.b)], contact.s_b);
  return out;
}

/// Distance along b, the shorter way round a loop.
double apart_on_b(const Geometry& scene, const Contact& contact, double b, double other) {
  const double far = std::abs(b - other);
  return contact.b < 0 ? far : std::min(far, std::abs(scene.pieces[static_cast<std::size_t>(contact.b)].loop - far));
}

/// Which way the point of b that is nearest to a station leaves b's piece, as the neighbour is nearer still; 0: none.
int leaves_over(const Geometry& scene, const Contact& contact) {
  const Piece& b = scene.pieces[static_cast<std::size_t>(contact.b)];
  const int side = side_of(b, contact.s_b);
  if (side == 0) return 0;
  const Vector3 tangent = point_of(b.curve, contact.s_b).tangent;
  return leaves_through_junction(b, side, contact.frame.col(0).dot(tangent)) ? side : 0;
}

/// The fixed contacts of two bodies, in order along a, each once.
std::vector<Along> fixed_among(const Geometry& scene, const std::vector<Candidate>& candidates,
                               const std::vector<int>& members, std::vector<char>& keep) {
  std::vector<Along> out;
  for (const int m : members) {
    if (candidates[static_cast<std::size_t>(m)].fixed) out.push_back(along(scene, candidates, m));
  }
  const auto gap = [&](const Along& x) { return candidates[static_cast<std::size_t>(x.index)].contact.gap; };
  std::sort(out.begin(), out.end(), [&](const Along& x, const Along& y) {
    return x.a != y.a ? x.a < y.a : gap(x) != gap(y) ? gap(x) < gap(y) : x.index < y.index;
  });
  // A line has few contacts that stay between stations: no two fixed ones nearer than this, of the spacing.
  constexpr double rounding = 1e-9, sparse = 0.4;
  const auto station = [&](const Along& x) {
    const Contact& contact = candidates[static_cast<std::size_t>(x.index)].contact;
    const Piece& piece = scene.pieces[static_cast<std::size_t>(contact.a)];
    return is_station(piece, piece.span.in_material(contact.s_a));
  };
  std::stable_partition(out.begin(), out.end(), station);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Contact& contact = candidates[static_cast<std::size_t>(out[i].index)].contact;
    const double near = scene.pieces[static_cast<std::size_t>(contact.a)].radius + skin_at(scene, contact.b);
    const double apart = (station(out[i]) ? rounding : sparse) * out[i].spacing;
    const bool twice = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), [&](const Along& k) {
      return std::abs(out[i].a - k.a) < apart && apart_on_b(scene, contact, out[i].b, k.b) < near + apart;
    });
    if (twice) {
      keep[static_cast<std::size_t>(out[i].index)] = 0;
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  std::sort(out.begin(), out.end(),
            [](const Along& x, const Along& y) { return x.a != y.a ? x.a < y.a : x.index < y.index; });
  return out;
}

}  // namespace

void thin_lines(const Geometry& scene, std::vector<Candidate>& candidates, const std::vector<int>& members,
                std::vector<char>& keep) {
  const std::vector<Along> fixed = fixed_among(scene, candidates, members, keep);
  if (fixed.empty()) return;
  const auto contact_of = [&](const Along& x) -> const Contact& {
    return candidates[static_cast<std::size_t>(x.index)].contact;
  };
  const Piece& first = scene.pieces[static_cast<std::size_t>(contact_of(fixed.front()).a)];
  // Of one line: b goes on about as fast as a.
  const auto same_line = [&](const Along& x, const Along& y) {
    constexpr double fastest = 2.0;
    return apart_on_b(scene, contact_of(x), x.b, y.b) <= fastest * (std::abs(x.a - y.a) + first.radius);
  };
  struct Bracket {
    std::size_t from, to;
  };
  std::vector<Bracket> brackets;
  std::vector<char> joined(fixed.size(), 0);
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    for (std::size_t k = i + 1; k < fixed.size(); ++k) {
      constexpr double slack = 1.001;
      if (fixed[k].a - fixed[i].a > slack * 0.5 * (fixed[i].spacing + fixed[k].spacing)) break;
      if (!(fixed[k].a > fixed[i].a) || !same_line(fixed[i], fixed[k])) continue;
      brackets.push_back({i, k});
      joined[i] = joined[k] = 1;
    }
  }
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const auto index = static_cast<std::size_t>(fixed[i].index);
    if (joined[i] == 0) keep[index] = 0;
  }
  for (const int m : members) {
    Candidate& minimum = candidates[static_cast<std::size_t>(m)];
    if (minimum.fixed) continue;
    const Along at = along(scene, candidates, m);
    const Piece& piece = scene.pieces[static_cast<std::size_t>(minimum.contact.a)];
    const double near = std::max(4.0 * piece.radius, 0.25 * (piece.interval.end - piece.interval.begin));
    // The gap here that fixed contacts tell.
    double told = std::numeric_limits<double>::infinity();
    for (const Bracket& bracket : brackets) {
      const Along& from = fixed[bracket.from];
      const Along& to = fixed[bracket.to];
      if (at.a < from.a || at.a > to.a || !same_line(from, at)) continue;
      const double share = (at.a - from.a) / (to.a - from.a);
      told = std::min(told, (1.0 - share) * contact_of(from).gap + share * contact_of(to).gap);
    }
    for (const Along& one : fixed) {
      if (keep[static_cast<std::size_t>(one.index)] && std::abs(at.a - one.a) < near && same_line(one, at))
        told = std::min(told, contact_of(one).gap);
    }
    const double deepest = shallow * piece.radius;
    const double slack = std::clamp(deepest - told, 0.0, deepest);
    constexpr double early = 0.5;  // a contact is there before it bears a load
    if (minimum.contact.gap + slack > early * deepest && minimum.contact.gap > told - early * deepest) {
      keep[static_cast<std::size_t>(m)] = 0;
    } else {
      minimum.contact.slack = slack;
    }
  }
}

bool may_stay(const Geometry& scene, const Candidate& fixed, const Candidate& minimum) {
  const Contact& at = fixed.contact;
  const double radius = scene.pieces[static_cast<std::size_t>(at.a)].radius;
  const double moved = distance_along(scene, at, minimum.contact);
  return at.gap - minimum.contact.gap <= shallow * std::min(radius, moved * moved / radius) + rounding_gap * radius;
}

Candidate follow_fixed(const Geometry& scene, const OnPiece& on_a, const Place& place) {
  OnPiece on_b = piece_at(scene, place.body_b, place.element_b, place.s_b);
  const Piece& a = scene.pieces[static_cast<std::size_t>(on_a.piece)];
  Candidate out;
  constexpr int most = 3;  // junctions of b that are passed
  for (int passed = 0;; ++passed) {
    const Piece& b = scene.pieces[static_cast<std::size_t>(on_b.piece)];
    const auto at = geometry::closest_points_near(a.curve, {on_a.s, on_a.s}, b.curve, b.interval, {on_a.s, on_b.s});
    out = make_candidate(scene, {on_a.piece, on_b.piece}, at, true);
    out.fixed = true;
    out.at_junction = false;
    const int side = leaves_over(scene, out.contact);
    const int next = neighbour(scene, on_b.piece, side);
    if (next < 0 || passed == most) break;
    const geometry::Interval& on = scene.pieces[static_cast<std::size_t>(next)].interval;
    on_b = {next, side > 0 ? on.begin : on.end};
  }
  return out;
}

namespace {

/// The point of a piece of a with the point of b near `s_b` that is nearest to it, as a fixed contact.
Candidate fixed_at(const Geometry& scene, const CandidatePair& pair, double s_a, double s_b) {
  const Piece& b = scene.pieces[static_cast<std::size_t>(pair.b)];
  const auto at = geometry::closest_points_near(scene.pieces[static_cast<std::size_t>(pair.a)].curve, {s_a, s_a},
                                                b.curve, b.interval, {s_a, s_b});
  Candidate out = make_candidate(scene, pair, at, true);
  out.fixed = true;
  out.at_junction = false;
  return out;
}

/// Appends what a line needs where it ends with an element: level with a station up to the junction and no further. The
/// nearest points of what is level are anywhere, and may not be told from rounding. A quadratic spline that is held at
/// the middles of its parts has one more end at the junction; a cubic one that is held at their ends has two, and is
/// held there and at the middle of the part.
void append_line_end(const Geometry& scene, const CandidatePair& pair, int side, const Candidate& station,
                     std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(pair.a)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(pair.b)];
  const double half = 0.5 * station_spacing(a);
  const double end = side < 0 ? a.interval.begin : a.interval.end;
  const double forwards =
      point_of(a.curve, station.contact.s_a).tangent.dot(point_of(b.curve, station.contact.s_b).tangent);
  const auto at = [&](double s) {
    return fixed_at(scene, pair, s, station.contact.s_b + forwards * (s - station.contact.s_a));
  };
  const auto is_level = [&](const Candidate& x) {
    return std::abs(x.contact.gap - station.contact.gap) <= level_gap * a.radius && leaves_over(scene, x.contact) == 0;
  };
  const Candidate junction = at(end);
  if (!is_level(junction)) return;
  double over = half;
  int next = neighbour(scene, pair.a, side);
  const auto length = [&] {
    const geometry::Interval& on = scene.pieces[static_cast<std::size_t>(next)].interval;
    return on.end - on.begin;
  };
  while (next >= 0 && length() < over) {
    over -= length();
    next = neighbour(scene, next, side);
  }
  if (next < 0) return;
  const geometry::Interval& on = scene.pieces[static_cast<std::size_t>(next)].interval;
  const double s = side < 0 ? on.end - over : on.begin + over;
  if (is_level(fixed_at(scene, {next, pair.b}, s, junction.contact.s_b + forwards * side * half))) return;
  if (!a.stations_at_nodes) {
    out.push_back(junction);
  } else if (const Candidate middle = at(end - side * half); is_level(middle)) {
    out.push_back(middle);
  }
}

}  // namespace

void append_stations(const Geometry& scene, const CandidatePair& pair,
                     const std::vector<geometry::ClosestPoints>& minima, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(pair.a)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(pair.b)];
  if (minima.empty() || a.stations == 0) return;
  const std::vector<double> stations = stations_of(a);
  for (const double s : stations) {
    const auto away = [s](const geometry::ClosestPoints& at) { return std::abs(at.s_a - s); };
    const auto from =
        std::min_element(minima.begin(), minima.end(), [&](const auto& x, const auto& y) { return away(x) < away(y); });
    const Vector3 tangent_a = point_of(a.curve, from->s_a).tangent;
    const Vector3 tangent_b = point_of(b.curve, from->s_b).tangent;
    const Candidate found = fixed_at(scene, pair, s, from->s_b + tangent_a.dot(tangent_b) * (s - from->s_a));
    const double least = from->distance - a.radius - b.radius;
    if (found.contact.gap > least + flat * a.radius) continue;
    if (leaves_over(scene, found.contact) != 0) continue;
    out.push_back(found);
    if (found.contact.gap > least + level_gap * a.radius) continue;
    if (s == stations.front()) append_line_end(scene, pair, -1, found, out);
    if (s == stations.back()) append_line_end(scene, pair, 1, found, out);
  }
}

}  // namespace tresse::contact::detail
