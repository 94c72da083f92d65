#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/groups.hpp>
#include <tresse/geometry/box.hpp>

namespace tresse::contact::detail {
namespace {

/// A skin worth some steps at the present speed, but no more pairs than neighbours nearby make: each is paid for. [m]
double skin_of(double speed, double least, double most) {
  constexpr double steps = 5.0;
  return std::clamp(steps * speed, least, most);
}

/// More than rounding takes from a skin [m].
constexpr double rounding = 1e-12;

}  // namespace

/// Fibres' pieces in halves of halves, cut across the longest side; an obstacle's capsules together, free ones before
/// others.
void Groups::sort_into_groups(const Geometry& scene, const std::vector<Track>& tracks) {
  constexpr std::size_t usual = 64;
  constexpr std::size_t most_groups = 4096;
  const auto fibre_pieces = static_cast<std::size_t>(
      std::find_if(scene.pieces.begin(), scene.pieces.end(), [](const Piece& p) { return !p.fibre; }) -
      scene.pieces.begin());
  const std::size_t most = std::max(usual, fibre_pieces / most_groups);
  members_.resize(tracks.size());
  std::iota(members_.begin(), members_.end(), 0);
  begin_.clear();
  const auto middle = [&](int piece) -> const Vector3& {
    return tracks[static_cast<std::size_t>(piece)].travel.middle;
  };
  const auto split = [&](const auto& self, std::size_t begin, std::size_t end) -> void {
    if (end - begin <= most) {
      begin_.push_back(static_cast<int>(begin));
      return;
    }
    Vector3 lower = middle(members_[begin]);
    Vector3 upper = lower;
    for (std::size_t k = begin; k < end; ++k) {
      lower = lower.cwiseMin(middle(members_[k]));
      upper = upper.cwiseMax(middle(members_[k]));
    }
    Eigen::Index axis = 0;
    (upper - lower).maxCoeff(&axis);
    const auto at = [&](std::size_t k) { return members_.begin() + static_cast<std::ptrdiff_t>(k); };
    std::sort(at(begin), at(end), [&](int i, int j) {
      const double x = middle(i)[axis];
      const double y = middle(j)[axis];
      return x != y ? x < y : i < j;
    });
    // Where they leave the widest gap: elements of one layer of a wisp stay together.
    std::size_t half = begin + (end - begin) / 2;
    double widest = 0.0;
    for (std::size_t k = begin + (end - begin) / 3; k < end - (end - begin) / 3; ++k) {
      const double gap = middle(members_[k])[axis] - middle(members_[k - 1])[axis];
      if (gap > widest) widest = gap, half = k;
    }
    self(self, begin, half);
    self(self, half, end);
  };
  if (fibre_pieces > 0) split(split, 0, fibre_pieces);
  moving_groups_ = fibre_groups_ = static_cast<int>(begin_.size());
  for (std::size_t i = fibre_pieces; i < tracks.size(); ++i) {
    if (i == fibre_pieces || scene.pieces[i].body != scene.pieces[i - 1].body) {
      if (scene.pieces[i].free) ++moving_groups_;
      begin_.push_back(static_cast<int>(i));
    }
  }
  begin_.push_back(static_cast<int>(tracks.size()));
  group_.resize(tracks.size());
  for (int g = 0; g < count(); ++g)
    for (const int i : members(g)) group_[static_cast<std::size_t>(i)] = g;
}

/// The mean of several.
template <typename Motions>
Groups::Motion Groups::mean(const Motions& motions) {
  Motion out;
  Eigen::Vector4d turn = Eigen::Vector4d::Zero();
  for (const Motion& motion : motions) {
    out.before += motion.before;
    out.middle += motion.middle;
    out.drift += motion.drift;
    out.spin += motion.spin;
    const Eigen::Vector4d own = motion.turn.coeffs();
    turn += own.dot(turn) < 0.0 ? Eigen::Vector4d(-own) : own;
  }
  const double share = 1.0 / static_cast<double>(motions.size());
  out.before *= share;
  out.middle *= share;
  out.drift *= share;
  out.spin *= share;
  if (turn.norm() > 0.0) out.turn = Eigen::Quaterniond(Eigen::Vector4d(turn / turn.norm()));
  return out;
}

/// Of all groups.
std::vector<Groups::Motion> Groups::motions(const std::vector<Track>& tracks) const {
  std::vector<Motion> out(static_cast<std::size_t>(count()));
  for_blocks(out.size(), std::size_t{8}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) out[g] = motion(members(static_cast<int>(g)), tracks);
  });
  return out;
}

