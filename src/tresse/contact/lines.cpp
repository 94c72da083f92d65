#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <tresse/contact/detail/candidate.hpp>

// Lines of contact: where two bodies lie along each other, contacts are fixed to points of a's material. See
// docs/theory/holding.md.
namespace tresse::contact::detail {
namespace {

/// How much farther than the nearest points of its piece a station may be from b and still be on a line, of a's radius.
constexpr double flat_share = 0.1;
/// How much deeper a minimum may be than the fixed contacts beside it say, of a's radius.
constexpr double shallow = 1e-2;
/// No contact stays nearer than this to a station or to another one that stays, of the spacing of stations.
constexpr double sparse = 0.4;
/// Share of a potential's distance below which a contact is left out of it.
constexpr double least_reach = 1e-3;
/// Differences of gaps that are rounding, and those at which the nearest points are anywhere, of a's radius.
constexpr double rounding_gap = 1e-9, level_gap = 1e-6;

/// Where a contact is along its two bodies.
struct Along {
  int index = 0;           ///< among the candidates
  double a = 0.0;          ///< [m]
  double b = 0.0;          ///< [m]
  double spacing = 0.0;    ///< of the stations there [m]
  bool at_station = true;  ///< else it stays where it was
};

/// Those of a list in the order of `a` that are within `reach` of a place. [m]
std::span<const Along> near(const std::vector<Along>& list, double a, double reach) {
  const auto before = [](const Along& x, double place) { return x.a < place; };
  const auto begin = std::lower_bound(list.begin(), list.end(), a - reach, before);
  auto end = begin;
  while (end != list.end() && end->a <= a + reach) ++end;
  return {begin, end};
}

/// The fixed contacts of two bodies, and what they say of others.
class Line {
 public:
  Line(const Geometry& scene, const std::vector<Candidate>& candidates) : scene_(scene), candidates_(candidates) {}

  /// Takes the fixed ones of `members`, each once and not too close together, stations first, then what is
  /// nearest to b; drops the others.
  void take(const std::vector<int>& members, std::vector<char>& keep) {
    std::vector<Along> all;
    for (const int m : members) {
      if (candidates_[static_cast<std::size_t>(m)].fixed) all.push_back(along(m));
    }
    std::sort(all.begin(), all.end(), [&](const Along& x, const Along& y) {
      if (x.at_station != y.at_station) return x.at_station;
      return gap(x) != gap(y) ? gap(x) < gap(y) : x.index < y.index;
    });
    for (const Along& one : all) {
      constexpr double rounding = 1e-9;
      const double apart = (one.at_station ? rounding : sparse) * one.spacing;
      const double touching = radius(one) + skin_at(scene_, contact(one).b);
      const std::span<const Along> beside = near(fixed_, one.a, apart);
      const bool twice = std::any_of(beside.begin(), beside.end(), [&](const Along& other) {
        return apart_on_b(one, other) < touching + apart && !holds_apart(one, other);
      });
      if (twice || ((stays(one) || holds_end(one)) && between_stations(one))) {
        keep[static_cast<std::size_t>(one.index)] = 0;
        if (stays(one)) left_out_.push_back(one);
        continue;
      }
      widest_ = std::max(widest_, one.spacing);
      const auto later = [](double a, const Along& x) { return a < x.a; };
      fixed_.insert(std::upper_bound(fixed_.begin(), fixed_.end(), one.a, later), one);
    }
  }

  /// Drops those without a neighbour.
  void drop_lone(std::vector<char>& keep) {
    std::vector<Along> joined;
    for (const Along& one : fixed_) {
      const std::span<const Along> beside = near(fixed_, one.a, slack * widest_);
      const bool has = std::any_of(beside.begin(), beside.end(), [&](const Along& other) {
        return neighbours(one, other) || neighbours(other, one);
      });
      if (has)
        joined.push_back(one);
      else
        keep[static_cast<std::size_t>(one.index)] = 0;
    }
    fixed_ = std::move(joined);
  }

  bool empty() const { return fixed_.empty(); }

