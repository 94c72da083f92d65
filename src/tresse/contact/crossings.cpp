#include <tresse/contact/crossings.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact {
namespace {

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

/// A ball that holds a stretch of a curve while its middle moves straight and evenly.
struct MovingBall {
  Vector3 from = Vector3::Zero();  ///< of its middle (3) [m]
  Vector3 way = Vector3::Zero();   ///< over the time from 0 to 1 (3) [m]
  double radius = 0.0;             ///< [m]
};

/// Whether two balls stay farther apart than `limit`, from their surfaces, all the time.
bool stay_apart(const MovingBall& a, const MovingBall& b, double limit) {
  const Vector3 between = a.from - b.from;
  const Vector3 way = a.way - b.way;
  const double square = way.squaredNorm();
  const double nearest = square > 0.0 ? std::clamp(-between.dot(way) / square, 0.0, 1.0) : 0.0;
  const double enough = a.radius + b.radius + limit;
  return (between + nearest * way).squaredNorm() > enough * enough;
}

/// How a piece moves, in the main.
struct Way {
  MovingBall ball;      ///< around it
  double spread = 0.0;  ///< by how much the way of its ends may differ from that of its middle [m]
  double farthest() const { return ball.way.norm() + spread; }
};

Way way_of(const MovingPiece& piece) {
  Way out;
  const double length = piece.now->interval.end - piece.now->interval.begin;
  out.ball = {piece.begin(0.5), piece.way(0.5), 0.5 * length * std::max(1.0, piece.stretch)};
  for (const double share : {0.0, 1.0}) out.spread = std::max(out.spread, (piece.way(share) - out.ball.way).norm());
  return out;
}

/// A piece as a chain of segments whose points move straight and evenly.
struct MovingChain {
  std::vector<Vector3> from;
  std::vector<Vector3> way;
  std::vector<MovingBall> balls;  ///< (segments) around each

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
    for (std::size_t i = 0; i + 1 < from.size(); ++i) {
      const Vector3 before = from[i + 1] - from[i];
      const Vector3 after = before + way[i + 1] - way[i];
      balls.push_back({0.5 * (from[i] + from[i + 1]), 0.5 * (way[i] + way[i + 1]),
                       0.5 * std::sqrt(std::max(before.squaredNorm(), after.squaredNorm()))});
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
  double speed = 0.0;
  for (const int p : {i, i + 1}) {
    for (const int q : {j, j + 1})
      speed = std::max(speed, (a.way[static_cast<std::size_t>(p)] - b.way[static_cast<std::size_t>(q)]).norm());
  }
  if (distance(a, i, b, j, 0.0) - speed >= limit || distance(a, i, b, j, 1.0) < limit) return false;
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

/// Axes that come nearer than this went through each other. [m]
double limit_of(const MovingPiece& a, const MovingPiece& b) { return 0.5 * (a.now->radius + b.now->radius); }

/// Whether two pieces may have gone through each other: they come near, and do not move together.
bool may_cross(const MovingPiece& a, const Way& way_a, const MovingPiece& b, const Way& way_b) {
  if (stay_apart(way_a.ball, way_b.ball, limit_of(a, b))) return false;
  const double touching = a.now->radius + b.now->radius;
  return (way_a.ball.way - way_b.ball.way).norm() + way_a.spread + way_b.spread > touching;
}

/// Two segments, one of each chain, that went through each other.
std::optional<std::pair<int, int>> crossing_segments(const MovingChain& a, const MovingChain& b,
                                                     const MovingBall& ball_b, double limit) {
  for (int i = 0; i < a.segments(); ++i) {
    const MovingBall& ball_a = a.balls[static_cast<std::size_t>(i)];
    if (stay_apart(ball_a, ball_b, limit)) continue;
    for (int j = 0; j < b.segments(); ++j) {
      if (stay_apart(ball_a, b.balls[static_cast<std::size_t>(j)], limit)) continue;
      if (meet(a, i, b, j, limit)) return std::pair(i, j);
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
  if (pieces.empty()) return {};
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
  std::vector<CandidatePair> near;
  std::vector<char> chained(pieces.size(), 0);
  for (const CandidatePair& pair : pairs) {
    if (pair.b < 0) continue;
    const auto a = static_cast<std::size_t>(pair.a);
    const auto b = static_cast<std::size_t>(pair.b);
    if ((!fast[a] && !fast[b]) || !may_cross(pieces[a], ways[a], pieces[b], ways[b])) continue;
    near.push_back(pair);
    chained[a] = chained[b] = 1;
  }
  std::vector<std::optional<MovingChain>> chains(pieces.size());
  for_blocks(chains.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (chained[i]) chains[i].emplace(pieces[i]);
    }
  });
  std::vector<std::vector<Crossing>> found((near.size() + block - 1) / block);
  for_blocks(near.size(), block, [&](std::size_t k, std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const auto a = static_cast<std::size_t>(near[n].a);
      const auto b = static_cast<std::size_t>(near[n].b);
      const auto crossing = crossing_segments(*chains[a], *chains[b], ways[b].ball, limit_of(pieces[a], pieces[b]));
      if (!crossing) continue;
      found[k].push_back({near[n].a, near[n].b, parameter(*pieces[a].now, chains[a]->share(crossing->first)),
                          parameter(*pieces[b].now, chains[b]->share(crossing->second))});
    }
  });
  return joined(found);
}

}  // namespace tresse::contact