Groups::Motion Groups::motion(std::span<const int> members, const std::vector<Track>& tracks) const {
  thread_local std::vector<Motion> single;
  single.clear();
  for (const int i : members) {
    const Track& now = tracks[static_cast<std::size_t>(i)];
    const Track& then = then_[static_cast<std::size_t>(i)];
    single.push_back({.before = then.travel.middle,
                      .middle = now.travel.middle,
                      .turn = now.frame * then.frame.conjugate(),
                      .drift = now.travel.drift,
                      .spin = now.travel.spin});
  }
  Motion out = mean(single);
  for (const int i : members) {
    const Travel& now = tracks[static_cast<std::size_t>(i)].travel;
    const Travel& then = then_[static_cast<std::size_t>(i)].travel;
    out.size = std::max(
        {out.size, (now.middle - out.middle).norm() + now.extent, (then.middle - out.before).norm() + then.extent});
    out.farthest = std::max(out.farthest, now.farthest());
  }
  return out;
}

Groups::Largest Groups::largest(const std::vector<Track>& tracks) const {
  Largest out;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const Track& track = tracks[i];
    const bool fibre = group_[i] < fibre_groups_;
    out.radius = std::max(out.radius, track.radius);
    out.farthest = std::max(out.farthest, track.travel.farthest());
    if (group_[i] < moving_groups_ && fibre_groups_ == 0) out.fibre_radius = std::max(out.fibre_radius, track.radius);
    if (!fibre) continue;
    out.extent = std::max(out.extent, track.travel.extent);
    out.fibre_radius = std::max(out.fibre_radius, track.radius);
  }
  return out;
}

/// The piece's share of closing() beyond that of the two groups: of pieces so near that closing() matters, farther ones
/// cannot meet.
double Groups::left_over(const Track& track, const Motion& motion, const Largest& largest) {
  const Travel& own = track.travel;
  const double drift = (own.drift - motion.drift - motion.spin.cross(own.middle - motion.middle)).norm();
  const double spin = (own.spin - motion.spin).norm();
  const double nearby = 2.0 * (largest.farthest + largest.radius);
  return own.reach + drift + spin * (nearby + own.extent + 2.0 * largest.extent);
}

/// What two groups' rigid motions may bring their pieces nearer in the step: closing() of their pieces without what is
/// left to each. An obstacle's long capsules are not seen from a fibre that turns: each goes on its own.
double Groups::apart_in_step(std::size_t g, const Motion& a, std::size_t h, const Motion& b) const {
  if (g == h) return 0.0;
  if (!of_fibres(g) || !of_fibres(h)) return a.farthest + b.farthest;
  const Vector3 arm = b.middle - a.middle;
  const double spin = (b.spin - a.spin).norm();
  const double at_b = (b.drift - a.drift - a.spin.cross(arm)).norm() + spin * b.size;
  const double at_a = (a.drift - b.drift + b.spin.cross(arm)).norm() + spin * a.size;
  return std::max(at_a, at_b);
}

/// What two groups' rigid motions have brought their pieces nearer since they were formed: as seen from either, of
/// which the one that turned less, or is smaller, knows better.
double Groups::apart_since(const Motion& a, const Motion& b) {
  const Vector3 before = b.before - a.before;
  const Vector3 now = b.middle - a.middle;
  const double turn = turned(a.turn, b.turn);
  return std::min((a.turn * before - now).norm() + turn * b.size, (b.turn * before - now).norm() + turn * a.size);
}

/// How far a point of the piece is from where the group's motion would have taken it.
double Groups::moved(std::size_t piece, const Track& now, const Motion& motion) const {
  const Track& then = then_[piece];
  const Vector3 arm = motion.turn * (then.travel.middle - motion.before);
  return (now.travel.middle - motion.middle - arm).norm() +
         turned(now.frame, motion.turn * then.frame) * now.travel.extent + (now.deformation - then.deformation);
}

void Groups::form(const Geometry& scene, const std::vector<Track>& tracks) {
  then_ = tracks;
  sort_into_groups(scene, tracks);
  const Largest most = largest(tracks);
  const auto groups = static_cast<std::size_t>(count());
  const std::vector<Motion> now = motions(tracks);
  fibre_radius_ = most.fibre_radius;
  own_.resize(tracks.size());
  largest_own_.assign(groups, 0.0);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto group = static_cast<std::size_t>(group_[i]);
    const double left = left_over(tracks[i], now[group], most);
    own_[i] = tracks[i].radius + left + skin_of(left, most.fibre_radius, 2.0 * most.fibre_radius);
    double& largest_own = largest_own_[group];
    largest_own = std::max(largest_own, own_[i]);
  }
  find_neighbours(scene, tracks, now);
}