  /// Gives each its reach in a potential, and drops those that have none: its nearness, times that of a neighbour. What
  /// crosses passes stations one by one, and has no neighbours. `members`: with the minima.
  void give_reach(const std::vector<int>& members, std::vector<Candidate>& candidates, std::vector<char>& keep) {
    std::vector<Along> all;
    for (const int m : members) all.push_back(along(m));
    std::stable_sort(all.begin(), all.end(), [](const Along& x, const Along& y) { return x.a < y.a; });
    std::vector<double> nearness;
    for (const Along& one : fixed_) nearness.push_back(nearness_of(one, all));
    std::vector<Along> reaching;
    for (const Along& one : fixed_) {
      double best = 0.0;
      for (const Along& other : near(fixed_, one.a, slack * widest_))
        if (neighbours(one, other) || neighbours(other, one))
          best = std::max(best, nearness[static_cast<std::size_t>(&other - fixed_.data())]);
      const double reach = nearness[static_cast<std::size_t>(&one - fixed_.data())] * best;
      candidates[static_cast<std::size_t>(one.index)].contact.reach = reach;
      if (reach >= least_reach)
        reaching.push_back(one);
      else
        keep[static_cast<std::size_t>(one.index)] = 0;
    }
    fixed_ = std::move(reaching);
  }

  /// What a minimum may stay at: of those that were left out the nearest to it, if it is within a radius. -1: none.
  int stays_at(int member) const {
    const Along at = along(member);
    int found = -1;
    double least = radius(at);
    for (const Along& one : left_out_) {
      const double far = std::max(std::abs(one.a - at.a), apart_on_b(one, at));
      if (far >= least || !may_stay(scene_, candidates_[static_cast<std::size_t>(one.index)],
                                    candidates_[static_cast<std::size_t>(member)]))
        continue;
      least = far;
      found = one.index;
    }
    return found;
  }

  /// The gap that they tell at another contact: between two neighbours linear, beside one its own. Infinite: none. [m]
  double told(int member) const {
    double least = std::numeric_limits<double>::infinity();
    for_each_told(member, [&](double gap, double) { least = std::min(least, gap); });
    return least;
  }

  /// The reach of a minimum beside them in a potential: what it is deeper than they tell, of `range`, and no less than
  /// what they lack of theirs.
  double reach_beside(int member, double range) const {
    double out = 1.0;
    for_each_told(member, [&](double gap, double reach) {
      const double deeper = (gap - candidates_[static_cast<std::size_t>(member)].contact.gap) / range;
      out = std::min(out, std::clamp(std::max(deeper, 1.0 - reach), 0.0, 1.0));
    });
    return out;
  }

 private:
  static constexpr double slack = 1.001;  // rounding, of a spacing

  /// How near a station is, of what may lie on the line: 1 as near as the nearest points of its piece and as all that
  /// is beside it, which counts less beyond a spacing and not beyond two.
  double nearness_of(const Along& one, const std::vector<Along>& all) const {
    double farther = candidates_[static_cast<std::size_t>(one.index)].farther;
    for (const Along& other : near(all, one.a, 2.0 * one.spacing)) {
      if (!same_line(one, other)) continue;
      const double share = std::clamp(2.0 - std::abs(other.a - one.a) / one.spacing, 0.0, 1.0);
      farther = std::max(farther, share * (gap(one) - gap(other)));
    }
    return std::clamp(1.0 - farther / (flat_share * radius(one)), 0.0, 1.0);
  }

  /// What they tell at another contact, gap [m] and reach.
  template <class Take>
  void for_each_told(int member, const Take& take) const {
    const Along at = along(member);
    const Piece& piece = scene_.pieces[static_cast<std::size_t>(contact(at).a)];
    const double beside = std::max(4.0 * piece.radius, 0.25 * (piece.interval.end - piece.interval.begin));
    for (const Along& from : near(fixed_, at.a, std::max(beside, slack * widest_))) {
      if (!same_line(from, at)) continue;
      if (std::abs(at.a - from.a) < beside) take(gap(from), contact(from).reach);
      if (from.a > at.a) continue;
      for (const Along& to : near(fixed_, at.a, slack * widest_)) {
        if (to.a < at.a || !neighbours(from, to)) continue;
        const double share = (at.a - from.a) / (to.a - from.a);
        take((1.0 - share) * gap(from) + share * gap(to),
             (1.0 - share) * contact(from).reach + share * contact(to).reach);
      }
    }
  }

