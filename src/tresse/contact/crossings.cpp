#include <tresse/contact/crossings.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/way_pairs.hpp>
#include <tresse/contact/detail/way_search.hpp>
#include <tresse/geometry/closest_points.hpp>

namespace tresse::contact {
namespace {

/// Two ends of a way: what is at least `first` apart at its begin, and loses at most `lost_forth` on all of it; and
/// the same looking back. The least that this leaves. [m]
double least_between(double first, double lost_forth, double last, double lost_back) {
  const double lost = lost_forth + lost_back;
  const double time = lost > 0.0 ? std::clamp((first - last + lost_back) / lost, 0.0, 1.0) : 0.0;
  return std::max(first - time * lost_forth, last - (1.0 - time) * lost_back);
}

/// The way between two configurations, and what is proved of it.
class Way {
 public:
  Way(const Geometry& begin, const Geometry& end, const Ways& ways, const PassageOptions& options,
      const std::function<bool(const Crossing&)>& passed_over)
      : begin_(begin), end_(end), ways_(ways), options_(options), passed_over_(passed_over) {}

  Passage run() {
    if (ways_.pieces.empty()) return {{}, options_.known_gap};
    return look_at(detail::pairs_on_way(begin_, end_, ways_, options_.broad_phase, options_.searched));
  }

 private:
  static constexpr std::size_t block = 128;
  static constexpr double exact = 0.02;  // of the thinner radius: how exact a larger one is found

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
    const double thin = thinner_radius(pair);
    detail::WayGoal goal{std::max(touching + std::min(options_.known_gap, -options_.small * thin), limit), limit,
                         exact * thin};
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

  /// What an overlap is measured by: of a mesh the skin has no say. [m]
  double thinner_radius(const CandidatePair& pair) const {
    const double radius = end_.pieces[static_cast<std::size_t>(pair.a)].radius;
    return pair.b < 0 ? radius : std::min(radius, end_.pieces[static_cast<std::size_t>(pair.b)].radius);
  }

  /// A bound of the distance of two pieces that hardly move against each other: what it is at the ends of the way, less
  /// what it may lose on it. 0: it is not good enough. [m]
  double quick_bound(const KnownPair& pair, double least, double touching) const {
    if (pair.pair.b < 0) return 0.0;
    const auto a = static_cast<std::size_t>(pair.pair.a);
    const auto b = static_cast<std::size_t>(pair.pair.b);
    const WayPiece& one = ways_.pieces[a];
    const WayPiece& other = ways_.pieces[b];
    // What keeps the least gap so far lowers it no further. Then it does not matter how well that is proved, which
    // depends on what was looked at earlier.
    const bool kept = options_.known_gap <= least - touching;
    const double enough = kept ? least : touching;
    const double lost_back = closing(ways_.back[a], ways_.back[b]);
    if (kept && pair.apart - lost_back >= enough) return enough;
    if (lost_back > touching) return 0.0;  // few are so far apart that this knows enough
    const double last = pair.exact ? pair.apart
                                   : geometry::separation(*one.now, one.interval, *other.now, other.interval,
                                                          {.enough = enough + lost_back, .least = least});
    if (last - lost_back >= least) return std::min(enough, last - lost_back);
    if (last < least) return 0.0;
    const double lost_forth = closing(ways_.forth[a], ways_.forth[b]);
    const double first = geometry::separation(*one.before, one.interval_before(), *other.before,
                                              other.interval_before(), {.enough = enough + lost_forth, .least = least});
    const double bound = least_between(first, lost_forth, last, lost_back);
    return first > 0.0 && bound >= least ? std::min(enough, bound) : 0.0;
  }

  detail::Approach nearest(const CandidatePair& pair, const detail::WayGoal& goal,
                           std::vector<detail::WayBox>& memory) const {
    const WayPiece& a = ways_.pieces[static_cast<std::size_t>(pair.a)];
    if (pair.b >= 0) return detail::nearest_on_way(a, ways_.pieces[static_cast<std::size_t>(pair.b)], goal, memory);
    return detail::nearest_on_way(a, mesh_at(begin_, pair.b), mesh_at(end_, pair.b), goal, memory);
  }

  double distance_at_begin(const CandidatePair& pair) const {
    if (pair.b < 0) return INFINITY;
    const WayPiece& a = ways_.pieces[static_cast<std::size_t>(pair.a)];
    const WayPiece& b = ways_.pieces[static_cast<std::size_t>(pair.b)];
    return geometry::closest_points(*a.before, a.interval_before(), *b.before, b.interval_before()).distance;
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
  const Ways& ways_;
  const PassageOptions& options_;
  const std::function<bool(const Crossing&)>& passed_over_;
};

}  // namespace

Passage find_passage(const Geometry& begin, const Geometry& end, const PassageOptions& options,
                     const std::function<bool(const Crossing&)>& passed_over) {
  if (options.searched) return Way(begin, end, options.searched->ways, options, passed_over).run();
  return Way(begin, end, ways_between(begin, end), options, passed_over).run();
}

}  // namespace tresse::contact
