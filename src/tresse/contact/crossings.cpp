#include <tresse/contact/crossings.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/way_search.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact {
namespace {

using detail::WayPiece;

/// The pieces of `end` on their way; empty where the two are not of the same bodies.
std::vector<WayPiece> way_pieces(const Geometry& begin, const Geometry& end) {
  std::vector<WayPiece> out(end.pieces.size());
  auto before = begin.pieces.begin();
  for (std::size_t i = 0; i < end.pieces.size(); ++i) {
    const Piece& now = end.pieces[i];
    const auto earlier = [&](const Piece& piece) {
      return std::pair(piece.body, piece.element) < std::pair(now.body, now.element);
    };
    while (before != begin.pieces.end() && earlier(*before)) ++before;
    if (before == begin.pieces.end() || before->body != now.body || before->element != now.element) return {};
    const double length = geometry::domain(now.curve).end;
    out[i] = {&before->curve, &now.curve, now.interval,
              length > 0.0 ? geometry::domain(before->curve).end / length : 1.0, now.curvature};
  }
  return out;
}

/// The way of a piece between two curves as a travel: rigid, and the rest, proved, as its reach. What is left of the
/// way between two points is within b (length/2)^2/8 of a straight line, b a bound of its second derivative.
struct WayOf {
  const geometry::PreparedCurve& from;
  const geometry::PreparedCurve& to;
  double stretch = 1.0;    ///< from the parameter of the first to that of the second
  double bend_from = 0.0;  ///< >= |r''| of the first, by its parameter [1/m]
  double bend_to = 0.0;    ///< of the second, by the parameter of the first

  Travel over(const geometry::Interval& interval) const {
    const double length = interval.end - interval.begin;
    const double middle = interval.begin + 0.5 * length;
    const auto place = [&](double s) { return geometry::position(from, s); };
    const auto way = [&](double s) -> Vector3 { return geometry::position(to, stretch * s) - place(s); };
    Travel out =
        rigid_travel({place(interval.begin), place(middle), place(interval.end)},
                     {way(interval.begin), way(middle), way(interval.end)}, bend_from * length * length / 32.0, 0.0);
    const double turn = out.spin.norm();
    double change = bend_to + bend_from * (1.0 + turn);
    if (stretch == 1.0) {
      Matrix3 turned;
      turned << 1.0, -out.spin.z(), out.spin.y(), out.spin.z(), 1.0, -out.spin.x(), -out.spin.y(), out.spin.x(), 1.0;
      change = std::min(change, (1.0 + turn) * geometry::bending_between(from, to, turned, interval));
    }
    out.reach += change * length * length / 32.0;
    return out;
  }
};

/// Two ends of a way: what is at least `first` apart at its begin, and loses at most `lost_forth` on all of it; and
/// the same looking back. The least that this leaves. [m]
double least_between(double first, double lost_forth, double last, double lost_back) {
  const double lost = lost_forth + lost_back;
  const double time = lost > 0.0 ? std::clamp((first - last + lost_back) / lost, 0.0, 1.0) : 0.0;
  return std::max(first - time * lost_forth, last - (1.0 - time) * lost_back);
}

double squared(double x) { return x * x; }

/// The way between two configurations, and what is proved of it.
class Way {
 public:
  Way(const Geometry& begin, const Geometry& end, const PassageOptions& options,
      const std::function<bool(const Crossing&)>& passed_over)
      : begin_(begin), end_(end), options_(options), passed_over_(passed_over), pieces_(way_pieces(begin, end)) {}