  /// Whether one lies between two stations next to each other: it would take the load that they should bear. What holds
  /// an end of a line lies there by right, unless the stations are as near to b and the line goes on beyond them.
  bool between_stations(const Along& at) const {
    const std::span<const Along> beside = near(fixed_, at.a, 2.0 * slack * widest_);
    const bool at_end = holds_end(at);
    const auto is_end = [&](const Along& x) {
      return x.at_station && same_line(x, at) && (!at_end || gap(x) - gap(at) <= shallow * radius(at));
    };
    const auto goes_on = [&](const Along& from, const Along& to) {
      const double least = sparse * (to.a - from.a);
      const auto before = [&](const Along& x) { return neighbours(x, from) && from.a - x.a >= least; };
      const auto after = [&](const Along& x) { return neighbours(to, x) && x.a - to.a >= least; };
      const auto found = [&](const auto& beyond) {
        return std::any_of(beside.begin(), beside.end(), [&](const Along& x) { return is_end(x) && beyond(x); });
      };
      return found(before) && found(after);
    };
    return std::any_of(beside.begin(), beside.end(), [&](const Along& from) {
      return from.a <= at.a && is_end(from) && std::any_of(beside.begin(), beside.end(), [&](const Along& to) {
               return to.a >= at.a && is_end(to) && neighbours(from, to) && (!at_end || goes_on(from, to));
             });
    });
  }

  const Contact& contact(const Along& x) const { return candidates_[static_cast<std::size_t>(x.index)].contact; }
  double gap(const Along& x) const { return contact(x).gap; }
  bool holds_end(const Along& x) const { return candidates_[static_cast<std::size_t>(x.index)].line_end; }
  bool stays(const Along& x) const { return candidates_[static_cast<std::size_t>(x.index)].stays; }
  double radius(const Along& x) const { return scene_.pieces[static_cast<std::size_t>(contact(x).a)].radius; }

  Along along(int index) const {
    const Contact& of = candidates_[static_cast<std::size_t>(index)].contact;
    const Piece& a = scene_.pieces[static_cast<std::size_t>(of.a)];
    Along out{index, arc_length_at(a, of.s_a), 0.0, station_spacing(a), is_station(a, a.span.in_material(of.s_a))};
    if (of.b >= 0) out.b = arc_length_at(scene_.pieces[static_cast<std::size_t>(of.b)], of.s_b);
    return out;
  }

  /// Distance along b, the shorter way round a loop. [m]
  double apart_on_b(const Along& x, const Along& y) const {
    const double far = std::abs(x.b - y.b);
    const int b = contact(x).b;
    return b < 0 ? far : std::min(far, std::abs(scene_.pieces[static_cast<std::size_t>(b)].loop - far));
  }

  /// Whether two contacts with a mesh hold in different directions, as on the two sides of a groove.
  bool holds_apart(const Along& x, const Along& y) const {
    return is_mesh(scene_, contact(x).b) && bear_apart(contact(x), contact(y), radius(x));
  }

  /// Whether two contacts are of one line: b goes on about as fast as a, and holds in about the same direction.
  bool same_line(const Along& x, const Along& y) const {
    constexpr double fastest = 2.0;
    return !holds_apart(x, y) && apart_on_b(x, y) <= fastest * (std::abs(x.a - y.a) + radius(x));
  }

  /// Whether a second one is the next of its line.
  bool neighbours(const Along& from, const Along& to) const {
    return to.a > from.a && to.a - from.a <= slack * 0.5 * (from.spacing + to.spacing) && same_line(from, to);
  }

