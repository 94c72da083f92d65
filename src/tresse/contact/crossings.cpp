#include <tresse/contact/crossings.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact {
namespace {

/// How a piece moves, in the main.
struct Way {
  Vector3 middle = Vector3::Zero();  ///< displacement of the middle (3) [m]
  double spread = 0.0;               ///< by how much that of its ends may differ from it [m]
  double farthest() const { return middle.norm() + spread; }
};

double parameter(const Piece& piece, double share) {
  return piece.interval.begin + share * (piece.interval.end - piece.interval.begin);
}

/// A piece of the second configuration and where it was in the first: elements may be cut into other pieces there, and
/// may have another length.
struct MovingPiece {
  const Piece* before = nullptr;  ///< of the same element
  const Piece* now = nullptr;
  double stretch = 1.0;  ///< from the parameter of the curve now to that before

  Vector3 begin(double share) const { return geometry::position(before->curve, stretch * parameter(*now, share)); }
  Vector3 way(double share) const { return geometry::position(now->curve, parameter(*now, share)) - begin(share); }
};

/// (pieces of `end`); empty where the two are not of the same bodies. Only those `asked` for are filled in.
std::vector<MovingPiece> moving_pieces(const Geometry& begin, const Geometry& end, const std::vector<char>& asked) {
  std::vector<MovingPiece> out(end.pieces.size());
  auto before = begin.pieces.begin();
  for (std::size_t i = 0; i < end.pieces.size(); ++i) {
    const Piece& now = end.pieces[i];
    const auto earlier = [&](const Piece& piece) {
      return std::pair(piece.body, piece.element) < std::pair(now.body, now.element);
    };
    while (before != begin.pieces.end() && earlier(*before)) ++before;
    if (before == begin.pieces.end() || before->body != now.body || before->element != now.element) return {};
    if (!asked[i]) continue;
    const double length = geometry::domain(now.curve).end;
    out[i] = {&*before, &now, length > 0.0 ? geometry::domain(before->curve).end / length : 1.0};
  }
  return out;
}

Way way_of(const MovingPiece& piece) {
  Way out;
  out.middle = piece.way(0.5);
  for (const double share : {0.0, 1.0}) out.spread = std::max(out.spread, (piece.way(share) - out.middle).norm());
  return out;
}

/// A piece as a chain of segments whose points move straight and evenly.
struct MovingChain {
  std::vector<Vector3> from;
  std::vector<Vector3> way;

  explicit MovingChain(const MovingPiece& piece) {
    constexpr double most = 32.0;
    const double length = piece.now->interval.end - piece.now->interval.begin;
    const double sagitta = std::max(piece.before->curvature, piece.now->curvature) * length * length / 8.0;
    const int count = static_cast<int>(std::clamp(std::ceil(std::sqrt(8.0 * sagitta / piece.now->radius)), 1.0, most));
    for (int i = 0; i <= count; ++i) {
      const double share = static_cast<double>(i) / count;
      from.push_back(piece.begin(share));
      way.push_back(piece.way(share));
    }
  }
  int segments() const { return static_cast<int>(from.size()) - 1; }
  Vector3 at(int i, double time) const {
    return from[static_cast<std::size_t>(i)] + time * way[static_cast<std::size_t>(i)];
  }
  double share(int i) const { return (static_cast<double>(i) + 0.5) / segments(); }
};

double distance(const MovingChain& a, int i, const MovingChain& b, int j, double time) {
  return geometry::segment_distance(a.at(i, time), a.at(i + 1, time), b.at(j, time), b.at(j + 1, time));
}

/// Whether two segments that are farther apart than `limit` at both instants come nearer in between. Steps in time as
/// long as their speed allows.
bool meet(const MovingChain& a, int i, const MovingChain& b, int j, double limit) {
  if (distance(a, i, b, j, 1.0) < limit) return false;
  double speed = 0.0;
  for (const int p : {i, i + 1}) {
    for (const int q : {j, j + 1})
      speed = std::max(speed, (a.way[static_cast<std::size_t>(p)] - b.way[static_cast<std::size_t>(q)]).norm());
  }
  constexpr double least = 1e-3;
  bool apart = false;
  for (double time = 0.0; time < 1.0;) {
    const double here = distance(a, i, b, j, time);
    if (here < limit) return apart;
    apart = true;
    time += std::max((here - limit) / std::max(speed, 1e-300), least);
  }
  return false;
}

std::optional<Crossing> crossing_of(const MovingPiece& a, const MovingPiece& b, const CandidatePair& pair) {
  const MovingChain chain_a(a);
  const MovingChain chain_b(b);
  const double limit = 0.5 * (a.now->radius + b.now->radius);
  for (int i = 0; i < chain_a.segments(); ++i) {
    for (int j = 0; j < chain_b.segments(); ++j) {
      if (meet(chain_a, i, chain_b, j, limit))
        return Crossing{pair.a, pair.b, parameter(*a.now, chain_a.share(i)), parameter(*b.now, chain_b.share(j))};
    }
  }
  return {};
}

}  // namespace

std::vector<Crossing> find_crossings(const Geometry& begin, const Geometry& end,
                                     const std::vector<CandidatePair>& pairs) {
  std::vector<char> asked(end.pieces.size(), 0);
  for (const CandidatePair& pair : pairs) {
    if (pair.b >= 0) asked[static_cast<std::size_t>(pair.a)] = asked[static_cast<std::size_t>(pair.b)] = 1;
  }
  if (std::none_of(asked.begin(), asked.end(), [](char is) { return is != 0; })) return {};
  const std::vector<MovingPiece> pieces = moving_pieces(begin, end, asked);
  constexpr std::size_t block = 256;
  std::vector<Way> ways(pieces.size());
  std::vector<char> fast(pieces.size(), 0);
  for_blocks(ways.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (!asked[i]) continue;
      ways[i] = way_of(pieces[i]);
      fast[i] = ways[i].farthest() > pieces[i].now->radius;
    }
  });
  if (std::none_of(fast.begin(), fast.end(), [](char is) { return is != 0; })) return {};
  std::vector<std::vector<Crossing>> found((pairs.size() + block - 1) / block);
  for_blocks(pairs.size(), block, [&](std::size_t k, std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const CandidatePair& pair = pairs[n];
      if (pair.b < 0) continue;
      const auto a = static_cast<std::size_t>(pair.a);
      const auto b = static_cast<std::size_t>(pair.b);
      if (!fast[a] && !fast[b]) continue;
      const double touching = pieces[a].now->radius + pieces[b].now->radius;
      if ((ways[a].middle - ways[b].middle).norm() + ways[a].spread + ways[b].spread <= touching) continue;
      if (const auto crossing = crossing_of(pieces[a], pieces[b], pair)) found[k].push_back(*crossing);
    }
  });
  return joined(found);
}

}  // namespace tresse::contact