  Passage run() {
    if (pieces_.empty()) return {{}, options_.known_gap};
    forth_.resize(pieces_.size());
    back_.resize(pieces_.size());
    for_blocks(pieces_.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        WayPiece& piece = pieces_[i];
        const geometry::Interval earlier = interval_before(piece);
        const double bend = geometry::second_derivative_bound(*piece.before, earlier);
        const double by = squared(piece.stretch);
        forth_[i] = WayOf{*piece.before, *piece.now, 1.0 / piece.stretch, bend, piece.bend / by}.over(earlier);
        back_[i] = WayOf{*piece.now, *piece.before, piece.stretch, piece.bend, by * bend}.over(piece.interval);
        piece.bend = std::max(piece.bend, by * bend);
      }
    });
    return look_at(find_pairs());
  }

 private:
  static constexpr std::size_t block = 128;
  static constexpr double small = 0.05;  // overlap that is not looked at closely, of the touching distance
  static constexpr double exact = 0.01;  // of the touching distance: how exact a larger one is found

  /// All pairs that may have come near on the way.
  std::vector<KnownPair> find_pairs() const {
    const std::optional<std::vector<int>> others = options_.known_pairs ? moved_otherwise() : std::nullopt;
    std::vector<KnownPair> pairs;
    if (others) pairs = *options_.known_pairs;
    if (others && others->empty() && end_.meshes.empty()) return pairs;
    Geometry swept = end_;
    for (std::size_t i = 0; i < pieces_.size(); ++i) swept.pieces[i].travel = back_[i];
    swept.common = {};
    if (!few_pieces(swept)) take_off_common_travel(swept);
    if (!others) {
      for (const CandidatePair& pair : piece_pairs(swept, options_.broad_phase)) pairs.push_back({pair, 0.0});
    } else if (!others->empty()) {
      for (const CandidatePair& pair : pairs_with(swept, *others, options_.broad_phase)) pairs.push_back({pair, 0.0});
      const auto more = pairs.begin() + static_cast<std::ptrdiff_t>(options_.known_pairs->size());
      std::sort(more, pairs.end());
      std::inplace_merge(pairs.begin(), more, pairs.end());
      const auto same = [](const KnownPair& x, const KnownPair& y) { return !(x < y); };
      pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());  // keeps the known one
    }
    if (!swept.meshes.empty()) {
      for (std::size_t k = 0; k < swept.meshes.size(); ++k) set_way_back(begin_.meshes[k], swept.meshes[k]);
      swept.planes.clear();
      for (const CandidatePair& pair : surface_pairs(swept))
        pairs.push_back({{pair.a, pair.b - static_cast<int>(end_.planes.size())}, 0.0});
    }
    return pairs;
  }

  /// The pieces whose way back is not, but for a rigid motion of all, the same share of their travel the other way,
  /// within its reach. None: they are many.
  std::optional<std::vector<int>> moved_otherwise() const {
    std::vector<Travel> beside = back_;
    take_off_common(end_.pieces, beside);
    double along = 0.0, all = 0.0;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      along -= beside[i].drift.dot(end_.pieces[i].travel.drift);
      all += end_.pieces[i].travel.drift.squaredNorm();
    }
    const double share = all > 0.0 ? std::clamp(along / all, 0.0, 1.0) : 0.0;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      const Travel& next = end_.pieces[i].travel;
      beside[i].drift += share * (next.drift + next.spin.cross(back_[i].middle - next.middle));
      beside[i].spin += share * next.spin;
    }
    take_off_common(end_.pieces, beside);
    std::vector<int> others;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      if (!(beside[i].farthest() <= end_.pieces[i].travel.reach)) others.push_back(static_cast<int>(i));
    }
    constexpr std::size_t one_of = 50;
    if (others.size() > beside.size() / one_of) return {};
    return others;
  }

  static void set_way_back(const Mesh& before, Mesh& now) {
    now.next = before.pose;
    now.reach = 0.0;
    if (before.surface != now.surface) {
      for (std::size_t i = 0; i < now.surface->vertices.size(); ++i)
        now.reach = std::max(now.reach, (now.surface->vertices[i] - before.surface->vertices[i]).norm());
    }
  }

  Passage look_at(const std::vector<KnownPair>& pairs) {
    const std::size_t count = (pairs.size() + block - 1) / block;
    std::vector<std::vector<Crossing>> crossings(count);
    std::vector<double> least(count, options_.known_gap);
    for_blocks(pairs.size(), block, [&](std::size_t k, std::size_t first, std::size_t last) {
      std::vector<detail::WayBox> memory;
      for (std::size_t n = first; n < last; ++n) {
        if (const auto crossing = look_at(pairs[n], memory, least[k])) crossings[k].push_back(*crossing);
      }
    });
    Passage out{joined(crossings), options_.known_gap};
    for (const double gap : least) out.least_gap = std::min(out.least_gap, gap);
    return out;
  }

  /// Lowers `least` to what is proved of the pair, or tells where it is not proved to stay apart.
  std::optional<Crossing> look_at(const KnownPair& known, std::vector<detail::WayBox>& memory, double& least) const {
    const CandidatePair& pair = known.pair;
    const double touching = end_.pieces[static_cast<std::size_t>(pair.a)].radius + skin_at(end_, pair.b);
    const double limit = options_.share * touching;
    detail::WayGoal goal{std::max(touching + std::min(options_.known_gap, -small * touching), limit), limit,
                         exact * touching};
    if (const double bound = quick_bound(known, goal.enough, touching); bound > 0.0) {
      least = std::min(least, bound - touching);
      return {};
    }
    detail::Approach found = nearest(pair, goal, memory);
    if (!found.apart) {
      const Crossing crossing{pair.a, pair.b, found.s_a, found.s_b, found.time};
      if (passed_over(crossing)) return {};
      // Of two that begin inside each other nothing is told but that they get no deeper.
      const double apart = distance_at_begin(pair);
      constexpr double none = 1e-3;
      if (apart < none * touching) return {};
      if (0.5 * apart >= goal.limit) return crossing;
      goal.limit = 0.5 * apart;
      found = nearest(pair, goal, memory);
      if (!found.apart) return crossing;
    }
    if (!passed_over({pair.a, pair.b, found.s_a, found.s_b, found.time}))
      least = std::min(least, found.bound - touching);
    return {};
  }

  static geometry::Interval interval_before(const WayPiece& piece) {
    return {piece.stretch * piece.interval.begin, piece.stretch * piece.interval.end};
  }

  /// A bound of the distance of two pieces that hardly move against each other: what it is at the ends of the way, less
  /// what it may lose on it. 0: it is not good enough. [m]
  double quick_bound(const KnownPair& pair, double least, double touching) const {
    if (pair.pair.b < 0) return 0.0;
    const auto a = static_cast<std::size_t>(pair.pair.a);
    const auto b = static_cast<std::size_t>(pair.pair.b);
    const WayPiece& one = pieces_[a];
    const WayPiece& other = pieces_[b];
    // What keeps the least gap so far lowers it no further. Then it does not matter how well that is proved, which
    // depends on what was looked at earlier.
    const bool kept = options_.known_gap <= least - touching;
    const double enough = kept ? least : touching;
    const double lost_back = closing(back_[a], back_[b]);
    if (kept && pair.apart - lost_back >= enough) return enough;
    if (lost_back > touching) return 0.0;  // few are so far apart that this knows enough
    const double last = geometry::separation(*one.now, one.interval, *other.now, other.interval,
                                             {.enough = enough + lost_back, .least = least});
    if (last - lost_back >= least) return std::min(enough, last - lost_back);
    if (last == 0.0) return 0.0;
    const double lost_forth = closing(forth_[a], forth_[b]);
    const double first = geometry::separation(*one.before, interval_before(one), *other.before, interval_before(other),
                                              {.enough = enough + lost_forth, .least = least});
    const double bound = least_between(first, lost_forth, last, lost_back);
    return first > 0.0 && bound >= least ? std::min(enough, bound) : 0.0;
  }

  detail::Approach nearest(const CandidatePair& pair, const detail::WayGoal& goal,
                           std::vector<detail::WayBox>& memory) const {
    const WayPiece& a = pieces_[static_cast<std::size_t>(pair.a)];
    if (pair.b >= 0) return detail::nearest_on_way(a, pieces_[static_cast<std::size_t>(pair.b)], goal, memory);
    return detail::nearest_on_way(a, mesh_at(begin_, pair.b), mesh_at(end_, pair.b), goal, memory);
  }

  double distance_at_begin(const CandidatePair& pair) const {
    if (pair.b < 0) return INFINITY;
    const WayPiece& a = pieces_[static_cast<std::size_t>(pair.a)];
    const WayPiece& b = pieces_[static_cast<std::size_t>(pair.b)];
    return geometry::closest_points(*a.before, interval_before(a), *b.before, interval_before(b)).distance;
  }

  bool passed_over(const Crossing& crossing) const {
    Contact at;
    at.a = crossing.a;
    at.b = crossing.b;
    at.s_a = crossing.s_a;
    at.s_b = crossing.s_b;
    return detail::beside_itself(end_, at) || passed_over_(crossing);
  }

  const Geometry& begin_;
  const Geometry& end_;
  const PassageOptions& options_;
  const std::function<bool(const Crossing&)>& passed_over_;
  std::vector<WayPiece> pieces_;
  std::vector<Travel> forth_, back_;  // the ways of the pieces, from their shapes at the begin and at the end
};

}  // namespace

Passage find_passage(const Geometry& begin, const Geometry& end, const PassageOptions& options,
                     const std::function<bool(const Crossing&)>& passed_over) {
  return Way(begin, end, options, passed_over).run();
}

}  // namespace tresse::contact