  const Geometry& scene_;
  const std::vector<Candidate>& candidates_;
  std::vector<Along> fixed_;     ///< in the order of `a`
  std::vector<Along> left_out_;  ///< that stayed, and would take the load of stations beside them
  double widest_ = 0.0;          ///< spacing [m]
};

/// Which way the point of b that is nearest to a point of a leaves b's piece, as the neighbour is nearer still; 0:
/// none.
int leaves_over(const Geometry& scene, const Contact& contact) {
  const Piece& b = scene.pieces[static_cast<std::size_t>(contact.b)];
  const int side = side_of(b, contact.s_b);
  if (side == 0) return 0;
  const Vector3 tangent = point_of(b.curve, contact.s_b).tangent;
  return leaves_through_junction(b, side, contact.frame.col(0).dot(tangent)) ? side : 0;
}

/// The contact at a point of a with the point of a piece b that is nearest to it, searched from s_b.
Candidate fixed_candidate(const Geometry& scene, const CandidatePair& pair, double s_a, double s_b) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(pair.a)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(pair.b)];
  const auto at = geometry::closest_points_near(a.curve, {s_a, s_a}, b.curve, b.interval, {s_a, s_b});
  Candidate out = make_candidate(scene, pair, at, true);
  out.fixed = true;
  out.at_junction = false;  // along a there is no minimum to be nearer to
  return out;
}

/// The same with the point of b's body near a place on one of its pieces.
Candidate fixed_near(const Geometry& scene, const OnPiece& on_a, OnPiece on_b) {
  constexpr int most = 3;  // junctions of b that are passed
  for (int passed = 0;; ++passed) {
    Candidate out = fixed_candidate(scene, {on_a.piece, on_b.piece}, on_a.s, on_b.s);
    const int side = leaves_over(scene, out.contact);
    const int next = neighbour(scene, on_b.piece, side);
    if (next < 0 || passed == most) return out;
    const geometry::Interval& on = scene.pieces[static_cast<std::size_t>(next)].interval;
    on_b = {next, side > 0 ? on.begin : on.end};
  }
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
    return fixed_near(scene, {pair.a, s}, {pair.b, station.contact.s_b + forwards * (s - station.contact.s_a)});
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
  if (is_level(fixed_near(scene, {next, s}, {junction.contact.b, junction.contact.s_b + forwards * side * half})))
    return;
  Candidate extra = a.stations_at_nodes ? at(end - side * half) : junction;
  extra.line_end = true;
  if (!a.stations_at_nodes || is_level(extra)) out.push_back(extra);
}

}  // namespace

bool is_along(const Piece& a, double farther) { return farther <= flat_share * a.radius; }

void append_stations(const Geometry& scene, const CandidatePair& pair,
                     const std::vector<geometry::ClosestPoints>& minima, std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(pair.a)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(pair.b)];
  if (minima.empty()) return;
  std::optional<Candidate> first, last;  // of the piece's stations, as near as the nearest points
  for_each_station(a, [&](double s) {
    const auto away = [s](const geometry::ClosestPoints& at) { return std::abs(at.s_a - s); };
    const auto from =
        std::min_element(minima.begin(), minima.end(), [&](const auto& x, const auto& y) { return away(x) < away(y); });
    const Vector3 tangent_a = point_of(a.curve, from->s_a).tangent;
    const Vector3 tangent_b = point_of(b.curve, from->s_b).tangent;
    const double s_b = from->s_b + tangent_a.dot(tangent_b) * (s - from->s_a);
    Candidate found = fixed_candidate(scene, pair, s, s_b);
    found.farther = found.contact.gap + a.radius + b.radius - from->distance;
    if (!is_along(a, found.farther)) return;
    found.beyond = leaves_over(scene, found.contact) != 0;
    out.push_back(found);
    if (found.beyond || found.farther > level_gap * a.radius) return;
    if (!first) first = found;
    last = found;
  });
  if (first) append_line_end(scene, pair, -1, *first, out);
  if (last) append_line_end(scene, pair, 1, *last, out);
}