void Groups::find_neighbours(const Geometry& scene, const std::vector<Track>& tracks,
                             const std::vector<Motion>& motions) {
  const Largest most = largest(tracks);
  const auto groups = static_cast<std::size_t>(count());
  constexpr double least_radii = 50.0;
  constexpr double steps = 16.0;
  horizon_ = least_radii * most.fibre_radius + 2.0 * most.radius + steps * most.farthest;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<geometry::Box> boxes(groups, {Vector3::Constant(infinite), Vector3::Constant(-infinite)});
  for (std::size_t g = 0; g < groups; ++g) {
    for (const int i : members(static_cast<int>(g))) {
      const Piece& piece = scene.pieces[static_cast<std::size_t>(i)];
      const geometry::Box box = geometry::quick_box(piece.curve, piece.interval);
      boxes[g] = {boxes[g].lower.cwiseMin(box.lower), boxes[g].upper.cwiseMax(box.upper)};
    }
  }
  neighbours_.assign(groups, {});
  for_blocks(groups, std::size_t{8}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      for (std::size_t h = 0; h < groups; ++h) {
        const double gap = boxes[g].distance(boxes[h]);
        if (gap > horizon_) continue;
        const double closing = apart_in_step(g, motions[g], h, motions[h]);
        const double most_radii = of_fibres(g) && of_fibres(h) ? 4.0 : 20.0;
        const double skin = g == h ? 0.0 : skin_of(closing, 0.5 * most.fibre_radius, most_radii * most.fibre_radius);
        neighbours_[g].push_back({static_cast<int>(h), closing + skin, gap});
      }
    }
  });
}

void Groups::widen(const Stray& stray) {
  constexpr double most_radii = 4.0;
  const auto piece = static_cast<std::size_t>(stray.piece);
  own_[piece] = stray.used + skin_of(stray.left, fibre_radius_, most_radii * fibre_radius_);
  double& largest_own = largest_own_[static_cast<std::size_t>(group_[piece])];
  largest_own = std::max(largest_own, own_[piece]);
}

void Groups::widen(const Parting& parting) {
  constexpr double most_radii = 10.0;
  Neighbour& near = neighbours_[static_cast<std::size_t>(parting.a)][parting.near];
  near.range = parting.used + skin_of(parting.closing, fibre_radius_, most_radii * fibre_radius_);
  for (Neighbour& back : neighbours_[static_cast<std::size_t>(near.group)]) {
    if (back.group == parting.a) back.range = near.range;
  }
}

bool Groups::hold(const std::vector<Track>& tracks, Changes& changes) const {
  changes = {};
  if (!formed()) return false;
  const Largest most = largest(tracks);
  const auto groups = static_cast<std::size_t>(count());
  const std::vector<Motion> motions = this->motions(tracks);
  const Motion whole = mean(motions);
  constexpr std::size_t block = 8;
  const std::size_t blocks = (groups + block - 1) / block;
  std::vector<char> holds(blocks, 1);
  std::vector<std::vector<Stray>> strays(blocks);
  std::vector<std::vector<Parting>> partings(blocks);
  for_blocks(groups, block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      for (const int i : members(static_cast<int>(g))) {
        const auto piece = static_cast<std::size_t>(i);
        const Track& now = tracks[piece];
        const double left = left_over(now, motions[g], most);
        const double used = moved(piece, now, motions[g]) + left + now.radius + rounding;
        if (!(used < own_[piece])) strays[k].push_back({i, used, left});
        const double went = moved(piece, now, whole) + most.farthest + most.radius + rounding;
        if (!(2.0 * went < horizon_)) holds[k] = 0;
      }
      const Motion& a = motions[g];
      for (std::size_t n = 0; n < neighbours_[g].size(); ++n) {
        const Neighbour& near = neighbours_[g][n];
        const auto h = static_cast<std::size_t>(near.group);
        if (h <= g || !moves(g)) continue;
        const Motion& b = motions[h];
        const double closing = apart_in_step(g, a, h, b);
        const double used = apart_since(a, b) + closing + rounding;
        const double range = std::max(near.range, near.gap - largest_own_[g] - largest_own_[h]);
        if (!(used < range)) partings[k].push_back({static_cast<int>(g), n, used, closing});
      }
    }
  });
  if (std::find(holds.begin(), holds.end(), 0) != holds.end()) return false;
  changes = {joined(strays), joined(partings)};
  std::sort(changes.strays.begin(), changes.strays.end(),
            [](const Stray& x, const Stray& y) { return x.piece < y.piece; });
  constexpr double few_pieces = 0.15;
  constexpr std::size_t few_a_group = 8;
  return static_cast<double>(changes.strays.size()) <= few_pieces * static_cast<double>(tracks.size()) &&
         changes.partings.size() <= few_a_group * groups;
}

}  // namespace tresse::contact::detail
