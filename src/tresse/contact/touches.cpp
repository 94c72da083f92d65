#include <tresse/contact/touches.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/contact/detail/curve_over_plane.hpp>
#include <tresse/contact/detail/kept_apart.hpp>
#include <tresse/contact/detail/way_pairs.hpp>

namespace tresse::contact {
namespace {

using detail::Approach;
using geometry::Interval;

/// A piece that stays where its way begins.
WayPiece at_begin(const WayPiece& piece) {
  return {piece.before, piece.before, piece.interval_before(), 1.0, piece.bend / (piece.stretch * piece.stretch)};
}

class TouchSearch {
 public:
  TouchSearch(const Geometry& begin, const Geometry& end, const Ways& ways, const TouchOptions& options,
              const std::function<bool(const Crossing&)>& passed_over)
      : begin_(begin), end_(end), ways_(ways), options_(options), passed_over_(passed_over) {}

  std::vector<Touch> run() const {
    if (ways_.pieces.empty()) return {};
    const std::vector<KnownPair> pairs =
        detail::pairs_on_way(begin_, end_, ways_, options_.broad_phase, options_.searched);
    std::vector<Touch> out = all_of(pairs.size(), [&](std::size_t n, std::vector<detail::WayBox>& memory) {
      return pairs[n].pair.b < 0 ? touch_of_mesh(pairs[n].pair, memory) : touch_of_pieces(pairs[n], memory);
    });
    for (std::size_t k = 0; k < end_.planes.size(); ++k) {
      const std::vector<Touch> more = all_of(end_.pieces.size(), [&](std::size_t i, std::vector<detail::WayBox>&) {
        return touch_of_plane(static_cast<int>(i), static_cast<int>(k));
      });
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

 private:
  template <typename Look>
  static std::vector<Touch> all_of(std::size_t count, const Look& look) {
    constexpr std::size_t block = 128;
    std::vector<std::vector<Touch>> found((count + block - 1) / block);
    for_blocks(count, block, [&](std::size_t k, std::size_t first, std::size_t last) {
      std::vector<detail::WayBox> memory;
      for (std::size_t n = first; n < last; ++n) {
        if (const std::optional<Touch> touch = look(n, memory)) found[k].push_back(*touch);
      }
    });
    return joined(found);
  }

  /// How far the axis of a piece must stay from what is at b: what touches, and more than the roundings of their
  /// places. [m]
  double least_distance(const CandidatePair& pair) const {
    constexpr double roundings = 64.0 * std::numeric_limits<double>::epsilon();
    const auto size = [&](int i) {
      const Travel& travel = ways_.back[static_cast<std::size_t>(i)];
      return travel.middle.norm() + travel.extent() + travel.farthest();
    };
    const double skins = end_.pieces[static_cast<std::size_t>(pair.a)].radius + skin_at(end_, pair.b);
    return skins + roundings * (skins + size(pair.a) + (pair.b < 0 ? 0.0 : size(pair.b)));
  }

  detail::LeftOut left_out(const CandidatePair& pair) const {
    return [this, pair](double s_a, double s_b) {
      Contact at;
      at.a = pair.a;
      at.b = pair.b;
      at.s_a = s_a;
      at.s_b = s_b;
      return detail::beside_itself(end_, at) || passed_over_({pair.a, pair.b, s_a, s_b, 1.0});
    };
  }

  static Touch touch_at(const CandidatePair& pair, const Approach& place, bool from_begin) {
    return {{pair.a, pair.b, place.s_a, place.s_b, place.time}, from_begin};
  }

  std::optional<Touch> touch_of_pieces(const KnownPair& known, std::vector<detail::WayBox>& memory) const {
    const auto a = static_cast<std::size_t>(known.pair.a), b = static_cast<std::size_t>(known.pair.b);
    const double least = least_distance(known.pair);
    if (known.apart - closing(ways_.back[a], ways_.back[b]) >= least) return {};
    const detail::LeftOut out = left_out(known.pair);
    detail::PairProof proof(ways_.pieces[a], ways_.pieces[b], least, out, memory);
    if (proof.run(known.exact ? known.apart : 0.0)) return {};
    const WayPiece rest_a = at_begin(ways_.pieces[a]), rest_b = at_begin(ways_.pieces[b]);
    return touch_at(known.pair, proof.place(), !detail::PairProof(rest_a, rest_b, least, out, memory).run(0.0));
  }

  std::optional<Touch> touch_of_mesh(const CandidatePair& pair, std::vector<detail::WayBox>& memory) const {
    const WayPiece& a = ways_.pieces[static_cast<std::size_t>(pair.a)];
    const double least = least_distance(pair);
    const detail::LeftOut out = left_out(pair);
    const detail::WayGoal goal{.enough = least, .limit = least, .left_out = &out};
    const Mesh& before = mesh_at(begin_, pair.b);
    const Approach found = detail::nearest_on_way(a, before, mesh_at(end_, pair.b), goal, memory);
    if (found.apart) return {};
    return touch_at(pair, found, !detail::nearest_on_way(at_begin(a), before, before, goal, memory).apart);
  }

  /// Heights over a plane are linear in time: they are above all the way if they are at its ends.
  std::optional<Touch> touch_of_plane(int piece, int plane) const {
    const WayPiece& a = ways_.pieces[static_cast<std::size_t>(piece)];
    const CandidatePair pair{piece, -1 - plane};
    const Piece& now = end_.pieces[static_cast<std::size_t>(piece)];
    const HalfSpace& over = end_.planes[static_cast<std::size_t>(plane)];
    if (!now.id.moves() || now.embedded_in == over.body) return {};
    const double least = least_distance(pair);
    const detail::LeftOut out = left_out(pair);
    const std::optional<double> begin =
        below(*a.before, a.interval_before(), begin_.planes[static_cast<std::size_t>(plane)], least, a.stretch, out);
    if (begin) return touch_at(pair, {.s_a = *begin, .time = 0.0}, true);
    const std::optional<double> last = below(*a.now, a.interval, over, least, 1.0, out);
    if (!last) return {};
    return touch_at(pair, {.s_a = *last, .time = 1.0}, false);
  }

  /// A parameter in the second configuration where a curve is not above a plane by `least` and that counts; `stretch`:
  /// from there to the curve's own.
  static std::optional<double> below(const geometry::PreparedCurve& curve, const Interval& interval,
                                     const HalfSpace& plane, double least, double stretch, const detail::LeftOut& out) {
    const double bend = geometry::second_derivative_bound(curve, interval);
    const detail::CurveOverPlane height(curve, bend, plane.point, plane.normal);
    const auto counts = [&](double begin, double end) {
      return !(out(begin / stretch, 0.0) && out(end / stretch, 0.0));
    };
    double from = interval.begin;
    for (const Interval& above : height.above({interval}, least)) {
      if (above.begin > from && counts(from, above.begin)) return 0.5 * (from + above.begin) / stretch;
      from = above.end;
    }
    if (from == interval.end) return {};
    if (counts(from, interval.end)) return 0.5 * (from + interval.end) / stretch;
    return {};
  }

  const Geometry& begin_;
  const Geometry& end_;
  const Ways& ways_;
  const TouchOptions& options_;
  const std::function<bool(const Crossing&)>& passed_over_;
};

}  // namespace

std::vector<Touch> find_touches(const Geometry& begin, const Geometry& end, const TouchOptions& options,
                                const std::function<bool(const Crossing&)>& passed_over) {
  if (options.searched) return TouchSearch(begin, end, options.searched->ways, options, passed_over).run();
  return TouchSearch(begin, end, ways_between(begin, end), options, passed_over).run();
}

}  // namespace tresse::contact