void append_stations_over_plane(const Geometry& scene, const CandidatePair& pair, const std::vector<double>& lowest,
                                std::vector<Candidate>& out) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(pair.a)];
  if (lowest.empty()) return;
  const auto over = [&](double s) { return contact_over_plane(scene, pair, s, point_of(a.curve, s)); };
  for_each_station(a, [&](double s) {
    const double from = *std::min_element(lowest.begin(), lowest.end(),
                                          [s](double x, double y) { return std::abs(x - s) < std::abs(y - s); });
    Candidate found{.contact = over(s), .fixed = true};
    found.farther = found.contact.gap - over(from).gap;
    if (is_along(a, found.farther)) out.push_back(found);
  });
}

Candidate follow_fixed(const Geometry& scene, const OnPiece& on_a, const Place& place) {
  return fixed_near(scene, on_a, piece_at(scene, place.body_b, place.element_b, place.s_b));
}

bool may_stay(const Geometry& scene, const Candidate& fixed, const Candidate& minimum) {
  const Contact& at = fixed.contact;
  const double radius = scene.pieces[static_cast<std::size_t>(at.a)].radius;
  const double moved = distance_along(scene, at, minimum.contact);
  return at.gap - minimum.contact.gap <= shallow * std::min(radius, moved * moved / radius) + rounding_gap * radius;
}

void thin_lines(const Geometry& scene, std::vector<Candidate>& candidates, const std::vector<int>& members,
                std::vector<char>& keep) {
  Line line(scene, candidates);
  line.take(members, keep);
  line.drop_lone(keep);
  if (line.empty()) return;
  for (const int m : members) {
    Candidate& minimum = candidates[static_cast<std::size_t>(m)];
    if (minimum.fixed) continue;
    const double deepest = shallow * scene.pieces[static_cast<std::size_t>(minimum.contact.a)].radius;
    const double told = line.told(m);
    const double slack = std::clamp(deepest - told, 0.0, deepest);
    constexpr double early = 0.5;  // a contact is there before it bears a load
    if (minimum.contact.gap > std::max(early * deepest - slack, told - early * deepest)) {
      keep[static_cast<std::size_t>(m)] = 0;
    } else {
      if (const int stay = line.stays_at(m); stay >= 0)
        minimum.contact = candidates[static_cast<std::size_t>(stay)].contact;
      minimum.contact.slack = slack;
    }
  }
}

void give_reach(const Geometry& scene, std::vector<Candidate>& candidates, const std::vector<int>& members,
                std::vector<char>& keep, double softness) {
  Line line(scene, candidates);
  line.take(members, keep);
  line.give_reach(members, candidates, keep);
  std::vector<int> minima;
  for (const int m : members) {
    if (!candidates[static_cast<std::size_t>(m)].fixed) minima.push_back(m);
  }
  const auto along = [&](int m) {
    const Contact& contact = candidates[static_cast<std::size_t>(m)].contact;
    return arc_length_at(scene.pieces[static_cast<std::size_t>(contact.a)], contact.s_a);
  };
  std::stable_sort(minima.begin(), minima.end(), [&](int x, int y) { return along(x) < along(y); });
  constexpr double same = 1e-9;  // of the radius: both edges of a node found it
  for (std::size_t k = 0; k < minima.size(); ++k) {
    Contact& contact = candidates[static_cast<std::size_t>(minima[k])].contact;
    const double radius = scene.pieces[static_cast<std::size_t>(contact.a)].radius;
    bool twice = false;
    for (std::size_t j = k; j-- > 0 && along(minima[k]) - along(minima[j]) <= same * radius && !twice;) {
      const Contact& other = candidates[static_cast<std::size_t>(minima[j])].contact;
      twice = keep[static_cast<std::size_t>(minima[j])] && distance_along(scene, contact, other) <= same * radius &&
              !(is_mesh(scene, contact.b) && bear_apart(contact, other, radius));
    }
    contact.reach = line.reach_beside(minima[k], std::max(softness, flat_share * radius));
    if (twice || contact.reach < least_reach) keep[static_cast<std::size_t>(minima[k])] = 0;
  }
}

}  // namespace tresse::contact::detail
